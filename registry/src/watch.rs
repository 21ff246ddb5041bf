//! Telling peers that the graph changed: generations for those who look anyway, doorbells for those who asked.

use crate::ask::{ask, tell};
use crate::bitmap;
use crate::context::Registry;
use crate::hash::TopicHash;
use crate::ident::{Kind, Side, SlotId};
use crate::layout::Word;
use crate::qos::{ASKS, BOUNDED, WAITS};
use shoal_shm::sync::{AtomicU64, Ordering};

impl Registry {
    /// Moves whenever a publisher or client of the topic's bucket changes. Load it with Acquire, after a `fence(SeqCst)`
    /// where a sample could otherwise be missed.
    pub fn outlets_generation(&self, topic: TopicHash) -> &AtomicU64 {
        self.map.outlets_gen(topic)
    }

    /// Moves whenever a subscription or service of the topic's bucket changes. See
    /// [`outlets_generation`](Registry::outlets_generation).
    pub fn inlets_generation(&self, topic: TopicHash) -> &AtomicU64 {
        self.map.inlets_gen(topic)
    }

    /// Moves with every change of the graph.
    pub fn graph_generation(&self) -> u64 {
        // ORDERING(registry.generation): Acquire; meets `announce`: what changed is visible.
        self.map.header().graph_generation().load(Ordering::Acquire)
    }

    /// From now on every change of the graph rings this context's doorbell. The graph generation is to be read after
    /// this.
    pub fn watch_graph(&self) {
        if self.is_forked() {
            return;
        }
        let left = self.left.read();
        if *left {
            return;
        }
        if let Some((word, bit)) = bitmap::bit_of(self.map.header().watch(), usize::from(self.index)) {
            // ORDERING(registry.watch): meets `announce`: either the change sees the bit, or we see the generation moved.
            ask(word, bit);
        }
    }

    /// Has the topic's outlets keep this many unread samples for an own inlet, more than the depth in its profile, which
    /// the graph goes on showing. Anything but an own slot is left alone.
    pub fn set_reach(&self, s: SlotId, samples: u32) {
        let held = self.slot_state(s).is_some() && self.owns(s.index);
        let (Some(word), Some(hot)) = (self.word(s.index), self.hot(s.index)) else { return };
        if self.is_forked() || !held {
            return;
        }
        hot.set_depth(samples);
        // ORDERING(registry.generation): Release; as in `announce`. The graph is the same, so nobody is rung.
        self.inlets_generation(word.topic()).fetch_add(1, Ordering::AcqRel);
    }

    /// As [`set_reach`](Self::set_reach), and has the outlets keep that many at most, also for a subscription with KEEP_ALL.
    /// `waited_for`: they wait a while before they go beyond it.
    pub fn set_bound(&self, s: SlotId, samples: u32, waited_for: bool) {
        let held = self.slot_state(s).is_some() && self.owns(s.index);
        if let Some(hot) = self.hot(s.index).filter(|_| held && !self.is_forked()) {
            match waited_for {
                true => hot.wishes().fetch_or(BOUNDED | WAITS, Ordering::Relaxed),
                false => hot.wishes().fetch_and(!WAITS, Ordering::Relaxed),
            };
            hot.wishes().fetch_or(BOUNDED, Ordering::Relaxed);
        }
        self.set_reach(s, samples);
    }

    /// Asks the readers of an own publisher to say how far they are, from their next look on: it moves the generation by
    /// which they look. Anything but an own slot is left alone.
    pub fn ask_progress(&self, s: SlotId) {
        let held = self.slot_state(s).is_some() && self.owns(s.index);
        let (Some(word), Some(hot)) = (self.word(s.index), self.hot(s.index)) else { return };
        if self.is_forked() || !held {
            return;
        }
        hot.wishes().fetch_or(ASKS, Ordering::Relaxed);
        // ORDERING(registry.generation): Release; as in `announce`. The graph is the same, so nobody is rung.
        self.outlets_generation(word.topic()).fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn unwatch(&self, ctx: usize) {
        bitmap::clear(self.map.header().watch(), ctx);
    }

    /// From now on writers look at the hazards of this context although it has no endpoints. To be set before those go.
    pub(crate) fn set_leaver(&self, ctx: usize) {
        bitmap::set(self.map.header().leavers(), ctx);
    }

    pub(crate) fn clear_leaver(&self, ctx: usize) {
        bitmap::clear(self.map.header().leavers(), ctx);
    }

    /// The contexts whose bit is set. The readers must have been looked up before.
    pub(crate) fn leavers(&self) -> impl Iterator<Item = u16> + '_ {
        bitmap::marked(self.map.header().leavers())
    }

    /// Says that a slot of this kind and topic changed.
    pub(crate) fn announce(&self, kind: Kind, topic: TopicHash) {
        let of_topic = match kind.side() {
            Side::Outlet => Some(self.map.outlets_gen(topic)),
            Side::Inlet => Some(self.map.inlets_gen(topic)),
            Side::Neither => None,
        };
        // ORDERING(registry.watch): generations, then fence, then bitmap and wishes; meets `watch_graph` and `want`. The
        // same fence stands between a joiner's entry and its look at the heads; it meets the fence of a publisher after
        // its commit.
        tell(of_topic.into_iter().chain([self.map.header().graph_generation()]));
        self.ring_watchers();
    }

    /// Says that this slot entered or left the graph.
    pub(crate) fn announce_slot(&self, index: u32, word: Word) {
        if let Some(kind) = word.kind() {
            self.announce(kind, word.topic());
            self.ring_interested(index, word);
        }
    }

    fn ring_watchers(&self) {
        for bell in bitmap::members(self.map.header().watch()).filter_map(|ctx| self.doorbell_of(ctx)) {
            bell.ring_after_fence();
        }
    }
}
