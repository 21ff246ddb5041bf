//! The outlets of a reader's topic: which there are, and where it stands with each.

use std::ops::Range;

use shoal_registry::{gid, Durability, Found, HotCell, HotQos, Kind, Registry, SlotId, SlotState};
use shoal_shm::credit;
use shoal_shm::ring;
use shoal_shm::sync::Ordering;

use super::{Inlet, State};
use crate::error::Result;
use crate::matching::{kept, offer_is_enough, ring_context, Channel};
use crate::outlet::hot_cell;

/// One outlet as this reader knows it.
#[derive(Clone, Copy)]
pub(super) struct Source {
    pub(super) slot: SlotId,
    pub(super) context: u16,
    pub(super) endpoint: u32,
    pub(super) context_id: u64,
    /// The watermark it began with.
    pub(super) start: u64,
    /// The outlet's last sequence when this reader joined: what is above came live. 0 for one that came later.
    pub(super) bound: u64,
    /// The last sequence that was counted as arrived.
    pub(super) counted: u64,
    /// The last sequence that was read, looked at or given up.
    pub(super) watermark: u64,
    /// The oldest sample up to there that has passed the reader's filter and is not taken yet.
    pub(super) waiting: Option<u64>,
    /// The oldest sample that was taken and not consumed, where the reader says itself what it has consumed.
    pub(super) held: Option<u64>,
    /// Sequence and source time of the next sample, once looked up.
    pub(super) next: Option<(u64, i64)>,
    /// How many of its days have ended before this reader came, or have been recorded as ended.
    pub(super) days: u64,
    /// It was too far ahead of this reader, which does not read it until it joins again.
    pub(super) shed: bool,
    /// The head up to which its unread samples were weighed.
    pub(super) weighed: u64,
    /// Its end has been recorded.
    pub(super) ended: bool,
    /// Known, but never read: incompatible, own while own are ignored, or closed before this reader joined.
    pub(super) muted: bool,
    /// Age in nanoseconds after which a sample is not delivered any more; `i64::MAX` for ever.
    pub(super) lifespan: i64,
}

impl Source {
    /// The last sequence that was taken, or is not to be.
    pub(super) fn taken(&self) -> u64 {
        self.waiting.map_or(self.watermark, |waiting| waiting - 1)
    }

    /// The last sequence that this reader needs no more.
    pub(super) fn done(&self) -> u64 {
        if self.shed {
            // Nobody waits for a reader that wants nothing.
            return u64::MAX;
        }
        let oldest = self.waiting.into_iter().chain(self.held).min();
        oldest.map_or(self.watermark, |oldest| oldest - 1)
    }
}

pub(super) fn class_order(slot: SlotId) -> (u32, u32) {
    (slot.index % 64, slot.index)
}

impl Inlet {
    pub(super) fn scan_if_moved(&self, state: &mut State) {
        // ORDERING(registry.generation): Acquire; meets `announce`: the scan finds what changed.
        let generation = self.context.registry().outlets_generation(self.channel.topic).load(Ordering::Acquire);
        if generation != state.generation {
            self.scan(state, false);
        }
    }

    /// Looks up the topic's outlets. At the join they start where history says; those found later start at their
    /// first sample, because they came after.
    #[cold]
    pub(super) fn scan(&self, state: &mut State, joining: bool) {
        let registry = self.context.registry();
        // ORDERING(registry.generation): read before the scan: a change during it is looked at again.
        state.generation = registry.outlets_generation(self.channel.topic).load(Ordering::Acquire);
        let mut sources = Vec::with_capacity(state.sources.len());
        let mut asked = false;
        let Channel { topic, match_key } = self.channel;
        registry.for_each_matching(&[self.outlets], topic, match_key, &mut |found| {
            let known = state.sources.binary_search_by_key(&class_order(found.slot), |source| class_order(source.slot));
            // Only a publisher may: a service's ring word names its responses.
            asked |= self.outlets == Kind::Publisher && found.hot.qos().asks_progress();
            match known.ok().map(|at| state.sources[at]).filter(|source| source.slot == found.slot) {
                Some(source) => sources.push(source),
                None => sources.push(self.source(registry, &found, joining.then_some(state.reach))),
            }
        });
        sources.sort_by_key(|source| class_order(source.slot));
        let before = std::mem::replace(&mut state.sources, sources);
        let is_there = |slot: SlotId| {
            let found = state.sources.binary_search_by_key(&class_order(slot), |source| class_order(source.slot));
            found.is_ok_and(|at| state.sources[at].slot == slot)
        };
        let mut gone: Vec<_> = before.into_iter().filter(|source| !is_there(source.slot)).collect();
        self.note_gone(&mut state.streams, &mut gone);
        state.views.retain(|views| state.sources.iter().any(|source| source.context_id == views.context()));
        if asked {
            state.acks.get_or_insert_default();
        }
        self.tell_progress(state);
    }

    /// Makes the table of acknowledgements anew after the sources have changed.
    pub(super) fn tell_progress(&self, state: &mut State) {
        let Some(acks) = &mut state.acks else { return };
        let read: Vec<_> = state.sources.iter().map(|source| (source.slot, source.done())).collect();
        let Ok(hot) = hot_cell(self.context.registry(), self.slot) else { return };
        if acks.rebuild(&mut self.context.arena().lock(), hot.ring(), &read).is_err() {
            // The old table stays; writers that are not in it wait. The next look tries again.
            state.generation = u64::MAX;
            return;
        }
        for source in &state.sources {
            // One that looked while there was no table, or an older one, has found less than this.
            let outlet = self.context.registry().hot(source.slot.index);
            if let Some(outlet) = outlet.filter(|outlet| credit::is_awaited(source.done(), outlet.draining())) {
                ring_context(self.context.registry(), outlet.owner().0);
            }
        }
    }

    /// Tells the writer of source `index` how far it has been read.
    pub(super) fn acknowledge(&self, state: &State, index: usize) {
        let (Some(acks), Some(source)) = (&state.acks, state.sources.get(index)) else { return };
        if let Some(outlet) = self.context.registry().hot(source.slot.index) {
            acks.acknowledge(&self.context, source.slot, outlet, index, source.done());
        }
    }

    /// `joining`: how many samples back a joiner starts.
    fn source(&self, registry: &Registry, found: &Found<'_>, joining: Option<u64>) -> Source {
        let (context, endpoint) = found.hot.owner();
        let context_id = found.hot.ctx_id();
        let own = context_id == registry.context_id();
        let closed = !matches!(found.state, SlotState::Joining | SlotState::Live);
        let muted = (self.ignore_local && own)
            || (joining.is_some() && closed)
            || !offer_is_enough(registry, found.slot, found.hot, &self.qos);
        let (bound, watermark) = joining.map_or((0, 0), |reach| self.start(found.hot, reach));
        let lifespan = match found.hot.qos().has_lifespan() {
            true => registry.detail(found.slot).map_or(i64::MAX, |detail| detail.qos.lifespan),
            false => i64::MAX,
        };
        let (slot, start, counted) = (found.slot, watermark, watermark);
        let (next, waiting, held, ended) = (None, None, None, false);
        // What ended before this reader joined is not told. After the claim, as the head: an end that is not counted here
        // finds this reader.
        let days = joining.and_then(|_| registry.days_after(slot, context_id, 0)).map_or(0, |days| days.count);
        Source {
            slot,
            context,
            endpoint,
            context_id,
            start,
            bound,
            counted,
            watermark,
            waiting,
            held,
            next,
            days,
            shed: false,
            weighed: 0,
            ended,
            muted,
            lifespan,
        }
    }

    /// The head of an outlet that was there before a joiner, and where the joiner starts.
    pub(super) fn start(&self, outlet: &HotCell, reach: u64) -> (u64, u64) {
        // The claim has moved the topic's generation: either the writer sees this reader, or this is its newest head.
        let head = ring::head_after_registering(outlet.head());
        (head, self.start_at(outlet.qos(), head, reach))
    }

    /// The last sequence that a joiner does not read, where it joins at `head`.
    pub(super) fn start_at(&self, offered: HotQos, head: u64, reach: u64) -> u64 {
        if self.qos.durability == Durability::Volatile || offered.durability() == Durability::Volatile {
            return head;
        }
        let retained = u64::from(kept(offered.history(), offered.depth()));
        head - reach.min(retained).min(head)
    }

    /// Where this reader joined a publisher: what the publisher sent up to there is history. `None`: it is not known, or
    /// never read.
    pub(crate) fn join_bound(&self, publisher: &[u8; 16]) -> Result<Option<u64>> {
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        self.scan_if_moved(state);
        let of = |source: &&Source| gid(source.context_id, Kind::Publisher, source.endpoint) == *publisher;
        Ok(state.sources.iter().filter(|source| !source.muted).find(of).map(|source| source.bound))
    }

    /// The outlet's last committed sequence, as long as the slot is still the same outlet's.
    pub(super) fn head(&self, source: &Source) -> Option<u64> {
        let registry = self.context.registry();
        let head = ring::newest(registry.hot(source.slot.index)?.head());
        registry.slot_state(source.slot).map(|_| head)
    }
}

/// Indices of the sources of one class.
pub(super) fn class_of(sources: &[Source], bit: u64) -> Range<usize> {
    let class = bit.trailing_zeros();
    let from = sources.partition_point(|source| source.slot.index % 64 < class);
    let to = sources.partition_point(|source| source.slot.index % 64 <= class);
    from..to
}
