//! The reading half of an endpoint: the outlets it reads from, how far it has read each, and which comes next.
//!
//! Nothing is delivered to a reader: it is told which classes of outlets have something (pending), looks at their
//! heads in the registry, and reads their rings. History and live samples are the same slots, so each is read once.

mod arrivals;
mod bounds;
mod consumed;
mod filtering;
mod joining;
mod loans;
mod read;
mod select;
mod sources;
mod streams;
mod tally;
#[cfg(test)]
mod tests;
mod work;

use std::sync::Arc;

use parking_lot::Mutex;
use shoal_registry::{HotCell, Kind, Qos, SlotId};
use shoal_shm::drain;
use shoal_shm::ring::{InlineBuf, SlotMeta};
use shoal_shm::sync::{AtomicBool, Ordering};

use crate::acks::Acks;
use crate::bounds::Limits;
use crate::clock::wall_ns;
use crate::context::{Context, Memory};
use crate::error::{Error, Result};
use crate::filter::SampleFilter;
use crate::matching::{class_bit, is_lossless, Channel};
use crate::message::Sink;
use crate::outlet::hot_cell;
use crate::peers::PeerViews;
use consumed::Held;
use filtering::Filtering;
use sources::Source;
use streams::Streams;
use work::Work;

pub use bounds::SourceLag;
pub(crate) use read::hazard;
pub use streams::StreamEvent;
pub(crate) use streams::StreamNews;
pub use work::WorkItem;

/// Samples that one take finds gone, beyond those that a reader keeps, before it gives up for now.
const MISSES_MORE: u64 = 64;

/// A reader of the outlets of one topic.
pub(crate) struct Inlet {
    context: Arc<Context>,
    slot: SlotId,
    channel: Channel,
    outlets: Kind,
    qos: Qos,
    /// Unread samples kept, over all outlets.
    depth: u64,
    of_each: u64,
    ignore_local: bool,
    joined_at: i64,
    state: Mutex<State>,
    /// Locked with `state` held, and only where that says `filtered`.
    filtering: Mutex<Filtering>,
    /// Whether somebody wants to know of streams that end.
    watching: AtomicBool,
    /// Whether it shares work; then `State::work` is there.
    working: AtomicBool,
    /// The slot was handed on: a service's responses may outlive it.
    retired: AtomicBool,
}

/// What an inlet is made from.
pub(crate) struct InletPlan {
    pub(crate) slot: SlotId,
    pub(crate) channel: Channel,
    pub(crate) outlets: Kind,
    pub(crate) qos: Qos,
    /// How many unread samples count, of all outlets together.
    pub(crate) depth: u32,
    /// How many of them count of one outlet.
    pub(crate) of_each: u32,
    pub(crate) ignore_local: bool,
    pub(crate) filter: Option<Arc<dyn SampleFilter>>,
    pub(crate) limits: Option<Limits>,
}

struct State {
    generation: u64,
    /// Sorted by class, then slot.
    sources: Vec<Source>,
    /// Classes that may hold unread samples; the same as the draining word.
    active: u64,
    views: Vec<PeerViews>,
    /// Made when the first sample is read: most endpoints of a system never see one.
    buffer: Option<Box<InlineBuf>>,
    /// Scratch of the selection.
    ready: Vec<usize>,
    last_received: i64,
    taken: u64,
    lost: u64,
    /// How many of an outlet's newest samples are looked at: `of_each`, or more where a filter thins them.
    reach: u64,
    /// How far the reader may be behind.
    limits: Option<Limits>,
    /// Samples go through `Inlet::filtering`.
    filtered: bool,
    /// Of a reliable KEEP_ALL subscription: what its publishers are told.
    acks: Option<Acks>,
    /// Of a subscription that says itself what it has consumed: what it has taken and not consumed.
    held: Option<Held>,
    /// Of a subscription that claims items.
    work: Option<Work>,
    /// Whether somebody wants to know how many came.
    counting: bool,
    arrived: u64,
    streams: Streams,
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

impl Inlet {
    /// Joins: from here on each sample is either history that is read now, or its writer knows this reader.
    /// The registry slot must be claimed and not yet published; the caller publishes it afterwards.
    pub(crate) fn join(context: &Arc<Context>, plan: InletPlan) -> Result<Self> {
        let _using = context.using()?;
        let (depth, of_each) = (u64::from(plan.depth.max(1)), u64::from(plan.of_each.max(1)));
        let inlet = Self {
            context: context.clone(),
            slot: plan.slot,
            channel: plan.channel,
            outlets: plan.outlets,
            qos: plan.qos,
            depth,
            of_each,
            ignore_local: plan.ignore_local,
            joined_at: wall_ns(),
            state: Mutex::new(State {
                generation: 0,
                sources: Vec::new(),
                active: 0,
                views: Vec::new(),
                buffer: None,
                ready: Vec::new(),
                last_received: 0,
                taken: 0,
                lost: 0,
                reach: of_each,
                limits: plan.limits,
                filtered: false,
                acks: (plan.outlets == Kind::Publisher
                    && (is_lossless(&plan.qos) || plan.limits.is_some_and(|limits| limits.waits)))
                .then(Acks::default),
                held: None,
                work: None,
                counting: false,
                arrived: 0,
                streams: Streams::default(),
            }),
            filtering: Mutex::default(),
            watching: AtomicBool::new(false),
            working: AtomicBool::new(false),
            retired: AtomicBool::new(false),
        };
        inlet.set_filter(plan.filter);
        {
            let state = &mut *inlet.state.lock();
            if state.limits.is_some() {
                inlet.settle_reach(state);
            }
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
        let Ok(_using) = self.context.using() else { return false };
        let Ok(hot) = hot_cell(self.context.registry(), self.slot) else { return false };
        let state = &mut *self.state.lock();
        if state.filtered {
            return self.has_passed(state, hot);
        }
        if state.work.is_some() {
            return self.has_work(state, hot);
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
        let _using = self.context.using()?;
        let hot = hot_cell(self.context.registry(), self.slot)?;
        let state = &mut *self.state.lock();
        if state.work.is_some() {
            let what = "this subscription shares work: claim items instead of taking messages";
            return Err(Error::InvalidArgument(what.into()));
        }
        let outcome = match state.filtered {
            true => self.take_passed(state, hot, read),
            false => self.take_next(state, hot, read),
        };
        // A reader that is done says so at once: what it has read can be given back.
        self.prune(state, hot);
        outcome
    }

    fn take_next(&self, state: &mut State, hot: &HotCell, read: ReadOne<'_>) -> Result<Option<Taken>> {
        // Bounded, as a broken writer may move its head for ever and commit nothing. What is left is still unread then.
        for _ in 0..state.reach.saturating_add(MISSES_MORE) {
            self.poll(state, hot);
            let Some((index, sequence)) = self.next(state, hot) else { return Ok(None) };
            let read = read(state, index, sequence)?;
            state.sources[index].watermark = sequence;
            state.hold(index, sequence, &read);
            self.acknowledge(state, index);
            match read {
                Some(read) => return read.map(Some),
                None => self.miss(state, index, sequence),
            }
        }
        Ok(None)
    }

    /// Samples that this reader should have got and did not.
    pub(crate) fn lost(&self) -> u64 {
        self.state.lock().lost
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
}

impl Drop for Inlet {
    fn drop(&mut self) {
        if !self.retired.load(Ordering::Relaxed) && self.context.is_usable() {
            self.leave_work();
            self.context.registry().withdraw(self.slot);
            if let Some(acks) = &mut self.state.get_mut().acks {
                acks.free(&mut self.context.arena().lock());
            }
            self.context.collect_drained();
        }
    }
}
