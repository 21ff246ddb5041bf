//! A reader that says itself what it has consumed: until then what it has taken counts as unread with its publishers.

use std::collections::VecDeque;

use shoal_registry::SlotId;

use super::filtering::find;
use super::{Inlet, State, Taken};
use crate::error::{Error, Result};
use crate::matching::is_lossless;

/// What was taken and not consumed, oldest first.
#[derive(Default)]
pub(super) struct Held {
    /// Neighbours of one publisher are one run.
    runs: VecDeque<Run>,
    count: u64,
}

struct Run {
    slot: SlotId,
    first: u64,
    last: u64,
}

impl Held {
    fn push(&mut self, slot: SlotId, sequence: u64) {
        self.count += 1;
        match self.runs.back_mut() {
            Some(run) if run.slot == slot && run.last + 1 == sequence => run.last = sequence,
            _ => self.runs.push_back(Run { slot, first: sequence, last: sequence }),
        }
    }

    /// Removes the oldest samples that are of one publisher, at most `most`, and answers how many, and whose.
    fn pop(&mut self, most: u64) -> Option<(SlotId, u64)> {
        let run = self.runs.front_mut()?;
        let (slot, length) = (run.slot, run.last - run.first + 1);
        let popped = length.min(most);
        run.first += popped;
        self.count -= popped;
        if popped == length {
            self.runs.pop_front();
        }
        Some((slot, popped))
    }

    fn oldest_of(&self, slot: SlotId) -> Option<u64> {
        self.runs.iter().find(|run| run.slot == slot).map(|run| run.first)
    }
}

impl State {
    /// A sample was used up; it is held if somebody got it.
    pub(super) fn hold(&mut self, index: usize, sequence: u64, read: &Option<Result<Taken>>) {
        let (Some(held), Some(Ok(_))) = (&mut self.held, read) else { return };
        let source = &mut self.sources[index];
        source.held = source.held.or(Some(sequence));
        held.push(source.slot, sequence);
    }
}

impl Inlet {
    /// From now on what is taken counts as unread until [`consumed`](Self::consumed) says otherwise.
    pub(crate) fn hold_credit(&self) -> Result<()> {
        if !is_lossless(&self.qos) {
            return Err(Error::InvalidArgument(format!(
                "only a subscription that is reliable and KEEP_ALL holds credit; this one is {:?} and {:?}",
                self.qos.reliability, self.qos.history
            )));
        }
        let _using = self.context.using()?;
        self.state.lock().held.get_or_insert_default();
        Ok(())
    }

    /// Gives the credit of the `count` oldest samples back that were taken and not consumed.
    pub(crate) fn consumed(&self, count: u64) -> Result<()> {
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        let held = state.held.as_ref().map(|held| held.count);
        let held = held.ok_or_else(|| {
            Error::InvalidArgument("this subscription gives credit back as it takes; have it hold credit first".into())
        })?;
        if count > held {
            let what = format!("{count} samples consumed, but only {held} were taken and not yet consumed");
            return Err(Error::InvalidArgument(what));
        }
        let mut left = count;
        while left > 0 {
            let Some((slot, popped)) = state.held.as_mut().and_then(|held| held.pop(left)) else { break };
            left -= popped;
            let Some(index) = find(&state.sources, slot) else { continue };
            state.sources[index].held = state.held.as_ref().and_then(|held| held.oldest_of(slot));
            self.acknowledge(state, index);
        }
        Ok(())
    }
}
