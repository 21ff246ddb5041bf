//! A reader that shares the items of queues with others: it claims one at a time, and acknowledges it.
//!
//! What a queue's publisher has sent is read to its end once every item is acknowledged, by whomever: the watermark is the
//! last item up to which all are. So a class stays undrained, and the memory of an outlet that has left stays, while
//! there is work, and the end of the stream comes behind the last acknowledgement.

use std::sync::Arc;

use shoal_registry::{HotCell, SlotId, SlotState};
use shoal_shm::claim::{Claim, Seen};
use shoal_shm::credit;
use shoal_shm::sync::Ordering;

use super::filtering::find;
use super::{Inlet, State, Taken};
use crate::error::{Error, Result};
use crate::matching::{class_bit, is_lossless, ring_context};
use crate::message::Sink;
use crate::outlet::hot_cell;
use crate::queue::Table;

/// Items that one call claims and cannot read, before it gives up for now.
const MISSES: usize = 64;

/// An item that was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkItem {
    /// The registry slot of its publisher, and which tenant of it that is.
    pub publisher: (u32, u32),
    /// The publisher's number for it.
    pub sequence: u64,
    /// The claim.
    pub claim: u64,
}

impl WorkItem {
    fn slot(&self) -> SlotId {
        SlotId { index: self.publisher.0, incarnation: self.publisher.1 }
    }
}

/// A queue as this reader knows it.
struct Queue {
    slot: SlotId,
    table: Arc<Table>,
    /// The last item up to which all are acknowledged.
    floor: u64,
}

/// What a reader that shares work knows.
#[derive(Default)]
pub(super) struct Work {
    queues: Vec<Queue>,
    /// Claimed here, and neither acknowledged nor given back.
    held: Vec<WorkItem>,
    /// When the first of the others' leases runs out, in µs of CLOCK_MONOTONIC, as of the last look.
    next: Option<u64>,
    /// Which source is asked first.
    turn: usize,
}

impl Work {
    fn table(&self, slot: SlotId) -> Option<Arc<Table>> {
        self.queues.iter().find(|queue| queue.slot == slot).map(|queue| queue.table.clone())
    }
}

impl Inlet {
    /// From now on this reader claims items.
    pub(crate) fn share_work(&self) -> Result<()> {
        if !is_lossless(&self.qos) {
            return Err(Error::InvalidArgument(format!(
                "only a subscription that is reliable and KEEP_ALL shares work; this one is {:?} and {:?}",
                self.qos.reliability, self.qos.history
            )));
        }
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        if state.filtered || state.held.is_some() {
            let what = "a subscription that filters or holds credit shares no work; create another one";
            return Err(Error::InvalidArgument(what.into()));
        }
        state.work.get_or_insert_default();
        self.working.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn shares_work(&self) -> bool {
        self.working.load(Ordering::Relaxed)
    }

    /// When the wait is to look again although nobody rings, in ns of CLOCK_MONOTONIC.
    pub(crate) fn next_lease(&self) -> Option<u64> {
        if !self.shares_work() {
            return None;
        }
        let state = self.state.lock();
        Some(state.work.as_ref()?.next?.saturating_mul(1000))
    }

    /// Brings up to date how far all is acknowledged. An error: a table cannot be mapped now.
    pub(super) fn look_at_work(&self, state: &mut State, hot: &HotCell) -> Result<()> {
        let Some(mut work) = state.work.take() else { return Ok(()) };
        work.queues.retain(|queue| find(&state.sources, queue.slot).is_some());
        let mut outcome = Ok(());
        for index in 0..state.sources.len() {
            if !state.sources[index].muted {
                outcome = outcome.and(self.look_at_source(state, hot, &mut work, index));
            }
        }
        state.work = Some(work);
        outcome
    }

    fn look_at_source(&self, state: &mut State, hot: &HotCell, work: &mut Work, index: usize) -> Result<()> {
        let source = state.sources[index];
        if work.table(source.slot).is_none() {
            // It may come later than the source. What was sent before this reader joined is work, too.
            let found = Table::open(self.context.registry().dir(), source.context_id, source.endpoint)?;
            let queue = |table| Queue { slot: source.slot, table: Arc::new(table), floor: 0 };
            work.queues.extend(found.map(queue));
        }
        let Some(head) = self.head(&source) else { return Ok(()) };
        match work.queues.iter_mut().find(|queue| queue.slot == source.slot) {
            Some(queue) => {
                queue.floor = queue.table.done_up_to(queue.floor, head);
                state.sources[index].watermark = queue.floor;
            }
            // An ordinary publisher's samples are no work, and it is not to wait for them.
            None if head > source.watermark => {
                state.sources[index].watermark = head;
                self.acknowledge(state, index);
            }
            None => {}
        }
        if self.is_behind(&state.sources[index]) {
            state.active |= class_bit(source.slot);
            hot.draining().fetch_or(class_bit(source.slot), Ordering::Relaxed);
        }
        Ok(())
    }

    /// Looks for an item for the taking: its source, its number, and what stands in its cell.
    fn find_work(&self, state: &mut State) -> Option<(usize, u64, Claim)> {
        let registry = self.context.registry();
        let work = state.work.as_mut()?;
        work.next = None;
        let count = state.sources.len();
        for index in (0..count).map(|index| (index + work.turn) % count) {
            let source = state.sources[index];
            let (Some(table), Some(head)) = (work.table(source.slot), self.head(&source)) else { continue };
            let clock = table.clock();
            for item in source.watermark + 1..=head {
                match table.cell(item)?.look(item, clock, |member| registry.is_member(member)) {
                    Seen::Open(seen) => return Some((index, item, seen)),
                    Seen::Busy(end) => work.next = Some(work.next.map_or(end, |next| next.min(end))),
                    Seen::Done => {}
                }
            }
        }
        None
    }

    /// Whether there is an item for the taking. Whoever claims is told of an error.
    pub(super) fn has_work(&self, state: &mut State, hot: &HotCell) -> bool {
        self.poll(state, hot);
        let looked = self.look_at_work(state, hot);
        self.prune(state, hot);
        looked.is_err() || self.find_work(state).is_some()
    }

    /// Claims the oldest item that is for the taking, and reads it. One that cannot be deserialized is acknowledged; when
    /// the sink fails of something else it is given back.
    pub(crate) fn claim(&self, sink: Sink<'_>) -> Result<Option<(Taken, WorkItem)>> {
        let _using = self.context.using()?;
        let hot = hot_cell(self.context.registry(), self.slot)?;
        let state = &mut *self.state.lock();
        if state.work.is_none() {
            return Err(Error::InvalidArgument("this subscription takes messages; have it share work first".into()));
        }
        for _ in 0..MISSES {
            self.poll(state, hot);
            self.scan_if_moved(state);
            self.look_at_work(state, hot)?;
            self.prune(state, hot);
            let Some((index, item, seen)) = self.find_work(state) else { return Ok(None) };
            if let Some(found) = self.claim_one(state, index, item, seen, sink)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// `Ok(None)`: somebody else was faster, or the item cannot be read.
    fn claim_one(
        &self,
        state: &mut State,
        index: usize,
        sequence: u64,
        seen: Claim,
        sink: Sink<'_>,
    ) -> Result<Option<(Taken, WorkItem)>> {
        let slot = state.sources[index].slot;
        let Some(table) = state.work.as_ref().and_then(|work| work.table(slot)) else { return Ok(None) };
        let Some(cell) = table.cell(sequence) else { return Ok(None) };
        let Some(claim) = cell.take(seen, sequence, self.context.registry().member(), table.clock()) else {
            return Ok(None);
        };
        let item = WorkItem { publisher: (slot.index, slot.incarnation), sequence, claim: claim.word() };
        let read = self.read(state, index, sequence, sink).and_then(Option::transpose);
        match read {
            Ok(Some(taken)) => {
                let work = state.work.get_or_insert_default();
                work.held.push(item);
                work.turn = index + 1;
                Ok(Some((taken, item)))
            }
            // Nobody could do better with what is gone or is no message of the type.
            Ok(None) | Err(Error::Decode(_)) => {
                if cell.ack(claim) {
                    self.was_acknowledged(state, &item);
                }
                read?;
                self.unreadable(state, index, sequence);
                Ok(None)
            }
            Err(error) => {
                if cell.give_back(claim) {
                    self.context.registry().mark_readers(slot);
                }
                Err(error)
            }
        }
    }

    /// Acknowledges an item. False: it is somebody else's by now, or was acknowledged or given back before.
    pub(crate) fn acknowledge_item(&self, item: &WorkItem) -> Result<bool> {
        self.end_item(item, |table| table.ack(Claim::from_word(item.claim)), Self::was_acknowledged)
    }

    /// Gives an item back. False as for [`acknowledge_item`](Self::acknowledge_item).
    pub(crate) fn give_back_item(&self, item: &WorkItem) -> Result<bool> {
        let told = |inlet: &Self, _: &mut State, item: &WorkItem| inlet.context.registry().mark_readers(item.slot());
        self.end_item(item, |cell| cell.give_back(Claim::from_word(item.claim)), told)
    }

    fn end_item(
        &self,
        item: &WorkItem,
        end: impl FnOnce(shoal_shm::claim::Cell<'_>) -> bool,
        tell: impl FnOnce(&Self, &mut State, &WorkItem),
    ) -> Result<bool> {
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        let Some(work) = &mut state.work else { return Ok(false) };
        let Some(at) = work.held.iter().position(|held| held == item) else { return Ok(false) };
        work.held.swap_remove(at);
        let table = work.table(item.slot());
        let current = table.as_ref().and_then(|table| table.cell(item.sequence)).is_some_and(end);
        if current {
            tell(self, state, item);
        }
        Ok(current)
    }

    /// Tells the publisher, if it waits for room, and, if that was the last item of a stream that has ended, all readers.
    fn was_acknowledged(&self, state: &mut State, item: &WorkItem) {
        let (registry, slot) = (self.context.registry(), item.slot());
        let Some(index) = find(&state.sources, slot) else { return };
        let source = state.sources[index];
        let Some(outlet) = registry.hot(slot.index) else { return };
        if credit::is_awaited(item.sequence, outlet.draining()) {
            ring_context(registry, source.context);
        }
        // ORDERING(claim.last): after the fence of `ack`: of two that acknowledge the last two items one sees both, and of an
        // acknowledgement and an end whoever comes later sees the other.
        let (Some(head), Some(table)) = (self.head(&source), state.work.as_ref().and_then(|work| work.table(slot)))
        else {
            return;
        };
        if table.done_up_to(source.watermark, head) < head {
            return;
        }
        let has_left = registry.slot_state(slot) == Some(SlotState::Closed);
        if has_left || registry.ending(slot, source.context_id).is_some() {
            registry.mark_readers(slot);
        }
    }

    /// Gives back whatever is claimed here, for a reader that goes.
    pub(super) fn leave_work(&mut self) {
        let registry = self.context.registry().clone();
        let Some(work) = self.state.get_mut().work.take() else { return };
        for item in &work.held {
            let table = work.table(item.slot());
            let cell = table.as_ref().and_then(|table| table.cell(item.sequence));
            if cell.is_some_and(|cell| cell.give_back(Claim::from_word(item.claim))) {
                registry.mark_readers(item.slot());
            }
        }
    }
}
