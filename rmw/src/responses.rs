//! Responses: a table in the service's memory with one small ring per client, so that an answer wakes, and can lap,
//! nobody but the client that asked.

mod table;

use std::collections::HashMap;
use std::sync::Arc;

use shoal_registry::{Registry, SlotId};
use shoal_shm::arena::{AllocError, Arena};
use shoal_shm::crash_point;
use shoal_shm::drain;
use shoal_shm::ring::Writer;
use shoal_shm::sync::{fence, AtomicU64, Ordering};

use crate::context::{Context, Memory};
use crate::endpoint::SERVICE_DEPTH;
use crate::error::Result;
use crate::matching::{class_bit, is_drained, ring_context};
use crate::message::Outgoing;
use crate::outlet::{hot_cell, no_memory, stride_for, Sample, Scratch};
use table::{Table, HEAD, RING};

pub(crate) use table::find_head;

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
            table.leave(&context.arena().lock(), index);
        }
        self.free.push(index);
        context.free(Memory { writers: vec![writer], ..Memory::default() });
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
        // ORDERING(ring.head): Release: the committed slot comes before the head. Meets find_head.
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
        table.enter(&arena, index, client);
        if let Some(known) = self.clients.get_mut(&client) {
            known.ring = Some((index, Writer::new(context.registry().context_index(), stride_for(None), 1)));
        }
        Ok(())
    }

    fn next_index(&mut self, registry: &Registry, arena: &mut Arena) -> std::result::Result<usize, AllocError> {
        let full = self.table.as_ref().is_none_or(|table| table.used == 1 << table.log2_capacity);
        if full {
            let Some(hot) = registry.hot(self.service.index) else { return Ok(0) };
            let larger = Table::replaced(arena, hot.ring(), self.table.as_ref())?;
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
        Memory { writers, table: self.table.take().map(|table| table.block), queue: None }
    }
}
