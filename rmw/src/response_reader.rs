//! The reading half of a client: which services it knows, and how far it has read its ring in each of them.

use std::sync::Arc;

use parking_lot::Mutex;
use shoal_registry::{HotCell, Kind, Registry, SlotId};
use shoal_shm::drain;
use shoal_shm::ring::{self, InlineBuf, SlotMeta};
use shoal_shm::sync::Ordering;

use crate::context::Context;
use crate::endpoint::SERVICE_DEPTH;
use crate::error::Result;
use crate::inlet::hazard;
use crate::matching::{class_bit, Channel};
use crate::message::{Incoming, ServiceInfo, Sink};
use crate::notify::{Countable, Tally};
use crate::outlet::hot_cell;
use crate::peers::PeerViews;
use crate::responses::find_head;

/// The reader of a client, which callers share with the thread that calls back.
pub(crate) struct Inbox {
    pub(crate) context: Arc<Context>,
    pub(crate) reader: Mutex<ResponseReader>,
}

impl Countable for Inbox {
    fn tally(&self) -> Tally {
        let using = self.context.using();
        let mut reader = self.reader.lock();
        match using {
            Ok(_using) => reader.tally(&self.context),
            Err(_) => Tally { arrived: reader.arrived, available: 0 },
        }
    }
}

/// Reads the responses to one client.
pub(crate) struct ResponseReader {
    depth: u64,
    client: SlotId,
    channel: Channel,
    gid: [u8; 16],
    generation: Option<u64>,
    services: Vec<KnownService>,
    active: u64,
    /// Made when the first response is read.
    buffer: Option<Box<InlineBuf>>,
    last_received: i64,
    /// Whether somebody wants to know how many came.
    counting: bool,
    arrived: u64,
}

struct KnownService {
    slot: SlotId,
    context: u16,
    views: PeerViews,
    /// Where in the table this client's entry was last time.
    hint: usize,
    watermark: u64,
    /// The last response that was counted as arrived.
    counted: u64,
}

impl ResponseReader {
    /// `depth`: how many unread responses count of each service.
    pub(crate) fn new(client: SlotId, channel: Channel, gid: [u8; 16], depth: u32) -> Self {
        Self {
            depth: depth.into(),
            client,
            channel,
            gid,
            generation: None,
            services: Vec::new(),
            active: 0,
            buffer: None,
            last_received: 0,
            counting: false,
            arrived: 0,
        }
    }

    /// Whether a take would find a response now.
    pub(crate) fn has_data(&mut self, context: &Context) -> bool {
        self.poll(context);
        self.prune(context);
        self.active != 0
    }

    /// Takes the next response.
    pub(crate) fn take(&mut self, context: &Context, sink: Sink<'_>) -> Result<Option<ServiceInfo>> {
        self.poll(context);
        let mut misses = 0;
        let outcome = loop {
            let mut unread = (0..self.services.len()).map(|index| (index, self.unread(context, index)));
            let Some((index, found)) = unread.find(|(_, found)| !matches!(found, Ok(None))) else { break Ok(None) };
            found?;
            if let Some(taken) = self.read(context, index, sink)? {
                break taken.map(|meta| Some(self.info(&meta)));
            }
            // Bounded, as a broken service may move its head for ever. What is left is still unread then.
            misses += 1;
            if misses > SERVICE_DEPTH {
                break Ok(None);
            }
        };
        self.prune(context);
        outcome
    }

    fn poll(&mut self, context: &Context) {
        let registry = context.registry();
        let Some(hot) = registry.hot(self.client.index) else { return };
        if hot.pending().load(Ordering::Relaxed) == 0 {
            return;
        }
        self.active |= drain::take_pending(hot.pending(), hot.draining());
        // ORDERING(registry.generation): read before the scan: a change during it is looked at again.
        let generation = registry.inlets_generation(self.channel.topic).load(Ordering::Acquire);
        if self.generation != Some(generation) {
            self.scan(registry);
            self.generation = Some(generation);
        }
        if self.counting {
            self.count(context);
        }
    }

    /// How many responses came and how many of them are left; from the first call on each poll counts (see `notify`).
    fn tally(&mut self, context: &Context) -> Tally {
        self.poll(context);
        if !std::mem::replace(&mut self.counting, true) {
            self.count(context);
        }
        let unread = (0..self.services.len()).map(|index| {
            let head = self.head(context, index).ok().flatten().unwrap_or(0);
            head.saturating_sub(self.services[index].watermark).min(self.depth)
        });
        let available = unread.fold(0, u64::saturating_add);
        Tally { arrived: self.arrived, available }
    }

    fn count(&mut self, context: &Context) {
        for index in 0..self.services.len() {
            let counted = self.services[index].counted;
            let Some(head) = self.head(context, index).ok().flatten().filter(|head| *head > counted) else { continue };
            self.services[index].counted = head;
            self.arrived = self.arrived.saturating_add(head - counted);
        }
    }

    #[cold]
    fn scan(&mut self, registry: &Registry) {
        let mut known = std::mem::take(&mut self.services);
        registry.for_each_matching(&[Kind::Service], self.channel.topic, self.channel.match_key, &mut |found| {
            let service = match known.iter().position(|service| service.slot == found.slot) {
                Some(at) => known.swap_remove(at),
                None => KnownService {
                    slot: found.slot,
                    context: found.hot.owner().0,
                    views: PeerViews::new(found.hot.ctx_id()),
                    hint: 0,
                    watermark: 0,
                    counted: 0,
                },
            };
            self.services.push(service);
        });
    }

    /// Sequence of the next unread response of one service; an error where this process may not map what says so.
    fn unread(&mut self, context: &Context, index: usize) -> Result<Option<u64>> {
        if self.active & class_bit(self.services[index].slot) == 0 {
            return Ok(None);
        }
        let Some(head) = self.head(context, index)? else { return Ok(None) };
        let service = &mut self.services[index];
        service.watermark = service.watermark.max(head.saturating_sub(self.depth));
        Ok((head > service.watermark).then_some(service.watermark + 1))
    }

    /// Sequence of the newest response of one service, as long as the slot is still the same service's.
    fn head(&mut self, context: &Context, index: usize) -> Result<Option<u64>> {
        let service = &mut self.services[index];
        let registry = context.registry();
        let Some(table) = registry.hot(service.slot.index).map(HotCell::ring) else { return Ok(None) };
        let reach = service.views.reach(context.peers());
        let Some((_, head)) = find_head(&reach, table, self.gid, &mut service.hint) else {
            return reach.granted().map(|()| None);
        };
        Ok(registry.slot_state(service.slot).map(|_| head))
    }

    /// Reads the next response of one service. `Ok(None)`: it is gone.
    fn read(&mut self, context: &Context, index: usize, sink: Sink<'_>) -> Result<Option<Result<SlotMeta>>> {
        let Some(sequence) = self.unread(context, index)? else { return Ok(None) };
        let hazard = hazard(context.registry())?;
        let service = &mut self.services[index];
        let Some(hot) = context.registry().hot(service.slot.index) else { return Ok(None) };
        let reach = service.views.reach(context.peers());
        let Some((entry, _)) = find_head(&reach, hot.ring(), self.gid, &mut service.hint) else {
            return reach.granted().map(|()| None);
        };
        let (slot, owner) = (service.slot, service.context);
        let buffer = self.buffer.get_or_insert_default();
        let read = ring::read(&reach, entry.ring(), owner, sequence, &hazard, buffer, |meta, body| {
            // The table may have grown, or the slot changed hands, since the entry was found: then this may be anything.
            if !entry.is_current(hot.ring()) {
                return None;
            }
            context.registry().slot_state(slot)?;
            let encapsulation = meta.encapsulation.to_le_bytes();
            Some(sink(Incoming { encapsulation, ptr: body.ptr, len: body.len }).map(|()| meta))
        });
        let read = match read {
            Ok(read) => read,
            Err(_) => reach.granted().map(|()| None)?,
        };
        if read.is_none() && !entry.is_current(hot.ring()) {
            // The next round finds the entry in the new table.
            return Ok(None);
        }
        service.watermark = sequence;
        Ok(read)
    }

    fn info(&mut self, meta: &SlotMeta) -> ServiceInfo {
        self.last_received = self.last_received.max(meta.source_timestamp);
        ServiceInfo {
            source_timestamp: meta.source_timestamp,
            received_timestamp: self.last_received,
            client: self.gid,
            sequence: meta.related as i64,
        }
    }

    /// Ends draining for the classes in which nothing is left.
    fn prune(&mut self, context: &Context) {
        let mut left = self.active;
        while left != 0 {
            let bit = left & left.wrapping_neg();
            left &= !bit;
            let unread = (0..self.services.len()).any(|index| {
                class_bit(self.services[index].slot) == bit && !matches!(self.unread(context, index), Ok(None))
            });
            if unread {
                continue;
            }
            self.active &= !bit;
            if let Ok(hot) = hot_cell(context.registry(), self.client) {
                drain::finish(hot.draining(), bit);
            }
        }
    }
}
