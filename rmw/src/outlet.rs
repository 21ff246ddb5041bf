//! The writing half of an endpoint: a ring, its matched readers, and how a sample gets from one to the other.

mod flow;
mod items;
mod loans;
mod progress;

use std::sync::Arc;

use parking_lot::Mutex;
use shoal_registry::{HotCell, Kind, Qos, Registry, SlotId};
use shoal_shm::arena::{AllocError, Arena};
use shoal_shm::crash_point;
use shoal_shm::ring::{Reservation, SlotMeta, Writer, HEADER, MAX_STRIDE};
use shoal_shm::sync::AtomicU64;

use crate::acks::{wait_for_bounded, Room};
use crate::clock::wall_ns;
use crate::context::{Context, Memory};
use crate::error::{Error, Result};
use crate::matching::{Channel, Offer, Readers};
use crate::message::{Encapsulation, Outgoing};
use crate::queue::Table;
use flow::Flow;
use loans::Loans;

pub use flow::{Offered, StreamState};
pub use progress::ReaderLag;

/// Slots of types whose size varies; small texts and poses fit.
const DEFAULT_STRIDE: usize = 256;

/// The longest body that goes into a slot, in bytes.
const INLINE_MAX: usize = MAX_STRIDE - HEADER;

/// A ring in this context's memory and its place in the graph.
pub(crate) struct Outlet {
    context: Arc<Context>,
    slot: SlotId,
    channel: Channel,
    readers: Kind,
    qos: Qos,
    /// Samples a late joiner may ask for.
    history: u32,
    /// Samples kept for a matched reader that has not read them, where that is more than the reader's depth.
    least_unread: u32,
    state: Mutex<State>,
}

struct State {
    /// `None` only while the outlet is being dropped.
    writer: Option<Writer>,
    readers: Readers,
    scratch: Scratch,
    loans: Loans,
    finished: bool,
    /// How many days have ended.
    days: u64,
    /// Whether readers were asked how far they are.
    asks_progress: bool,
    /// Of an outlet that carries a stream.
    flow: Option<Flow>,
    /// Of an outlet whose items are claimed.
    queue: Option<Table>,
}

/// What an outlet is made from.
pub(crate) struct OutletPlan {
    pub(crate) slot: SlotId,
    pub(crate) channel: Channel,
    pub(crate) readers: Kind,
    pub(crate) qos: Qos,
    pub(crate) history: u32,
    pub(crate) least_unread: u32,
    pub(crate) fixed_size: Option<usize>,
}

impl Outlet {
    pub(crate) fn new(context: &Arc<Context>, plan: OutletPlan) -> Self {
        let writer = Writer::new(context.registry().context_index(), stride_for(plan.fixed_size), plan.history.max(1));
        Self {
            context: context.clone(),
            slot: plan.slot,
            channel: plan.channel,
            readers: plan.readers,
            qos: plan.qos,
            history: plan.history,
            least_unread: plan.least_unread,
            state: Mutex::new(State {
                writer: Some(writer),
                readers: Readers::default(),
                scratch: Scratch::new(),
                loans: Loans::default(),
                finished: false,
                days: 0,
                asks_progress: false,
                flow: None,
                queue: None,
            }),
        }
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(crate) fn slot(&self) -> SlotId {
        self.slot
    }

    pub(crate) fn channel(&self) -> Channel {
        self.channel
    }

    pub(crate) fn qos(&self) -> &Qos {
        &self.qos
    }

    pub(crate) fn hot(&self) -> Result<&HotCell> {
        hot_cell(self.context.registry(), self.slot)
    }

    fn offer(&self) -> Offer<'_> {
        Offer { slot: self.slot, channel: self.channel, qos: &self.qos, readers: self.readers }
    }

    /// Writes one sample into the ring and tells the matched readers. The sequence number is the sample's, from 1.
    ///
    /// # Errors
    /// The message cannot be serialized, there is no shared memory for it, or a reliable KEEP_ALL reader is too far
    /// behind and stays so; nothing was sent then.
    pub(crate) fn send(&self, message: &dyn Outgoing) -> Result<u64> {
        let _using = self.context.using()?;
        let size = message.size()?;
        let sample = Sample { message, size, related: 0 };
        self.deliver(size, |writer, scratch, _| sample.prepare(self.context.arena(), writer, scratch))
    }

    /// Commits the `size` bytes that `prepare` puts into reserved memory, once there is room for them.
    fn deliver(
        &self,
        size: usize,
        prepare: impl FnOnce(&mut Writer, &mut Scratch, &mut Loans) -> Result<Prepared>,
    ) -> Result<u64> {
        let state = &mut *self.state.lock();
        if state.finished {
            return Err(Error::Finished);
        }
        let head = progress::head(state)?;
        let offer = self.offer();
        state.readers.refresh_if_moved(self.context.registry(), &offer);
        if offer.is_lossless() {
            let most = self.limit(state, state.readers.deepest().max(1));
            let (window, wish, queue) = (Room::window(most, size), self.wish(state), state.queue.as_ref());
            let window = queue.map_or(window, Table::window);
            Room { context: &self.context, offer: &offer, hot: self.hot()?, head, window, wish, queue }
                .wait(&mut state.readers)?;
        }
        if state.readers.any_waited_for() {
            let wish = self.wish(state);
            let (hot, queue) = (self.hot()?, None);
            let room = Room { context: &self.context, offer: &offer, hot, head, window: 0, wish, queue };
            wait_for_bounded(&room, &mut state.readers);
        }
        self.commit(state, size, prepare)
    }

    /// As [`deliver`](Self::deliver), where there is room, for readers that were looked up.
    fn commit(
        &self,
        state: &mut State,
        size: usize,
        prepare: impl FnOnce(&mut Writer, &mut Scratch, &mut Loans) -> Result<Prepared>,
    ) -> Result<u64> {
        let (registry, offer, hot) = (self.context.registry(), self.offer(), self.hot()?);
        let unread = state.readers.deepest_unread(registry, offer.bit());
        // What was read of a queue may be given to another consumer, until it is acknowledged.
        let drained = unread == 0 && state.queue.is_none();
        let window = self.window(state, unread);
        let State { writer: Some(writer), readers, scratch, loans, flow, queue, .. } = state else {
            return Err(Error::ShutDown);
        };
        writer.set_window(window);
        let hold = &mut |chunk| readers.hold(registry, &offer, chunk);
        if drained && self.history == 0 && writer.last_is_chunk() {
            // Nobody wants the last sample any more, so the next one gets its chunk, which is still in the caches.
            writer.retire_all(&mut *self.context.arena().lock(), hold);
        }
        let prepared = prepare(writer, scratch, loans)?;
        let next = writer.head() + 1;
        if let Some(cell) = queue.as_ref().and_then(|queue| queue.cell(next)) {
            cell.open(next);
        }
        let sequence = prepared
            .commit(&mut self.context.arena().lock(), writer, scratch, hot.head(), hot.ring(), hold)
            .map_err(|source| no_memory(size, source))?;
        if let Some(flow) = flow {
            flow.note_sent(sequence, readers.known_read());
        }
        readers.refresh_after_commit(registry, &offer);
        readers.announce(registry, offer.bit());
        Ok(sequence)
    }

    /// Ends the stream: nothing is sent any more, and readers find the end behind the last sample. Does nothing the
    /// second time.
    pub(crate) fn finish(&self) -> Result<()> {
        let _using = self.context.using()?;
        let registry = self.context.registry();
        let offer = self.offer();
        let state = &mut *self.state.lock();
        if !std::mem::replace(&mut state.finished, true) {
            registry.finish(self.slot);
            crash_point!("stream.finished");
            state.readers.refresh_after_commit(registry, &offer);
            state.readers.announce(registry, offer.bit());
            if state.flow.is_some() {
                // Other threads may wait for credit that does not come any more.
                registry.doorbell().ring();
            }
        }
        Ok(())
    }

    /// Says that a day is over with what was sent up to now: readers find that behind the last sample. The stream goes on.
    pub(crate) fn end_day(&self) -> Result<()> {
        let _using = self.context.using()?;
        let registry = self.context.registry();
        let offer = self.offer();
        let state = &mut *self.state.lock();
        if state.finished {
            return Err(Error::Finished);
        }
        let last = progress::head(state)?;
        state.days += 1;
        registry.end_day(self.slot, state.days, last);
        state.readers.refresh_after_commit(registry, &offer);
        state.readers.announce(registry, offer.bit());
        Ok(())
    }

    /// How many of the newest samples must stay: history for late joiners, and what matched readers have not read. `unread` is
    /// the depth of the deepest of those; a reader that is behind keeps no more than its own.
    fn window(&self, state: &State, unread: u32) -> u32 {
        let retained = self.history.max(1);
        if let Some(queue) = &state.queue {
            return queue.window() as u32;
        }
        match unread {
            0 => retained,
            depth => self.limit(state, depth).max(self.least_unread).max(retained),
        }
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        let writers = self.close_loans().into_iter().collect();
        let queue = self.state.get_mut().queue.take().and_then(|_| self.hot().ok()).map(|hot| hot.owner().1);
        self.context.retire_outlet(self.slot, Memory { writers, table: None, queue });
    }
}

/// One message on its way into a ring.
pub(crate) struct Sample<'a> {
    pub(crate) message: &'a dyn Outgoing,
    pub(crate) size: usize,
    pub(crate) related: u64,
}

impl Sample<'_> {
    /// Serializes into reserved memory, outside the arena's lock: other publishers of the process go on meanwhile. A body
    /// that goes into its slot is in `scratch` then.
    pub(crate) fn prepare(&self, arena: &Mutex<Arena>, writer: &mut Writer, scratch: &mut Scratch) -> Result<Prepared> {
        let mut reserved =
            writer.reserve(&mut *arena.lock(), self.size).map_err(|source| no_memory(self.size, source))?;
        let chunk = reserved.body(&arena.lock());
        let written = match chunk {
            Some(mut chunk) => self.message.write(&mut chunk),
            None => self.message.write(room(scratch, self.size)),
        };
        let problem = match written {
            Ok(written) if written == self.size => {
                let encapsulation = self.message.encapsulation();
                return Ok(Prepared { reserved, encapsulation, related: self.related });
            }
            Ok(written) => Error::Other(format!(
                "the message changed while it was serialized: {written} bytes written, {} announced",
                self.size
            )),
            Err(error) => error,
        };
        writer.abandon(&mut *arena.lock(), reserved);
        Err(problem)
    }
}

pub(crate) fn no_memory(size: usize, source: AllocError) -> Error {
    Error::Alloc { what: format!("a sample of {size} bytes"), source }
}

/// A serialized message that nobody sees yet.
pub(crate) struct Prepared {
    reserved: Reservation,
    encapsulation: Encapsulation,
    related: u64,
}

/// Where a sample is serialized that then goes into its slot. As long as the longest of them so far: an endpoint that
/// sends nothing has none.
pub(crate) type Scratch = Vec<u8>;

fn room(scratch: &mut Scratch, size: usize) -> &mut [u8] {
    if scratch.len() < size {
        scratch.resize(size, 0);
    }
    &mut scratch[..size]
}

impl Prepared {
    /// Gives the sample the ring's next sequence number and shows it to readers. `scratch` is what it was prepared with.
    pub(crate) fn commit(
        self,
        arena: &mut Arena,
        writer: &mut Writer,
        scratch: &Scratch,
        head: &AtomicU64,
        ring: &AtomicU64,
        hold: &mut dyn FnMut(u64) -> bool,
    ) -> std::result::Result<u64, AllocError> {
        let meta = SlotMeta {
            source_timestamp: wall_ns(),
            related: self.related,
            encapsulation: u32::from_le_bytes(self.encapsulation),
            aux: 0,
        };
        let inline = scratch.get(..self.reserved.size()).unwrap_or_default();
        let sequence = writer.commit(arena, self.reserved, meta, inline, head, ring, hold);
        arena.tidy();
        sequence
    }
}

/// Stride of a ring's slots in bytes: fits a fixed-size type where that is small.
pub(crate) fn stride_for(fixed_size: Option<usize>) -> usize {
    match fixed_size {
        Some(size) if size <= INLINE_MAX => (HEADER + size).next_multiple_of(64),
        _ => DEFAULT_STRIDE,
    }
}

/// The shared cell of an own slot.
pub(crate) fn hot_cell(registry: &Registry, slot: SlotId) -> Result<&HotCell> {
    registry.hot(slot.index).ok_or_else(|| Error::Other(format!("registry slot {} is out of range", slot.index)))
}
