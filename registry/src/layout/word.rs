//! The directory word: owner, seqlock and first filter of a slot.
//!
//! `state:4 | kind:4 | incarnation:32 | topic hash:24` from the low bit up. While a slot is CLAIMED the upper 24 bits
//! hold the index of the claiming context instead, so that a claimer that dies before it has written anything is known.
//!
//! 1. FREE → CLAIMED is a compare-and-swap; from then on only the owner (or, once it is dead, the one reaper that
//!    holds the kernel lock of its context) changes the word and writes the hot cell and the detail slot.
//! 2. CLAIMED → JOINING publishes both; JOINING → LIVE → CLOSED keep kind, incarnation and hash.
//! 3. → DYING → FREE with the next incarnation: whoever read the slot meanwhile sees the word changed.

use crate::hash::{TopicHash, HASH_MASK};
use crate::ident::Kind;

/// Where a slot is in its life.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
#[repr(u8)]
pub enum SlotState {
    /// Nobody's.
    Free = 0,
    /// Being filled.
    Claimed = 1,
    /// Visible to writers, not yet in the graph.
    Joining = 2,
    /// In the graph.
    Live = 3,
    /// Gone from the graph, its samples still readable.
    Closed = 4,
    /// Gone; peers are being told.
    Dying = 5,
}

const STATES: [SlotState; 6] =
    [SlotState::Free, SlotState::Claimed, SlotState::Joining, SlotState::Live, SlotState::Closed, SlotState::Dying];

const HASH_SHIFT: u32 = 40;
/// The bits in which the hash stands, for the directory scan.
pub(crate) const HASH_FIELD: u64 = HASH_MASK << HASH_SHIFT;

#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) struct Word(pub(crate) u64);

impl Word {
    pub(crate) fn free(incarnation: u32) -> Word {
        Word(u64::from(incarnation) << 8)
    }

    pub(crate) fn claimed(kind: Kind, incarnation: u32, ctx: u16) -> Word {
        Word(
            SlotState::Claimed as u64 | (kind as u64) << 4 | u64::from(incarnation) << 8 | u64::from(ctx) << HASH_SHIFT,
        )
    }

    pub(crate) fn of(state: SlotState, kind: Kind, incarnation: u32, topic: TopicHash) -> Word {
        let hash = (topic.0 & HASH_MASK) << HASH_SHIFT;
        Word(state as u64 | (kind as u64) << 4 | u64::from(incarnation) << 8 | hash)
    }

    /// `None` for a value outside the layout.
    pub(crate) fn state(self) -> Option<SlotState> {
        STATES.get((self.0 & 0xf) as usize).copied()
    }

    pub(crate) fn kind(self) -> Option<Kind> {
        Kind::from_bits(self.0 >> 4 & 0xf)
    }

    pub(crate) fn incarnation(self) -> u32 {
        (self.0 >> 8) as u32
    }

    pub(crate) fn topic(self) -> TopicHash {
        TopicHash(self.0 >> HASH_SHIFT)
    }

    /// The claiming context; meaningful while CLAIMED.
    pub(crate) fn claimer(self) -> u64 {
        self.0 >> HASH_SHIFT
    }

    pub(crate) fn with_state(self, state: SlotState) -> Word {
        Word(self.0 & !0xf | state as u64)
    }

    /// Same tenant: only the state may differ.
    pub(crate) fn same_tenant(self, other: Word) -> bool {
        (self.0 ^ other.0) & !0xf == 0
    }

    /// A tenant that others may look at: hot cell and detail slot are written.
    pub(crate) fn is_readable(self) -> bool {
        matches!(self.state(), Some(SlotState::Joining | SlotState::Live | SlotState::Closed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_gives_back_its_fields() {
        let topic = TopicHash::of("/chatter");
        let w = Word::of(SlotState::Joining, Kind::Service, 0xdead_beef, topic);
        assert_eq!((w.state(), w.kind()), (Some(SlotState::Joining), Some(Kind::Service)));
        assert_eq!((w.incarnation(), w.topic()), (0xdead_beef, topic));
        assert!(w.same_tenant(w.with_state(SlotState::Closed)));
        assert!(!w.same_tenant(Word::of(SlotState::Joining, Kind::Service, 0xdead_bef0, topic)));
        assert_eq!(Word::claimed(Kind::Node, 3, 4095).claimer(), 4095);
        assert_eq!(Word::free(9).state(), Some(SlotState::Free));
        assert_eq!(Word(u64::MAX).state(), None);
    }
}
