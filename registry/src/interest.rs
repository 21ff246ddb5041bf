//! What an endpoint wants to be woken for when its peers come and go.
//!
//! 1. An endpoint says what it wants, fences, and then reads its topic's generation before it looks at its peers.
//! 2. Whoever changes an endpoint moves the generation, fences, and then looks at what the peers want.
//!
//! So either the change is seen by the look, or the change sees the wish and rings. Nobody is rung for a change that does
//! not concern it: thousands of endpoints that only ask to be told of mismatches sleep through every other join.

use crate::ask::ask;
use crate::context::Registry;
use crate::ident::{Kind, SlotId};
use crate::layout::{HotCell, SlotState, Word};
use crate::qos::{qos_compatible, Qos, INTEREST};
use shoal_shm::sync::{fence, Ordering};

/// A set of wishes; four bits of the hot cell's QoS word.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default)]
pub struct Interest(pub(crate) u64);

impl Interest {
    /// Peers that match come or go.
    pub const MATCHED: Interest = Interest(1);
    /// Peers come that would match, but for their profile.
    pub const INCOMPATIBLE_QOS: Interest = Interest(2);
    /// Peers come with another type.
    pub const INCOMPATIBLE_TYPE: Interest = Interest(4);
    /// The streams of matched publishers end or break.
    pub const ENDINGS: Interest = Interest(8);

    pub(crate) const ALL: u64 = 15;
    /// Whom it concerns that a match went.
    const WENT: Interest = Interest(1 | 8);

    pub(crate) fn meets(self, other: Interest) -> bool {
        self.0 & other.0 != 0
    }
}

impl Registry {
    /// From now on what `interest` names rings this context's doorbell, for an own slot. The topic's generation is to be
    /// read after this.
    pub fn want(&self, s: SlotId, interest: Interest) {
        if self.is_forked() {
            return;
        }
        // Held throughout: while this context has not left, an own slot stays its own.
        let left = self.left.read();
        if *left || !self.owns(s.index) {
            return;
        }
        if let Some(hot) = self.map.hot(s.index) {
            // ORDERING(registry.interest): meets `announce`: either the change sees the wish, or we see the generation.
            ask(hot.wishes(), interest.0 << INTEREST);
        }
    }

    /// Rings the peers that want to know of what just happened to this slot. The caller has announced it.
    pub(crate) fn ring_interested(&self, index: u32, word: Word) {
        let Some((peers, hot)) = word.kind().and_then(Kind::topic_peer).zip(self.map.hot(index)) else { return };
        let came = word.state() == Some(SlotState::Live);
        let own = SlotId { index, incarnation: word.incarnation() };
        self.for_each_matching(&[peers], word.topic(), 0, &mut |peer| {
            let wants = peer.hot.qos().interest();
            if wants == Interest::default() || peer.state == SlotState::Closed {
                return;
            }
            let concern = match peer.hot.match_key() == hot.match_key() {
                true if !came => Interest::WENT,
                true if self.is_met(own, hot, peer.slot, peer.hot, peers) => Interest::MATCHED,
                true => Interest::INCOMPATIBLE_QOS,
                false if came => Interest::INCOMPATIBLE_TYPE,
                false => Interest::default(),
            };
            if wants.meets(concern) {
                if let Some(bell) = self.doorbell_of(peer.hot.owner().0) {
                    bell.ring_after_fence();
                }
            }
        });
    }

    /// Rings the peers that match this own slot and watch it, after what they look at has changed.
    pub fn ring_matched(&self, s: SlotId) {
        let Some(word) = self.word(s.index).filter(|word| word.incarnation() == s.incarnation) else { return };
        let Some((peers, hot)) = word.kind().and_then(Kind::topic_peer).zip(self.map.hot(s.index)) else { return };
        // ORDERING(registry.interest): the change, then fence, then the peers' wishes; meets the fence in `want`.
        fence(Ordering::SeqCst);
        self.for_each_matching(&[peers], word.topic(), hot.match_key(), &mut |peer| {
            if peer.hot.qos().interest().meets(Interest::MATCHED) {
                if let Some(bell) = self.doorbell_of(peer.hot.owner().0) {
                    bell.ring_after_fence();
                }
            }
        });
    }

    fn is_met(&self, own: SlotId, hot: &HotCell, peer: SlotId, peer_hot: &HotCell, peers: Kind) -> bool {
        let profile = |slot, hot: &HotCell| -> Option<Qos> { hot.qos().for_match().or_else(|| self.qos_of(slot)) };
        let (Some(mine), Some(theirs)) = (profile(own, hot), profile(peer, peer_hot)) else { return false };
        match peers {
            Kind::Subscription => qos_compatible(&mine, &theirs).is_ok(),
            _ => qos_compatible(&theirs, &mine).is_ok(),
        }
    }
}
