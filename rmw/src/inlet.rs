//! The reading half of an endpoint: the outlets it reads from, how far it has read each, and which comes next.
//!
//! Nothing is delivered to a reader: it is told which classes of outlets have something (pending), looks at their
//! heads in the registry, and reads their rings. History and live samples are the same slots, so each is read once.

mod filtering;
mod loans;
mod tally;

use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;
use shoal_registry::{Durability, Found, History, HotCell, Kind, Qos, Registry, SlotId, SlotState};
use shoal_shm::drain;
use shoal_shm::hazard::HazardSlot;
use shoal_shm::ring::{self, InlineBuf, ReadError, SlotMeta};
use shoal_shm::sync::{AtomicBool, Ordering};

use crate::acks::Acks;
use crate::clock::wall_ns;
use crate::context::{Context, Memory};
use crate::error::{Error, Result};
use crate::filter::SampleFilter;
use crate::matching::{class_bit, is_lossless, kept, offer_is_enough, Channel};
use crate::message::{Incoming, Sink};
use crate::outlet::hot_cell;
use crate::peers::PeerViews;
use filtering::Filtering;

/// The newest samples of an outlet that a look at what came reads the times of.
const ARRIVALS_LOOKED_AT: u64 = 64;

/// A reader of the outlets of one topic.
pub(crate) struct Inlet {
    context: Arc<Context>,
    slot: SlotId,
    channel: Channel,
    outlets: Kind,
    qos: Qos,
    /// Unread samples kept, over all outlets.
    depth: u64,
    ignore_local: bool,
    joined_at: i64,
    state: Mutex<State>,
    /// Locked with `state` held, and only where that says `filtered`.
    filtering: Mutex<Filtering>,
    /// The slot was handed on: a service's responses may outlive it.
    retired: AtomicBool,
}

/// What an inlet is made from.
pub(crate) struct InletPlan {
    pub(crate) slot: SlotId,
    pub(crate) channel: Channel,
    pub(crate) outlets: Kind,
    pub(crate) qos: Qos,
    pub(crate) depth: u32,
    pub(crate) ignore_local: bool,
    pub(crate) filter: Option<Arc<dyn SampleFilter>>,
}

struct State {
    generation: u64,
    /// Sorted by class, then slot.
    sources: Vec<Source>,
    /// Classes that may hold unread samples; the same as the draining word.
    active: u64,
    views: Vec<PeerViews>,
    buffer: InlineBuf,
    last_received: i64,
    taken: u64,
    lost: u64,
    /// How many of an outlet's newest samples are looked at: the depth, or more where a filter thins them.
    reach: u64,
    /// Samples go through `Inlet::filtering`.
    filtered: bool,
    /// Of a reliable KEEP_ALL subscription: what its publishers are told.
    acks: Option<Acks>,
    /// Whether somebody wants to know how many came.
    counting: bool,
    arrived: u64,
}

/// One outlet as this reader knows it.
#[derive(Clone, Copy)]
struct Source {
    slot: SlotId,
    context: u16,
    endpoint: u32,
    context_id: u64,
    /// The watermark it began with.
    start: u64,
    /// The last sequence that was counted as arrived.
    counted: u64,
    /// The last sequence that was read, looked at or given up.
    watermark: u64,
    /// The oldest sample up to there that has passed the reader's filter and is not taken yet.
    waiting: Option<u64>,
    /// Sequence and source time of the next sample, once looked up.
    next: Option<(u64, i64)>,
    /// Known, but never read: incompatible, own while own are ignored, or closed before this reader joined.
    muted: bool,
    /// Age in nanoseconds after which a sample is not delivered any more; `i64::MAX` for ever.
    lifespan: i64,
}

/// What came since somebody last asked, whether or not it was taken.
pub(crate) struct Arrivals {
    /// Source times in ns since 1970, sorted; not before the reader joined.
    pub(crate) times: Vec<i64>,
    /// No sample is missing in between.
    pub(crate) complete: bool,
    /// A matched outlet is in the graph.
    pub(crate) any_outlet: bool,
}

/// Reads the sample of a source, by the source's index and the sample's sequence number.
type ReadOne<'a> = &'a mut dyn FnMut(&mut State, usize, u64) -> Result<Option<Result<Taken>>>;

/// A sample that was taken, without its body.
pub(crate) struct Taken {
    pub(crate) meta: SlotMeta,
    pub(crate) sequence: u64,
    pub(crate) received: i64,
    /// This reader's number for the sample, from 1.
    pub(crate) reception: u64,
    pub(crate) outlet: SlotId,
    pub(crate) endpoint: u32,
    pub(crate) context_id: u64,
}

impl Source {
    /// The last sequence that this reader needs no more.
    fn done(&self) -> u64 {
        self.waiting.map_or(self.watermark, |waiting| waiting - 1)
    }
}

fn class_order(slot: SlotId) -> (u32, u32) {
    (slot.index % 64, slot.index)
}

impl Inlet {
    /// Joins: from here on each sample is either history that is read now, or its writer knows this reader.
    /// The registry slot must be claimed and not yet published; the caller publishes it afterwards.
    pub(crate) fn join(context: &Arc<Context>, plan: InletPlan) -> Result<Self> {
        let depth = u64::from(plan.depth.max(1));
        let inlet = Self {
            context: context.clone(),
            slot: plan.slot,
            channel: plan.channel,
            outlets: plan.outlets,
            qos: plan.qos,
            depth,
            ignore_local: plan.ignore_local,
            joined_at: wall_ns(),
            state: Mutex::new(State {
                generation: 0,
                sources: Vec::new(),
                active: 0,
                views: Vec::new(),
                buffer: InlineBuf::new(),
                last_received: 0,
                taken: 0,
                lost: 0,
                reach: depth,
                filtered: false,
                acks: (plan.outlets == Kind::Publisher && is_lossless(&plan.qos)).then(Acks::default),
                counting: false,
                arrived: 0,
            }),
            filtering: Mutex::default(),
            retired: AtomicBool::new(false),
        };
        inlet.set_filter(plan.filter);
        {
            let state = &mut *inlet.state.lock();
            inlet.scan(state, true);
            let hot = hot_cell(context.registry(), inlet.slot)?;
            for source in state.sources.iter().filter(|source| !source.muted) {
                if inlet.head(source).is_some_and(|head| head > source.watermark) {
                    state.active |= class_bit(source.slot);
                }
            }
            hot.draining().store(state.active, Ordering::Release);
        }
        Ok(inlet)
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Leaves the graph, but keeps the slot for as long as what lies in `memory` is unread.
    pub(crate) fn retire(&self, memory: Memory) {
        self.retired.store(true, Ordering::Relaxed);
        self.context.retire_outlet(self.slot, memory);
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

    /// Whether a take would find a sample now.
    pub(crate) fn has_data(&self) -> bool {
        if !self.context.is_usable() {
            return false;
        }
        let Ok(hot) = hot_cell(self.context.registry(), self.slot) else { return false };
        let state = &mut *self.state.lock();
        if state.filtered {
            return self.has_passed(state, hot);
        }
        self.poll(state, hot);
        self.prune(state, hot);
        state.active != 0
    }

    /// Takes the oldest unread sample. `Ok(None)` when there is none. When the sink fails the sample is used up.
    pub(crate) fn take(&self, sink: Sink<'_>) -> Result<Option<Taken>> {
        self.take_by(&mut |state, index, sequence| self.read(state, index, sequence, sink))
    }

    /// Takes the oldest unread sample that `read` gets. `Ok(None)` of `read` means that the sample is gone: then the next.
    fn take_by(&self, read: ReadOne<'_>) -> Result<Option<Taken>> {
        self.context.check()?;
        let hot = hot_cell(self.context.registry(), self.slot)?;
        let state = &mut *self.state.lock();
        let outcome = match state.filtered {
            true => self.take_passed(state, hot, read),
            false => self.take_next(state, hot, read),
        };
        // A reader that is done says so at once: what it has read can be given back.
        self.prune(state, hot);
        outcome
    }

    fn take_next(&self, state: &mut State, hot: &HotCell, read: ReadOne<'_>) -> Result<Option<Taken>> {
        loop {
            self.poll(state, hot);
            let Some((index, sequence)) = self.next(state, hot) else { return Ok(None) };
            let read = read(state, index, sequence)?;
            state.sources[index].watermark = sequence;
            self.acknowledge(state, index);
            match read {
                Some(read) => return read.map(Some),
                None => self.unreadable(state, index, sequence),
            }
        }
    }

    /// Looks at what came, without taking anything; `heads` is what the last call saw.
    pub(crate) fn arrivals(&self, heads: &mut Vec<(SlotId, u64)>) -> Arrivals {
        let registry = self.context.registry();
        let mut arrivals = Arrivals { times: Vec::new(), complete: true, any_outlet: false };
        if !self.context.is_usable() {
            return arrivals;
        }
        let state = &mut *self.state.lock();
        self.scan_if_moved(state);
        let mut now = Vec::with_capacity(state.sources.len());
        for source in state.sources.iter().filter(|source| !source.muted) {
            let Some(head) = self.head(source) else { continue };
            arrivals.any_outlet |= registry.slot_state(source.slot) == Some(SlotState::Live);
            let seen = heads.iter().find(|(slot, _)| *slot == source.slot).map_or(source.start, |(_, head)| *head);
            let next = seen.saturating_add(1);
            let first = next.max(head.saturating_sub(ARRIVALS_LOOKED_AT - 1));
            arrivals.complete &= first == next;
            let views = views_of(&mut state.views, source.context_id);
            let reach = state.views[views].reach(self.context.peers());
            for sequence in first..=head {
                let meta =
                    registry.hot(source.slot.index).and_then(|outlet| ring::read_meta(&reach, outlet.ring(), sequence));
                arrivals.complete &= meta.is_some();
                arrivals.times.extend(meta.map(|meta| meta.source_timestamp.max(self.joined_at)));
            }
            now.push((source.slot, head));
        }
        *heads = now;
        arrivals.times.sort_unstable();
        arrivals
    }

    fn scan_if_moved(&self, state: &mut State) {
        let generation = self.context.registry().outlets_generation(self.channel.topic).load(Ordering::Acquire);
        if generation != state.generation {
            self.scan(state, false);
        }
    }

    /// Moves what was marked into the active classes, and learns of outlets that are new.
    fn poll(&self, state: &mut State, hot: &HotCell) {
        if hot.pending().load(Ordering::Relaxed) == 0 {
            return;
        }
        state.active |= drain::take_pending(hot.pending(), hot.draining());
        self.scan_if_moved(state);
        if state.counting && !state.filtered {
            self.count(state);
        }
    }

    /// Looks up the topic's outlets. At the join they start where history says; those found later start at their
    /// first sample, because they came after.
    #[cold]
    fn scan(&self, state: &mut State, joining: bool) {
        let registry = self.context.registry();
        // Read before the scan: a change during it is looked at again.
        state.generation = registry.outlets_generation(self.channel.topic).load(Ordering::Acquire);
        let mut sources = Vec::with_capacity(state.sources.len());
        let Channel { topic, match_key } = self.channel;
        registry.for_each_matching(&[self.outlets], topic, match_key, &mut |found| {
            let known = state.sources.binary_search_by_key(&class_order(found.slot), |source| class_order(source.slot));
            match known.ok().map(|at| state.sources[at]).filter(|source| source.slot == found.slot) {
                Some(source) => sources.push(source),
                None => sources.push(self.source(registry, &found, joining.then_some(state.reach))),
            }
        });
        sources.sort_by_key(|source| class_order(source.slot));
        state.sources = sources;
        state.views.retain(|views| state.sources.iter().any(|source| source.context_id == views.context()));
        self.tell_progress(state);
    }

    /// Makes the table of acknowledgements anew after the sources have changed.
    fn tell_progress(&self, state: &mut State) {
        let Some(acks) = &mut state.acks else { return };
        let read: Vec<_> = state.sources.iter().map(|source| (source.slot, source.done())).collect();
        let Ok(hot) = hot_cell(self.context.registry(), self.slot) else { return };
        if acks.rebuild(&mut self.context.arena().lock(), hot, &read).is_err() {
            // The old table stays; writers that are not in it wait. The next look tries again.
            state.generation = u64::MAX;
        }
    }

    /// Tells the writer of source `index` how far it has been read.
    fn acknowledge(&self, state: &State, index: usize) {
        let (Some(acks), Some(source)) = (&state.acks, state.sources.get(index)) else { return };
        if let Some(outlet) = self.context.registry().hot(source.slot.index) {
            acks.acknowledge(&self.context, outlet, index, source.done());
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
        let watermark = joining.map_or(0, |reach| self.start(found.hot, reach));
        let lifespan = match found.hot.qos().has_lifespan() {
            true => registry.detail(found.slot).map_or(i64::MAX, |detail| detail.qos.lifespan),
            false => i64::MAX,
        };
        let (slot, start, counted, next, waiting) = (found.slot, watermark, watermark, None, None);
        Source { slot, context, endpoint, context_id, start, counted, watermark, waiting, next, muted, lifespan }
    }

    /// Where a joiner starts on an outlet that was there before it.
    fn start(&self, outlet: &HotCell, reach: u64) -> u64 {
        // The claim has moved the topic's generation: either the writer sees this reader, or this is its newest head.
        let head = ring::head_after_registering(outlet.head());
        let offered = outlet.qos();
        if self.qos.durability == Durability::Volatile || offered.durability() == Durability::Volatile {
            return head;
        }
        let retained = u64::from(kept(offered.history(), offered.depth()));
        head - reach.min(retained).min(head)
    }

    /// The outlet's last committed sequence, as long as the slot is still the same outlet's.
    fn head(&self, source: &Source) -> Option<u64> {
        let registry = self.context.registry();
        let head = registry.hot(source.slot.index)?.head().load(Ordering::Acquire);
        registry.slot_state(source.slot).map(|_| head)
    }

    /// Ends draining for the classes in which nothing is left.
    fn prune(&self, state: &mut State, hot: &HotCell) {
        let mut left = state.active;
        while left != 0 {
            let bit = left & left.wrapping_neg();
            left &= !bit;
            let class = class_of(&state.sources, bit);
            class.clone().for_each(|index| self.expire(state, index));
            if !class.into_iter().any(|index| self.unread(&state.sources[index])) {
                state.active &= !bit;
                drain::finish(hot.draining(), bit);
            }
        }
    }

    /// Gives up samples that are older than their publisher lets them become.
    fn expire(&self, state: &mut State, index: usize) {
        let lifespan = state.sources[index].lifespan;
        while lifespan != i64::MAX && self.is_behind(&state.sources[index]) {
            let time = self.next_time(state, index);
            // One that is gone already is for the reader to find out.
            if time == i64::MIN || time.saturating_add(lifespan) > wall_ns() {
                return;
            }
            state.sources[index].watermark += 1;
        }
    }

    fn unread(&self, source: &Source) -> bool {
        source.waiting.is_some() || self.is_behind(source)
    }

    fn is_behind(&self, source: &Source) -> bool {
        !source.muted && self.head(source).is_some_and(|head| head > source.watermark)
    }

    /// The source with the oldest next sample, after giving up what KEEP_LAST does not keep.
    fn next(&self, state: &mut State, hot: &HotCell) -> Option<(usize, u64)> {
        loop {
            self.prune(state, hot);
            let (total, ready) = self.ready(state);
            let (first, rest) = ready.split_first()?;
            if rest.is_empty() {
                return Some((*first, state.sources[*first].watermark + 1));
            }
            let oldest = self.oldest(state, &ready)?;
            let sequence = state.sources[oldest].watermark + 1;
            if total <= self.depth || is_lossless(&self.qos) {
                return Some((oldest, sequence));
            }
            state.sources[oldest].watermark = sequence;
            self.dropped(state, 1);
        }
    }

    /// Indices of the sources that have unread samples, and how many samples that is in all.
    fn ready(&self, state: &mut State) -> (u64, Vec<usize>) {
        let mut total = 0u64;
        let mut ready = Vec::new();
        for index in 0..state.sources.len() {
            let source = state.sources[index];
            if source.muted || state.active & class_bit(source.slot) == 0 {
                continue;
            }
            let Some(head) = self.head(&source).filter(|head| *head > source.watermark) else { continue };
            let oldest_kept = head.saturating_sub(state.reach);
            if oldest_kept > source.watermark {
                self.dropped(state, oldest_kept - source.watermark);
                state.sources[index].watermark = oldest_kept;
            }
            total = total.saturating_add(head - source.watermark.max(oldest_kept));
            ready.push(index);
        }
        (total, ready)
    }

    /// Of several ready sources the one whose next sample is oldest by its source time.
    fn oldest(&self, state: &mut State, ready: &[usize]) -> Option<usize> {
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
    fn dropped(&self, state: &mut State, n: u64) {
        if self.qos.history == History::KeepAll {
            state.lost = state.lost.saturating_add(n);
            // Another thread may wait for the loss.
            self.context.registry().doorbell().ring();
        }
    }

    /// A sample could not be read. It is not lost where it has meanwhile left the newest ones that count.
    fn unreadable(&self, state: &mut State, index: usize, sequence: u64) {
        let kept = |head: u64| head.saturating_sub(state.reach) < sequence;
        if state.sources.get(index).and_then(|source| self.head(source)).is_none_or(kept) {
            state.lost = state.lost.saturating_add(1);
            self.context.registry().doorbell().ring();
        } else {
            self.dropped(state, 1);
        }
    }

    /// Samples that this reader should have got and did not.
    pub(crate) fn lost(&self) -> u64 {
        self.state.lock().lost
    }

    /// Source time of a source's next sample; one that is gone already sorts first, so that it is found lost soon.
    fn next_time(&self, state: &mut State, index: usize) -> i64 {
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
        let time = ring::read_meta(&reach, outlet.ring(), sequence).map_or(i64::MIN, |meta| meta.source_timestamp);
        state.sources[index].next = Some((sequence, time));
        time
    }

    /// Reads one sample into the sink. `Ok(None)`: it was lapped, or its memory is not what it should be.
    fn read(&self, state: &mut State, index: usize, sequence: u64, sink: Sink<'_>) -> Result<Option<Result<Taken>>> {
        let source = state.sources[index];
        let read = self.show(state, index, sequence, |meta, sample| sink(sample).map(|()| meta))?;
        Ok(read.map(|read| read.map(|meta| self.taken(state, &source, sequence, meta))))
    }

    /// Shows one sample to somebody. `Ok(None)`: as for [`read`](Self::read).
    fn show<R>(
        &self,
        state: &mut State,
        index: usize,
        sequence: u64,
        look: impl FnOnce(SlotMeta, Incoming) -> R,
    ) -> Result<Option<R>> {
        let source = state.sources[index];
        let registry = self.context.registry();
        let hazard = hazard(registry)?;
        let Some(outlet) = registry.hot(source.slot.index) else { return Ok(None) };
        let views = views_of(&mut state.views, source.context_id);
        let reach = state.views[views].reach(self.context.peers());
        let seen =
            ring::read(&reach, outlet.ring(), source.context, sequence, &hazard, &mut state.buffer, |meta, body| {
                // The slot may have changed hands since it was looked at: then this is somebody else's sample.
                registry.slot_state(source.slot)?;
                let encapsulation = meta.encapsulation.to_le_bytes();
                Some(look(meta, Incoming { encapsulation, ptr: body.ptr, len: body.len }))
            });
        state.views[views].tidy();
        match seen {
            Ok(seen) => Ok(seen),
            Err(ReadError::Lapped | ReadError::NotYet | ReadError::Invalid(_)) => Ok(None),
        }
    }

    fn taken(&self, state: &mut State, source: &Source, sequence: u64, meta: SlotMeta) -> Taken {
        state.taken += 1;
        let received = meta.source_timestamp.max(self.joined_at).max(state.last_received);
        state.last_received = received;
        Taken {
            meta,
            sequence,
            received,
            reception: state.taken,
            outlet: source.slot,
            endpoint: source.endpoint,
            context_id: source.context_id,
        }
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        if !*self.retired.get_mut() && self.context.is_usable() {
            self.context.registry().withdraw(self.slot);
            if let Some(acks) = &mut self.state.get_mut().acks {
                acks.free(&mut self.context.arena().lock());
            }
            self.context.collect_drained();
        }
    }
}

/// Indices of the sources of one class.
fn class_of(sources: &[Source], bit: u64) -> Range<usize> {
    let class = bit.trailing_zeros();
    let from = sources.partition_point(|source| source.slot.index % 64 < class);
    let to = sources.partition_point(|source| source.slot.index % 64 <= class);
    from..to
}

/// Index of a peer's mappings, made when missing.
fn views_of(views: &mut Vec<PeerViews>, context_id: u64) -> usize {
    views.iter().position(|views| views.context() == context_id).unwrap_or_else(|| {
        views.push(PeerViews::new(context_id));
        views.len() - 1
    })
}

/// Looks for a hazard word, when all are in use by threads that read at this moment.
const HAZARD_TRIES: usize = 100_000;

/// A hazard word of this context, for one read. Loans never take the last few.
pub(crate) fn hazard(registry: &Registry) -> Result<HazardSlot<'_>> {
    let acquire = || registry.hazards().acquire();
    let slow = || {
        (0..HAZARD_TRIES).find_map(|_| {
            std::thread::yield_now();
            acquire()
        })
    };
    acquire().or_else(slow).ok_or_else(|| {
        Error::Other("all hazard words of this context are in use: too many threads take at the same time".into())
    })
}
