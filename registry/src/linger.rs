//! Which outlets that closed, or whose process died, still hold samples that a matched reader has not taken.

use crate::context::Registry;
use crate::find::Found;
use crate::hash::TopicHash;
use crate::ident::{Kind, SlotId};
use crate::interest::Interest;
use crate::layout::{HotCell, SlotState, Word};
use crate::qos::{qos_compatible, Durability, History, HotQos, Reliability, KEEP_ALL_DEPTH, SERVICE_DEPTH};
use shoal_shm::drain;
use shoal_shm::sync::{fence, Ordering};

impl Registry {
    /// Whether nobody needs the samples of this outlet any more: every matched reader has drained it or is gone, or
    /// more outlets of the topic closed after it than the deepest of the others could take in. True for kinds whose samples
    /// are not kept (clients' requests), and for slots that are gone. Once true for a closed outlet, it stays true.
    pub fn is_drained(&self, s: SlotId) -> bool {
        match self.word(s.index) {
            Some(word) if word.incarnation() == s.incarnation && word.is_readable() => self.is_unwanted(s.index, word),
            _ => true,
        }
    }

    pub(crate) fn is_unwanted(&self, index: u32, word: Word) -> bool {
        let Some((reader, hot)) = word.kind().and_then(Kind::lingers_for).zip(self.map.hot(index)) else { return true };
        let (samples, ended) = (has_samples(hot), self.has_ended(index, word, hot));
        if !samples && !ended {
            return true;
        }
        let offered = hot.qos();
        let bit = drain::class_of(index);
        let me = SlotId { index, incarnation: word.incarnation() };
        // Of the readers that have not drained it; 0: there are none.
        let mut deepest = 0;
        self.for_each_reader(reader, word.topic(), hot, &mut |f| {
            if !may_match(offered, f.hot.qos()) {
                return;
            }
            let told = ended && wants_endings(f.hot);
            let least = if told { ENDINGS_KEPT } else { 1 };
            let unread = !drain::is_drained(f.hot.pending(), f.hot.draining(), bit);
            if unread && (samples || told) && self.do_match(me, f.slot) {
                deepest = deepest.max(kept_for(reader, f.hot.qos())).max(least);
            }
        });
        deepest == 0 || self.closed_after(index, word, hot) >= deepest
    }

    /// Marks the outlet at every reader, for an owner that may have died between its last commit and its mark; where it
    /// never committed, at those that want to know that its stream ended.
    pub(crate) fn mark_for(&self, index: u32, word: Word) {
        let Some((reader, hot)) = word.kind().and_then(Kind::lingers_for).zip(self.map.hot(index)) else { return };
        let (samples, ended) = (has_samples(hot), self.has_ended(index, word, hot));
        if !samples && !ended {
            return;
        }
        let bit = drain::class_of(index);
        let mut contexts = Vec::new();
        // ORDERING(registry.interest): the death, then fence, then wishes; meets the fence in `want`.
        fence(Ordering::SeqCst);
        self.for_each_reader(reader, word.topic(), hot, &mut |f| {
            if samples || wants_endings(f.hot) {
                drain::mark(f.hot.pending(), bit);
                contexts.push(f.hot.owner().0);
            }
        });
        // ORDERING(drain.mark): marks, then fence, then doorbells, as a publisher does.
        fence(Ordering::SeqCst);
        for bell in contexts.into_iter().filter_map(|ctx| self.doorbell_of(ctx)) {
            bell.ring_after_fence();
        }
    }

    fn for_each_reader(&self, kind: Kind, topic: TopicHash, outlet: &HotCell, f: &mut dyn FnMut(&Found<'_>)) {
        self.for_each_matching(&[kind], topic, outlet.match_key(), &mut |found| {
            let (ctx, _) = found.hot.owner();
            if found.state != SlotState::Closed && self.is_live_entry(ctx, found.hot.ctx_id()) {
                f(&found);
            }
        });
    }

    fn do_match(&self, outlet: SlotId, reader: SlotId) -> bool {
        match (self.qos_of(outlet), self.qos_of(reader)) {
            (Some(offered), Some(requested)) => qos_compatible(&offered, &requested).is_ok(),
            // One of them just went, or is not readable: nobody can match it.
            _ => false,
        }
    }

    /// How many outlets of the same match closed later than this one. An outlet that is not stamped yet is the newest.
    fn closed_after(&self, index: u32, word: Word, hot: &HotCell) -> u32 {
        let stamp = |i: u32| self.closed_at(i).map_or(0, |s| s.load(Ordering::Relaxed));
        let (mine, Some(kind)) = (stamp(index), word.kind()) else { return 0 };
        if mine == 0 || word.state() != Some(SlotState::Closed) {
            return 0;
        }
        let mut later = 0;
        self.for_each_matching(&[kind], word.topic(), hot.match_key(), &mut |f| {
            let other = stamp(f.slot.index);
            later += u32::from(f.state == SlotState::Closed && f.slot.index != index && (other == 0 || other > mine));
        });
        later
    }
}

/// Whether the outlet ever committed anything. A service has no head of its own, but a response table from its first
/// client on.
fn has_samples(outlet: &HotCell) -> bool {
    outlet.head().load(Ordering::Acquire) != 0 || outlet.ring().load(Ordering::Acquire) != 0
}

/// How many ended publishers of a topic are kept for readers that want to know of each, and do not look.
const ENDINGS_KEPT: u32 = 64;

fn wants_endings(reader: &HotCell) -> bool {
    reader.qos().interest().meets(Interest::ENDINGS)
}

/// How many unread samples are kept for a reader.
fn kept_for(reader: Kind, requested: HotQos) -> u32 {
    match (reader, requested.history()) {
        (Kind::Client, _) => SERVICE_DEPTH,
        (_, History::KeepAll) => KEEP_ALL_DEPTH,
        (_, History::KeepLast) => requested.depth(),
    }
}

/// By what the hot cells tell.
fn may_match(offered: HotQos, requested: HotQos) -> bool {
    let reliable = offered.reliability() == Reliability::Reliable || requested.reliability() != Reliability::Reliable;
    let latched =
        offered.durability() == Durability::TransientLocal || requested.durability() != Durability::TransientLocal;
    reliable && latched
}
