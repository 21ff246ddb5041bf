//! How many samples came, whether or not they were taken: for callbacks.
//!
//! From the first question on, each poll that uses up marks counts the heads of the outlets before it lets go of the
//! reader's lock (see `notify`). Until then nobody counts; what came by then is what lies between a source's start and
//! its head. With a filter, a sample counts when it is looked at and passes.

use super::{Inlet, Source, State};
use crate::notify::{Countable, Tally};
use crate::outlet::hot_cell;

impl Source {
    /// Up to here everything is counted.
    pub(super) fn count_to(&mut self, sequence: u64) {
        self.counted = self.counted.max(sequence);
    }
}

impl Inlet {
    /// Counts what came since the last count.
    pub(super) fn count(&self, state: &mut State) {
        for index in 0..state.sources.len() {
            let source = state.sources[index];
            let Some(head) = self.head(&source).filter(|head| !source.muted && !source.shed && *head > source.counted)
            else {
                continue;
            };
            state.sources[index].counted = head;
            state.arrived = state.arrived.saturating_add(head - source.counted);
        }
    }

    /// Samples that can be taken: KEEP_LAST keeps the newest of each outlet, and of all together.
    fn unread_samples(&self, state: &State) -> u64 {
        let unread = state.sources.iter().filter(|source| !source.muted && !source.shed).filter_map(|source| {
            let head = self.head(source)?;
            Some(head.saturating_sub(source.watermark).min(state.reach))
        });
        let unread = unread.fold(0, u64::saturating_add);
        if state.sheds() {
            return unread;
        }
        unread.min(self.depth)
    }
}

impl Countable for Inlet {
    fn tally(&self) -> Tally {
        let using = self.context.using();
        let state = &mut *self.state.lock();
        let hot = hot_cell(self.context.registry(), self.slot).ok().filter(|_| using.is_ok());
        let Some(hot) = hot else { return Tally { arrived: state.arrived, available: 0 } };
        let first = !std::mem::replace(&mut state.counting, true);
        if state.filtered {
            let available = self.passed(state, hot);
            return Tally { arrived: state.arrived, available };
        }
        self.poll(state, hot);
        if first {
            self.count(state);
        }
        Tally { arrived: state.arrived, available: self.unread_samples(state) }
    }
}
