//! The writer's side of a match: who reads, how deep, and how they are told.
//!
//! A match maps nothing: marks, parked bits and hazards lie in the registry file. Only the progress of reliable KEEP_ALL
//! readers lies in their own memory (see `acks`).

use shoal_registry::{
    qos_compatible, History, HotCell, Kind, Qos, Registry, Reliability, SlotId, SlotState, TopicHash,
};
use shoal_shm::sync::{fence, Ordering};
use shoal_shm::{crash_point, drain, ring};

use crate::acks::read_by;
use crate::context::Context;
use crate::endpoint::{FLAG_IGNORE_LOCAL, KEEP_ALL_DEPTH};
use crate::peers::PeerViews;

/// What two endpoints must have in common.
#[derive(Clone, Copy)]
pub(crate) struct Channel {
    pub(crate) topic: TopicHash,
    pub(crate) match_key: u64,
}

/// An outlet as its readers see it.
pub(crate) struct Offer<'a> {
    pub(crate) slot: SlotId,
    pub(crate) channel: Channel,
    pub(crate) qos: &'a Qos,
    pub(crate) readers: Kind,
}

impl Offer<'_> {
    /// The bit by which readers tell this outlet's class.
    pub(crate) fn bit(&self) -> u64 {
        class_bit(self.slot)
    }

    /// Whether nothing may be lost on the way to a reader that asks for that.
    pub(crate) fn is_lossless(&self) -> bool {
        is_lossless(self.qos)
    }
}

/// The pending and draining bit of an outlet: one of 64 classes of registry slots.
pub(crate) fn class_bit(slot: SlotId) -> u64 {
    drain::class_of(slot.index)
}

pub(crate) struct Reader {
    pub(crate) slot: SlotId,
    context: u16,
    pub(crate) context_id: u64,
    pub(crate) reliable: bool,
    /// How many unread samples are kept for it.
    depth: u32,
    /// It is waited for before more than that are unread.
    waited_for: bool,
    /// Reliable and KEEP_ALL as the outlet is: its progress counts whenever something is sent.
    lossless: bool,
    /// What it is known to have read, whatever its table says.
    pub(crate) known: u64,
    /// The mappings of its memory, where its progress was looked at.
    pub(crate) views: PeerViews,
}

/// The matched inlets of one outlet, as of a generation of its topic.
#[derive(Default)]
pub(crate) struct Readers {
    generation: Option<u64>,
    list: Vec<Reader>,
    deepest: u32,
    /// Readers that were waited for in vain and have not caught up.
    given_up: Vec<SlotId>,
    /// What every reliable KEEP_ALL reader had read at the last look.
    known_read: u64,
}

impl Readers {
    /// Looks again where the topic's inlets have changed since the last look.
    pub(crate) fn refresh_if_moved(&mut self, registry: &Registry, offer: &Offer<'_>) {
        // ORDERING(registry.generation): read before the scan: a change during it is seen by the next call.
        let now = registry.inlets_generation(offer.channel.topic).load(Ordering::Acquire);
        self.refresh(registry, offer, now);
    }

    /// After a commit: the inlets that the commit must reach. One that registers later finds the new head.
    pub(crate) fn refresh_after_commit(&mut self, registry: &Registry, offer: &Offer<'_>) {
        let now = ring::generation_after_commit(registry.inlets_generation(offer.channel.topic));
        self.refresh(registry, offer, now);
    }

    fn refresh(&mut self, registry: &Registry, offer: &Offer<'_>, now: u64) {
        if self.generation != Some(now) {
            self.refresh_slow(registry, offer);
            self.generation = Some(now);
        }
    }

    #[cold]
    fn refresh_slow(&mut self, registry: &Registry, offer: &Offer<'_>) {
        self.list.clear();
        self.deepest = 0;
        self.known_read = 0;
        let Channel { topic, match_key } = offer.channel;
        registry.for_each_matching(&[offer.readers], topic, match_key, &mut |found| {
            let (context, _) = found.hot.owner();
            let requested = found.hot.qos();
            let own = found.hot.ctx_id() == registry.context_id();
            let present = matches!(found.state, SlotState::Joining | SlotState::Live);
            if !present || own && ignores_local(registry, found.slot) {
                return;
            }
            if requested_is_met(registry, offer.qos, found.slot, found.hot) {
                let depth = kept(requested.history(), requested.depth()).max(1);
                self.deepest = self.deepest.max(depth);
                let context_id = found.hot.ctx_id();
                let reliable = requested.reliability() == Reliability::Reliable;
                let lossless = offer.is_lossless() && reliable && requested.history() == History::KeepAll;
                let waited_for = requested.is_waited_for();
                let views = PeerViews::new(context_id);
                self.list.push(Reader {
                    slot: found.slot,
                    context,
                    context_id,
                    reliable,
                    depth,
                    waited_for,
                    lossless,
                    known: 0,
                    views,
                });
            }
        });
        self.list.sort_by_key(|reader| reader.context);
        self.given_up.retain(|slot| self.list.iter().any(|reader| reader.slot == *slot));
    }

    /// Has the readers that have not read everything up to `head` look again, and wakes them. Others do so at the next
    /// sample: a mark would only hide that they have. The caller keeps the outlet from committing meanwhile.
    pub(crate) fn look_again(&mut self, registry: &Registry, bit: u64, head: u64) {
        for reader in &mut self.list {
            let Some(hot) = registry.hot(reader.slot.index) else { continue };
            // ORDERING(drain.cover): a mark that is gone is in the draining word, until all of it has been read.
            let had_taken_every_mark = hot.pending().load(Ordering::Acquire) & bit == 0;
            let marked = !is_drained(hot, bit) && drain::mark(hot.pending(), bit);
            // ORDERING(drain.finish): Acquire: it has read what it finished.
            if had_taken_every_mark && hot.draining().load(Ordering::Acquire) & bit == 0 {
                reader.known = head;
            } else if let Some(bell) = registry.doorbell_of(reader.context).filter(|_| marked) {
                bell.ring();
            }
        }
    }

    pub(crate) fn list_mut(&mut self) -> &mut [Reader] {
        &mut self.list
    }

    /// Depth of the deepest matched reader; 0 when there is none.
    pub(crate) fn deepest(&self) -> u32 {
        self.deepest
    }

    /// The sequence up to which every reliable KEEP_ALL reader has read, at least; looked up only where `enough` is not
    /// known yet.
    pub(crate) fn least_read(&mut self, context: &Context, offer: &Offer<'_>, enough: u64) -> u64 {
        if self.known_read < enough {
            let registry = context.registry();
            let read = self.list.iter_mut().filter(|reader| reader.lossless).filter_map(|reader| {
                let reach = reader.views.reach(context.peers());
                let cell = registry.hot(reader.slot.index)?;
                let read = read_by(&reach, cell.ring(), offer.slot).unwrap_or(0);
                registry.slot_state(reader.slot).map(|_| read)
            });
            self.known_read = read.min().unwrap_or(u64::MAX);
        }
        self.known_read
    }

    /// How many of the readers are reliable and KEEP_ALL as the outlet is.
    pub(crate) fn lossless(&self) -> usize {
        self.list.iter().filter(|reader| reader.lossless).count()
    }

    /// What [`least_read`](Self::least_read) last answered.
    pub(crate) fn known_read(&self) -> u64 {
        self.known_read
    }

    /// The lowest sequence that a reader has to read before sample `head` + 1 is within its bound, of the readers that are
    /// waited for; `None`: all are within. One that was given up counts again once it has room.
    pub(crate) fn held_back_by(&mut self, context: &Context, offer: &Offer<'_>, head: u64) -> Option<u64> {
        let registry = context.registry();
        let mut wanted = None;
        for reader in self.list.iter_mut().filter(|reader| reader.waited_for) {
            let Some(cell) = registry.hot(reader.slot.index) else { continue };
            let floor = (head + 1).saturating_sub(reader.depth.into());
            let read = |reader: &mut Reader| read_by(&reader.views.reach(context.peers()), cell.ring(), offer.slot);
            let has_room = floor == 0
                || is_drained(cell, offer.bit())
                || read(reader).unwrap_or(0) >= floor
                || registry.slot_state(reader.slot).is_none();
            if has_room {
                self.given_up.retain(|slot| *slot != reader.slot);
            } else if !self.given_up.contains(&reader.slot) {
                wanted = Some(wanted.map_or(floor, |wanted: u64| wanted.min(floor)));
            }
        }
        wanted
    }

    /// Waits no more for those that hold back now: they are shed when they look.
    pub(crate) fn give_up(&mut self, context: &Context, offer: &Offer<'_>, head: u64) {
        self.given_up = self.list.iter().filter(|reader| reader.waited_for).map(|reader| reader.slot).collect();
        // Takes back those that have room.
        self.held_back_by(context, offer, head);
    }

    /// Whether any reader is to be waited for.
    pub(crate) fn any_waited_for(&self) -> bool {
        self.list.iter().any(|reader| reader.waited_for)
    }

    /// Depth of the deepest matched reader that has not read everything of this outlet (and its class); 0 when all have.
    pub(crate) fn deepest_unread(&self, registry: &Registry, bit: u64) -> u32 {
        let unread = self.list.iter().filter(|reader| {
            let hot = registry.hot(reader.slot.index);
            hot.is_some_and(|hot| !is_drained(hot, bit))
        });
        unread.map(|reader| reader.depth).max().unwrap_or(0)
    }

    /// Marks the outlet's class as pending with each reader and wakes those that are parked.
    pub(crate) fn announce(&self, registry: &Registry, bit: u64) {
        for reader in &self.list {
            if let Some(hot) = registry.hot(reader.slot.index) {
                drain::mark(hot.pending(), bit);
            }
        }
        crash_point!("publish.marked");
        // ORDERING(park.ring): marks before the look at parked bits; meets the fence of `park` in wait::sleep and Notifier::sleep.
        fence(Ordering::SeqCst);
        let mut rung = None;
        for reader in &self.list {
            if rung != Some(reader.context) {
                ring_context(registry, reader.context);
                rung = Some(reader.context);
            }
        }
    }

    /// Whether a matched reader, or one whose context left, has announced that it reads this chunk. Looks again for readers first: one that
    /// is not in the list yet may already read history.
    pub(crate) fn hold(&mut self, registry: &Registry, offer: &Offer<'_>, chunk: u64) -> bool {
        self.refresh_if_moved(registry, offer);
        let mut looked = None;
        let by_reader = self.list.iter().any(|reader| {
            let again = looked == Some(reader.context);
            looked = Some(reader.context);
            !again && registry.hazard_held(reader.context, chunk)
        });
        by_reader || registry.hazard_held_by_leaver(chunk)
    }
}

/// Wakes the waiters of a context, if there are any. The caller has fenced since its mark.
pub(crate) fn ring_context(registry: &Registry, context: u16) {
    if let Some(doorbell) = registry.doorbell_of(context) {
        doorbell.ring_after_fence();
    }
}

pub(crate) fn is_drained(hot: &HotCell, bit: u64) -> bool {
    drain::is_drained(hot.pending(), hot.draining(), bit)
}

/// Reliable and KEEP_ALL.
pub(crate) fn is_lossless(qos: &Qos) -> bool {
    qos.history == History::KeepAll && qos.reliability == Reliability::Reliable
}

/// Samples that a profile keeps.
pub(crate) fn kept(history: History, depth: u32) -> u32 {
    match history {
        History::KeepLast => depth,
        History::KeepAll => KEEP_ALL_DEPTH,
    }
}

fn ignores_local(registry: &Registry, inlet: SlotId) -> bool {
    registry.detail(inlet).is_some_and(|detail| detail.flags & FLAG_IGNORE_LOCAL != 0)
}

/// Whether an inlet's request is met by this offer; the full profiles are read only where durations matter.
fn requested_is_met(registry: &Registry, offered: &Qos, inlet: SlotId, hot: &HotCell) -> bool {
    match hot.qos().for_match() {
        Some(requested) => qos_compatible(offered, &requested).is_ok(),
        None => registry.detail(inlet).is_some_and(|detail| qos_compatible(offered, &detail.qos).is_ok()),
    }
}

/// Whether an outlet's offer meets this request.
pub(crate) fn offer_is_enough(registry: &Registry, outlet: SlotId, hot: &HotCell, requested: &Qos) -> bool {
    match hot.qos().for_match() {
        Some(offered) => qos_compatible(&offered, requested).is_ok(),
        None => registry.detail(outlet).is_some_and(|detail| qos_compatible(&detail.qos, requested).is_ok()),
    }
}
