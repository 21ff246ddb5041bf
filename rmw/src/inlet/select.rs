//! Which sample comes next: the oldest by its source time, of those that KEEP_LAST keeps and whose life has not ended.

use shoal_registry::{History, HotCell};
use shoal_shm::{drain, ring};

use super::read::views_of;
use super::sources::{class_of, Source};
use super::{Inlet, State};
use crate::clock::wall_ns;
use crate::matching::is_lossless;

impl Inlet {
    /// Ends draining for the classes in which nothing is left.
    pub(super) fn prune(&self, state: &mut State, hot: &HotCell) {
        for bit in bits(state.active) {
            let class = class_of(&state.sources, bit);
            class.clone().for_each(|index| {
                self.expire(state, index);
                self.enforce(state, index);
            });
            if !class.clone().any(|index| self.unread(&state.sources[index])) {
                // Before the class is given up, as its outlets may be gone after that.
                class.for_each(|index| self.note_end(state, index));
                state.active &= !bit;
                drain::finish(hot.draining(), bit);
            }
        }
    }

    /// Gives up samples that are older than their publisher lets them become.
    pub(super) fn expire(&self, state: &mut State, index: usize) {
        let Source { lifespan, watermark: before, .. } = state.sources[index];
        while lifespan != i64::MAX && self.is_behind(&state.sources[index]) {
            let time = self.next_time(state, index);
            // One that is gone already is for the reader to find out.
            if time == i64::MIN || time.saturating_add(lifespan) > wall_ns() {
                break;
            }
            state.sources[index].watermark += 1;
        }
        if state.sources[index].watermark != before {
            self.acknowledge(state, index);
        }
    }

    pub(super) fn unread(&self, source: &Source) -> bool {
        source.waiting.is_some() || self.is_behind(source)
    }

    pub(super) fn is_behind(&self, source: &Source) -> bool {
        !source.muted && !source.shed && self.head(source).is_some_and(|head| head > source.watermark)
    }

    /// The source with the oldest next sample, after giving up what KEEP_LAST does not keep.
    pub(super) fn next(&self, state: &mut State, hot: &HotCell) -> Option<(usize, u64)> {
        // Kept between calls, so that a take allocates nothing.
        let mut ready = std::mem::take(&mut state.ready);
        let next = self.next_of(state, hot, &mut ready);
        state.ready = ready;
        next
    }

    fn next_of(&self, state: &mut State, hot: &HotCell, ready: &mut Vec<usize>) -> Option<(usize, u64)> {
        // Bounded by the first look, as a writer may go on as fast as samples are given up here.
        let mut surplus = None;
        loop {
            self.prune(state, hot);
            let total = self.ready(state, ready);
            let left = surplus.get_or_insert(total.saturating_sub(self.depth));
            let (first, rest) = ready.split_first()?;
            if rest.is_empty() {
                return Some((*first, state.sources[*first].watermark + 1));
            }
            let oldest = self.oldest(state, ready)?;
            let sequence = state.sources[oldest].watermark + 1;
            // Of unknown age is what this process may not map now: that is not given up.
            let is_known = state.sources[oldest].next.is_some_and(|(known, _)| known == sequence);
            if total <= self.depth || *left == 0 || !is_known || is_lossless(&self.qos) || state.sheds() {
                return Some((oldest, sequence));
            }
            *left -= 1;
            state.sources[oldest].watermark = sequence;
            self.dropped(state, 1);
        }
    }

    /// Fills in the indices of the sources that have unread samples, and answers how many samples that is in all.
    pub(super) fn ready(&self, state: &mut State, ready: &mut Vec<usize>) -> u64 {
        let mut total = 0u64;
        ready.clear();
        for bit in bits(state.active) {
            for index in class_of(&state.sources, bit) {
                let unread = self.newest(state, index);
                total = total.saturating_add(unread);
                if unread > 0 {
                    ready.push(index);
                }
            }
        }
        total
    }

    /// How many samples of a source are unread, after giving up those that are not among the newest that count.
    fn newest(&self, state: &mut State, index: usize) -> u64 {
        let source = state.sources[index];
        let Some(head) = self.head(&source).filter(|_| self.is_behind(&source)) else { return 0 };
        let oldest_kept = head.saturating_sub(state.reach);
        if state.sheds() {
            // What is too much is told at the next look.
            return head.saturating_sub(source.watermark);
        }
        if oldest_kept > source.watermark {
            self.dropped(state, oldest_kept - source.watermark);
            state.sources[index].watermark = oldest_kept;
        }
        head - source.watermark.max(oldest_kept)
    }

    /// Of several ready sources the one whose next sample is oldest by its source time.
    pub(super) fn oldest(&self, state: &mut State, ready: &[usize]) -> Option<usize> {
        let mut best: Option<(i64, usize)> = None;
        for &index in ready {
            let time = self.next_time(state, index);
            if best.is_none_or(|(oldest, _)| time < oldest) {
                best = Some((time, index));
            }
        }
        best.map(|(_, index)| index)
    }

    /// Samples were given up because more came than are kept. Under KEEP_LAST that is what was asked for.
    pub(super) fn dropped(&self, state: &mut State, n: u64) {
        if self.qos.history == History::KeepAll {
            state.lost = state.lost.saturating_add(n);
            // Another thread may wait for the loss.
            self.context.registry().doorbell().ring();
        }
    }

    /// A sample could not be read: the reader was too slow for it, or it is lost. What was sent before the reader joined is
    /// kept as far as its publisher does.
    pub(super) fn miss(&self, state: &mut State, index: usize, sequence: u64) {
        match state.sources.get(index) {
            Some(source) if state.sheds() && sequence > source.bound => self.shed(state, index),
            Some(source) if state.sheds() && sequence <= source.bound => {}
            _ => self.unreadable(state, index, sequence),
        }
    }

    /// A sample could not be read. It is not lost where it has meanwhile left the newest ones that count.
    pub(super) fn unreadable(&self, state: &mut State, index: usize, sequence: u64) {
        let kept = |head: u64| head.saturating_sub(state.reach) < sequence;
        if state.sources.get(index).and_then(|source| self.head(source)).is_none_or(kept) {
            state.lost = state.lost.saturating_add(1);
            self.context.registry().doorbell().ring();
        } else {
            self.dropped(state, 1);
        }
    }

    /// Source time of a source's next sample; one that is gone already sorts first, so that it is found lost soon.
    pub(super) fn next_time(&self, state: &mut State, index: usize) -> i64 {
        let source = state.sources[index];
        let sequence = source.watermark + 1;
        if let Some((known, time)) = source.next {
            if known == sequence {
                return time;
            }
        }
        let Some(outlet) = self.context.registry().hot(source.slot.index) else { return i64::MIN };
        let views = views_of(&mut state.views, source.context_id);
        let reach = state.views[views].reach(self.context.peers());
        let meta = ring::read_meta(&reach, outlet.ring(), sequence);
        if meta.is_none() && reach.granted().is_err() {
            // Whoever reads it is told.
            return i64::MIN;
        }
        let time = meta.map_or(i64::MIN, |meta| meta.source_timestamp);
        state.sources[index].next = Some((sequence, time));
        time
    }
}

/// The set bits of a word, one at a time.
fn bits(mut word: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let bit = word & word.wrapping_neg();
        word &= !bit;
        (bit != 0).then_some(bit)
    })
}
