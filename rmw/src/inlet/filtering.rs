//! Reading through a filter.
//!
//! Each sample is looked at once, when the reader asks whether there is something or takes: one that does not pass is
//! used up, one that passes waits in a queue of places (the sample itself stays in its publisher's ring). KEEP_LAST
//! counts what passed; since a reader that is slow to look would else find little that passes among a publisher's last
//! `depth` samples, it has its publishers keep more.
//!
//! One call looks at no more samples than were unread at its beginning, so that a flood of samples that do not pass
//! cannot hold it. Saying "nothing" then loses no wake-up: what is left came after a waiter had said that it is parked,
//! so it has moved the word that the waiter sleeps on.

use std::collections::VecDeque;
use std::sync::Arc;

use shoal_registry::{HotCell, SlotId};

use super::sources::{class_order, Source};
use super::{Inlet, ReadOne, State, Taken};
use crate::clock::wall_ns;
use crate::endpoint::KEEP_ALL_DEPTH;
use crate::error::Result;
use crate::filter::SampleFilter;
use crate::matching::is_lossless;

/// A filtered reader has its publishers keep this many times its depth, and at least [`REACH_LEAST`] samples.
const REACH_FACTOR: u64 = 4;
const REACH_LEAST: u64 = 64;

/// A reader's filter and what it has let pass.
#[derive(Default)]
pub(super) struct Filtering {
    /// `None` once the filter was removed: then everything passes, until what waits has been taken.
    filter: Option<Arc<dyn SampleFilter>>,
    /// Not taken yet, oldest first; at most the reader's depth. Its source's `waiting` names the oldest of a source.
    passed: VecDeque<Passed>,
}

impl Filtering {
    /// Drops what passed of one source.
    pub(super) fn forget(&mut self, slot: SlotId) {
        self.passed.retain(|passed| passed.slot != slot);
    }
}

struct Passed {
    slot: SlotId,
    sequence: u64,
    /// When its publisher lets it end, nanoseconds since 1970; `i64::MAX` for never.
    end: i64,
    /// Passed an earlier filter: the one of now is asked before anybody sees it.
    stale: bool,
}

impl Inlet {
    /// Replaces the filter; it also decides about samples that passed an earlier one and were not taken yet.
    pub(crate) fn set_filter(&self, filter: Option<Arc<dyn SampleFilter>>) {
        // After a shutdown the filter is replaced all the same; only peers are not told.
        let _using = self.context.using();
        let state = &mut *self.state.lock();
        let filtering = &mut *self.filtering.lock();
        let stale = filter.is_some();
        filtering.passed.iter_mut().for_each(|passed| passed.stale = stale);
        filtering.filter = filter;
        self.settle(state, filtering);
    }

    /// Reads past the filter again when there is none and what it let pass is taken; else reaches further back.
    fn settle(&self, state: &mut State, filtering: &Filtering) {
        if state.filtered {
            // What was looked at up to here was counted if it passed, and is not counted again without a filter.
            state.sources.iter_mut().for_each(|source| source.count_to(source.watermark));
        }
        state.filtered = filtering.filter.is_some() || !filtering.passed.is_empty();
        self.settle_reach(state);
    }

    /// How many of a publisher's newest samples count: as the profile says, more with a filter, and as many as the bound
    /// says where there is one.
    pub(super) fn settle_reach(&self, state: &mut State) {
        let unlimited = if state.filtered { reach(self.depth) } else { self.of_each };
        let reach = state.limits.map_or(unlimited, |limits| limits.messages);
        let samples = u32::try_from(reach).unwrap_or(u32::MAX);
        match state.limits {
            Some(limits) => self.context.registry().set_bound(self.slot, samples, limits.waits),
            None if reach != state.reach => self.context.registry().set_reach(self.slot, samples),
            None => {}
        }
        state.reach = reach;
    }

    /// As [`has_data`](Self::has_data).
    pub(super) fn has_passed(&self, state: &mut State, hot: &HotCell) -> bool {
        let filtering = &mut *self.filtering.lock();
        let found = self.look(state, hot, filtering).and_then(|()| self.front(state, filtering));
        self.prune(state, hot);
        // Whoever takes is told of an error.
        found.is_err() || found.is_ok_and(|found| found.is_some())
    }

    /// Looks, and counts what passes; answers how much of it can be taken.
    pub(super) fn passed(&self, state: &mut State, hot: &HotCell) -> u64 {
        let filtering = &mut *self.filtering.lock();
        // Whoever takes is told of an error.
        let _ = self.look(state, hot, filtering);
        // Nobody may ever take where nothing passes: what was looked at is done with here.
        self.prune(state, hot);
        filtering.passed.len() as u64
    }

    /// As [`take`](Self::take), but for the state of draining.
    pub(super) fn take_passed(&self, state: &mut State, hot: &HotCell, read: ReadOne<'_>) -> Result<Option<Taken>> {
        let filtering = &mut *self.filtering.lock();
        self.look(state, hot, filtering)?;
        let taken = loop {
            let Some((index, sequence)) = self.front(state, filtering)? else { break None };
            let read = read(state, index, sequence)?;
            state.hold(index, sequence, &read);
            self.drop_front(state, filtering);
            match read {
                Some(read) => break Some(read),
                None => self.unreadable(state, index, sequence),
            }
        };
        self.settle(state, filtering);
        taken.transpose()
    }

    /// Looks at what is unread, and at no more samples than that: what comes meanwhile has rung its reader.
    fn look(&self, state: &mut State, hot: &HotCell, filtering: &mut Filtering) -> Result<()> {
        self.poll(state, hot);
        let mut ready = Vec::new();
        let mut left = self.ready(state, &mut ready);
        while left > 0 {
            let Some(index) = self.oldest(state, &ready) else { break };
            self.look_at(state, filtering, index)?;
            left -= 1;
            self.ready(state, &mut ready);
        }
        Ok(())
    }

    /// Looks at the next sample of a source.
    fn look_at(&self, state: &mut State, filtering: &mut Filtering, index: usize) -> Result<()> {
        let sequence = state.sources[index].watermark + 1;
        let filter = filtering.filter.clone();
        let passes = self.show(state, index, sequence, |meta, sample| {
            filter.is_none_or(|filter| filter.accepts(sample)).then_some(meta.source_timestamp)
        })?;
        let source = &mut state.sources[index];
        source.watermark = sequence;
        match passes {
            Some(Some(time)) => {
                state.arrived = state.arrived.saturating_add(u64::from(sequence > source.counted));
                source.waiting = source.waiting.or(Some(sequence));
                let end = time.saturating_add(source.lifespan);
                filtering.passed.push_back(Passed { slot: source.slot, sequence, end, stale: false });
            }
            Some(None) => {}
            None => self.unreadable(state, index, sequence),
        }
        state.sources[index].count_to(sequence);
        self.acknowledge(state, index);
        if filtering.passed.len() as u64 > self.depth && !is_lossless(&self.qos) && !state.sheds() {
            self.drop_front(state, filtering);
            self.dropped(state, 1);
        }
        Ok(())
    }

    /// The oldest sample that passed and can still be taken: its source's index and its sequence.
    fn front(&self, state: &mut State, filtering: &mut Filtering) -> Result<Option<(usize, u64)>> {
        while let Some(passed) = filtering.passed.front() {
            let (sequence, stale, end) = (passed.sequence, passed.stale, passed.end);
            let Some(index) = find(&state.sources, passed.slot).filter(|index| !state.sources[*index].shed) else {
                filtering.passed.pop_front();
                continue;
            };
            if !self.is_kept(state, index, sequence) {
                self.drop_front(state, filtering);
                self.unreadable(state, index, sequence);
                continue;
            }
            let passes = match &filtering.filter {
                _ if end != i64::MAX && end <= wall_ns() => Some(false),
                Some(filter) if stale => self.show(state, index, sequence, |_, sample| filter.accepts(sample))?,
                _ => Some(true),
            };
            if passes == Some(true) {
                filtering.passed[0].stale = false;
                return Ok(Some((index, sequence)));
            }
            self.drop_front(state, filtering);
            if passes.is_none() {
                self.unreadable(state, index, sequence);
            }
        }
        Ok(None)
    }

    /// Whether the publisher has not yet gone on so far that it may have written over the sample.
    fn is_kept(&self, state: &State, index: usize, sequence: u64) -> bool {
        self.head(&state.sources[index]).is_some_and(|head| head.saturating_sub(state.reach) < sequence)
    }

    fn drop_front(&self, state: &mut State, filtering: &mut Filtering) {
        let Some(Passed { slot, .. }) = filtering.passed.pop_front() else { return };
        let Some(index) = find(&state.sources, slot) else { return };
        let following = filtering.passed.iter().find(|passed| passed.slot == slot);
        state.sources[index].waiting = following.map(|passed| passed.sequence);
        self.acknowledge(state, index);
    }
}

/// How many of a publisher's newest samples are looked at, so that `depth` of them may pass.
fn reach(depth: u64) -> u64 {
    depth.max(depth.saturating_mul(REACH_FACTOR).clamp(REACH_LEAST, KEEP_ALL_DEPTH.into()))
}

pub(super) fn find(sources: &[Source], slot: SlotId) -> Option<usize> {
    let found = sources.binary_search_by_key(&class_order(slot), |source| class_order(source.slot)).ok()?;
    (sources[found].slot == slot).then_some(found)
}
