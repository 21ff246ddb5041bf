//! Responses: a table in the service's memory with one small ring per client, so that an answer wakes, and can lap,
//! nobody but the client that asked.
//!
//! Table: entries of 64 bytes, `{client GID: 2 words | head | ring descriptor | in use | 0 0 0}`. The service's hot
//! cell names the table as if it were a ring of such entries. An entry keeps its index when the table grows.
//! Written by the service alone. If it dies between any two stores, a client sees an entry that is not in use, or a
//! head from before the response.

use std::collections::HashMap;
use std::sync::Arc;

use shoal_registry::{Registry, SlotId};
use shoal_shm::arena::{AllocError, Arena, Block};
use shoal_shm::crash_point;
use shoal_shm::drain;
use shoal_shm::ring::{RingDesc, Segments, Writer};
use shoal_shm::sync::{fence, AtomicU64, Ordering};

use crate::context::{Context, Memory};
use crate::endpoint::SERVICE_DEPTH;
use crate::error::Result;
use crate::matching::{class_bit, is_drained, ring_context};
use crate::message::Outgoing;
use crate::outlet::{hot_cell, no_memory, stride_for, Sample, Scratch};

const ENTRY_BYTES: usize = 64;
const ENTRY_WORDS: usize = ENTRY_BYTES / 8;
const HEAD: usize = 2;
const RING: usize = 3;
const IN_USE: usize = 4;
/// More replacements than a table can have: each doubles it.
const MAX_MOVES: usize = 32;
/// A table that a client searches has at most so many entries; more are a sign of a broken peer.
const ENTRIES_MAX: u64 = 1 << 16;

/// The response rings of one service.
pub(crate) struct Responses {
    service: SlotId,
    clients: HashMap<[u8; 16], ClientRing>,
    table: Option<Table>,
    free: Vec<usize>,
    scratch: Scratch,
}

struct ClientRing {
    client: SlotId,
    ring: Option<(usize, Writer)>,
}

struct Table {
    block: Block,
    log2_capacity: u32,
    generation: u64,
    used: usize,
}

impl Responses {
    pub(crate) fn new(service: SlotId) -> Self {
        Self { service, clients: HashMap::new(), table: None, free: Vec::new(), scratch: Scratch::new() }
    }

    /// Notes where the client of a taken request stands in the registry, and forgets clients that are gone.
    pub(crate) fn remember(&mut self, context: &Context, client: [u8; 16], slot: SlotId) {
        if self.clients.contains_key(&client) {
            return;
        }
        let registry = context.registry();
        let gone: Vec<_> = self
            .clients
            .iter()
            .filter(|(_, ring)| registry.slot_state(ring.client).is_none())
            .map(|(client, _)| *client)
            .collect();
        for client in gone {
            self.forget(context, client);
        }
        self.clients.insert(client, ClientRing { client: slot, ring: None });
    }

    fn forget(&mut self, context: &Context, client: [u8; 16]) {
        let Some((index, writer)) = self.clients.remove(&client).and_then(|client| client.ring) else { return };
        if let Some(table) = &self.table {
            table.entry(&context.arena().lock(), index)[IN_USE].store(0, Ordering::Release);
        }
        self.free.push(index);
        context.free(Memory { writers: vec![writer], table: None });
    }

    /// Writes a response into the client's ring, and tells the client. Dropped where the client is gone.
    pub(crate) fn send(
        &mut self,
        context: &Arc<Context>,
        client: [u8; 16],
        sequence: i64,
        message: &dyn Outgoing,
    ) -> Result<()> {
        let registry = context.registry();
        let size = message.size()?;
        let Some(known) = self.clients.get(&client).filter(|known| registry.slot_state(known.client).is_some()) else {
            return Ok(());
        };
        let slot = known.client;
        let sample = Sample { message, size, related: sequence as u64 };
        self.make_ring(context, client).map_err(|source| no_memory(sample.size, source))?;
        self.write(context, client, slot, &sample)?;
        let cell = hot_cell(registry, slot)?;
        // ORDERING(drain.mark): the response's head is out before the look at the pending bit.
        fence(Ordering::SeqCst);
        drain::mark(cell.pending(), class_bit(self.service));
        // ORDERING(park.ring): the mark is out before the look at the parked bit; meets the fence of `park` in wait::sleep and Notifier::sleep.
        fence(Ordering::SeqCst);
        ring_context(registry, cell.owner().0);
        Ok(())
    }

    fn write(&mut self, context: &Context, client: [u8; 16], slot: SlotId, sample: &Sample<'_>) -> Result<()> {
        let registry = context.registry();
        let cell = hot_cell(registry, slot)?;
        let (Some(table), Some(known)) = (&self.table, self.clients.get_mut(&client)) else { return Ok(()) };
        let Some((index, writer)) = known.ring.as_mut() else { return Ok(()) };
        let drained = is_drained(cell, class_bit(self.service));
        writer.set_window(if drained { 1 } else { SERVICE_DEPTH });
        let prepared = sample.prepare(context.arena(), writer, &mut self.scratch)?;
        let mut arena = context.arena().lock();
        let entry = table.entry(&arena, *index);
        // The ring's words lie in the arena that the commit changes: it gets copies, which then go out in its order.
        let head = AtomicU64::new(entry[HEAD].load(Ordering::Relaxed));
        let desc = AtomicU64::new(entry[RING].load(Ordering::Relaxed));
        let reader = cell.owner().0;
        let hold = &mut |chunk| registry.hazard_held(reader, chunk);
        let sent = prepared.commit(&mut arena, writer, &self.scratch, &head, &desc, hold);
        let entry = table.entry(&arena, *index);
        entry[RING].store(desc.load(Ordering::Relaxed), Ordering::Release);
        crash_point!("responses.ring_named");
        // ORDERING(ring.head): Release: the committed slot comes before the head. Meets Entry::head.
        entry[HEAD].store(head.load(Ordering::Relaxed), Ordering::Release);
        crash_point!("responses.head_moved");
        sent.map(|_| ()).map_err(|source| no_memory(sample.size, source))
    }

    /// Gives the client a ring and a place in the table, if it has none yet.
    fn make_ring(&mut self, context: &Context, client: [u8; 16]) -> std::result::Result<(), AllocError> {
        if self.clients.get(&client).is_none_or(|known| known.ring.is_some()) {
            return Ok(());
        }
        let mut arena = context.arena().lock();
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.next_index(context.registry(), &mut arena)?,
        };
        let Some(table) = &self.table else { return Ok(()) };
        let entry = table.entry(&arena, index);
        let (low, high) = gid_words(client);
        entry[HEAD].store(0, Ordering::Relaxed);
        entry[RING].store(0, Ordering::Relaxed);
        // ORDERING(responses.entry): Release: who still sees the last tenant's entry in use, but the new GID in it, sees
        // the head that goes with that GID.
        entry[0].store(low, Ordering::Release);
        entry[1].store(high, Ordering::Release);
        crash_point!("responses.entry_filled");
        // ORDERING(responses.entry): the client's GID stands before the entry is in use; meets find_entry.
        entry[IN_USE].store(1, Ordering::Release);
        crash_point!("responses.entry_named");
        if let Some(known) = self.clients.get_mut(&client) {
            known.ring = Some((index, Writer::new(context.registry().context_index(), stride_for(None), 1)));
        }
        Ok(())
    }

    fn next_index(&mut self, registry: &Registry, arena: &mut Arena) -> std::result::Result<usize, AllocError> {
        let full = self.table.as_ref().is_none_or(|table| table.used == 1 << table.log2_capacity);
        if full {
            let larger = Table::grown(arena, self.table.as_ref())?;
            crash_point!("responses.table_copied");
            if let (Some(hot), Some(desc)) = (registry.hot(self.service.index), larger.descriptor()) {
                // ORDERING(responses.table): the copied entries stand before the table is named; meets find_entry.
                hot.ring().store(desc.word(), Ordering::Release);
            }
            crash_point!("responses.table_named");
            if let Some(old) = self.table.replace(larger) {
                arena.free_later(old.block);
            }
        }
        let Some(table) = &mut self.table else { return Ok(0) };
        table.used += 1;
        Ok(table.used - 1)
    }

    /// The memory of all rings, for the time after the service: unread responses stay until they are read.
    pub(crate) fn take_memory(&mut self) -> Memory {
        let writers = self.clients.drain().filter_map(|(_, client)| client.ring).map(|(_, writer)| writer).collect();
        Memory { writers, table: self.table.take().map(|table| table.block) }
    }
}

impl Table {
    /// A table of twice the size with the same entries; the first has four.
    fn grown(arena: &mut Arena, old: Option<&Table>) -> std::result::Result<Table, AllocError> {
        let log2_capacity = old.map_or(2, |old| old.log2_capacity + 1);
        let block = arena.alloc(ENTRY_BYTES << log2_capacity)?;
        let table = Table {
            block,
            log2_capacity,
            generation: old.map_or(0, |old| old.generation + 1),
            used: old.map_or(0, |old| old.used),
        };
        let copied: Vec<u64> = old
            .map(|old| arena.words(old.block).iter().map(|word| word.load(Ordering::Relaxed)).collect())
            .unwrap_or_default();
        for (index, word) in arena.words(block).iter().enumerate() {
            word.store(copied.get(index).copied().unwrap_or(0), Ordering::Relaxed);
        }
        Ok(table)
    }

    fn descriptor(&self) -> Option<RingDesc> {
        let Block { segment, offset, .. } = self.block;
        RingDesc::pack(segment, offset, self.log2_capacity, ENTRY_BYTES, self.generation)
    }

    fn entry<'a>(&self, arena: &'a Arena, index: usize) -> &'a [AtomicU64] {
        &arena.words(self.block)[index * ENTRY_WORDS..(index + 1) * ENTRY_WORDS]
    }
}

fn gid_words(gid: [u8; 16]) -> (u64, u64) {
    let whole = u128::from_le_bytes(gid);
    (whole as u64, (whole >> 64) as u64)
}

/// A client's entry in a service's table.
pub(crate) struct Entry<'a> {
    words: &'a [AtomicU64],
    table: u64,
}

impl Entry<'_> {
    /// Sequence of the newest response in the client's ring.
    pub(crate) fn head(&self) -> u64 {
        // ORDERING(ring.head): Acquire: the responses up to the head come before it. Meets Responses::write.
        self.words[HEAD].load(Ordering::Acquire)
    }

    /// The ring's descriptor word.
    pub(crate) fn ring(&self) -> &AtomicU64 {
        &self.words[RING]
    }

    /// Whether what was read through this entry counts: the table was not replaced meanwhile.
    pub(crate) fn is_current(&self, service: &AtomicU64) -> bool {
        // ORDERING(responses.table): what was read of an old table shows that the table has been replaced.
        fence(Ordering::Acquire);
        service.load(Ordering::Relaxed) == self.table
    }
}

/// The entry of `client` and the head in it. Looks again for as long as the table is being replaced: whether the client
/// is in an old one, which may be gone or hold anything, says nothing.
pub(crate) fn find_head<'a>(
    segments: &'a dyn Segments,
    service: &AtomicU64,
    client: [u8; 16],
    hint: &mut usize,
) -> Option<(Entry<'a>, u64)> {
    for _ in 0..MAX_MOVES {
        let table = service.load(Ordering::Relaxed);
        let found = find_entry(segments, service, client, hint).map(|entry| (entry.head(), entry));
        // ORDERING(responses.table): what was read of an old table shows that the table has been replaced.
        fence(Ordering::Acquire);
        if service.load(Ordering::Relaxed) == table {
            return found.map(|(head, entry)| (entry, head));
        }
    }
    None
}

/// Finds the entry of `client` in the table that `service` (a service's ring word) names. Every size is checked.
fn find_entry<'a>(
    segments: &'a dyn Segments,
    service: &AtomicU64,
    client: [u8; 16],
    hint: &mut usize,
) -> Option<Entry<'a>> {
    // ORDERING(responses.table): Acquire: a new table's entries come before its name. Meets Responses::next_index.
    let table = service.load(Ordering::Acquire);
    let desc = RingDesc::checked(table)?;
    if desc.stride() != ENTRY_BYTES || desc.capacity() > ENTRIES_MAX {
        return None;
    }
    let entries = usize::try_from(desc.capacity()).ok()?;
    let words = segments.words(desc.segment(), desc.offset(), entries * ENTRY_WORDS)?;
    let wanted = gid_words(client);
    let is_own = |entry: &&[AtomicU64]| {
        // ORDERING(responses.entry): Acquire: the GID comes before the entry's use. Meets Responses::make_ring.
        entry[IN_USE].load(Ordering::Acquire) == 1
            && (entry[0].load(Ordering::Acquire), entry[1].load(Ordering::Acquire)) == wanted
    };
    let at = |index: usize| words.get(index * ENTRY_WORDS..(index + 1) * ENTRY_WORDS);
    let hinted = at(*hint).filter(is_own);
    let found = hinted.or_else(|| {
        *hint = (0..entries).find(|index| at(*index).filter(is_own).is_some())?;
        at(*hint)
    })?;
    Some(Entry { words: found, table })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A service that replaces its table while a client looks at it.
    struct Moving {
        service: AtomicU64,
        old: Vec<AtomicU64>,
        new: Vec<AtomicU64>,
        /// The old table's memory is gone already.
        unlinked: bool,
    }

    const CLIENT: [u8; 16] = [7; 16];

    fn table(head: u64) -> Vec<AtomicU64> {
        let (low, high) = gid_words(CLIENT);
        let entry = [low, high, head, 0, u64::from(head != 0), 0, 0, 0];
        entry.into_iter().chain([0; 24]).map(AtomicU64::new).collect()
    }

    fn descriptor(segment: u16) -> u64 {
        RingDesc::pack(segment, 0, 2, ENTRY_BYTES, u64::from(segment)).expect("it fits").word()
    }

    impl Segments for Moving {
        fn words(&self, segment: u16, _: u64, count: usize) -> Option<&[AtomicU64]> {
            if segment == 2 {
                return self.new.get(..count);
            }
            self.service.store(descriptor(2), Ordering::Release);
            if self.unlinked {
                None
            } else {
                self.old.get(..count)
            }
        }

        fn bytes(&self, _: u16, _: u64, _: usize) -> Option<*const u8> {
            None
        }
    }

    /// Else a response that was announced would be taken for read.
    #[test]
    fn a_client_is_found_while_the_table_is_replaced() {
        for (old, unlinked) in [(0, false), (4, false), (4, true)] {
            let service = AtomicU64::new(descriptor(1));
            let moving = Moving { service, old: table(old), new: table(5), unlinked };
            let found = find_head(&moving, &moving.service, CLIENT, &mut 0);
            let (entry, head) = found.expect("the client is in the new table");
            assert_eq!(head, 5);
            assert!(entry.is_current(&moving.service));
        }
    }
}
