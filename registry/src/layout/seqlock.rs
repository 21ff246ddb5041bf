//! The directory word as a seqlock over hot cell and detail slot.
//!
//! A tenant claims (the word changes), fills, publishes (the word changes again). A reader takes the word, reads, and
//! believes what it read only if the word still names the same tenant in a readable state. Nobody waits for anybody: a
//! tenant that dies or is stopped while filling leaves the word CLAIMED, which no reader looks behind.

use crate::layout::Word;
use shoal_shm::sync::{fence, AtomicU64, Ordering};

/// The two fences, so that the model can weaken them.
pub(crate) trait Strength {
    /// Between the claim and the first write of the new tenant.
    #[inline(always)]
    fn claimed() {
        // ORDERING(registry.slot): Release; meets `looked`: who read a word written after this sees the claim.
        fence(Ordering::Release);
    }

    /// Between a reader's last read and its second look at the word.
    #[inline(always)]
    fn looked() {
        // ORDERING(registry.slot): Acquire; meets `claimed`.
        fence(Ordering::Acquire);
    }
}

pub(crate) struct Full;
impl Strength for Full {}

/// The word, and with it everything that its tenant wrote before.
#[inline]
pub(crate) fn load(cell: &AtomicU64) -> Word {
    // ORDERING(registry.slot): Acquire; meets `store` and `step`.
    Word(cell.load(Ordering::Acquire))
}

/// Changes the word; the caller is the owner or its only reaper.
#[inline]
pub(crate) fn store(cell: &AtomicU64, word: Word) {
    // ORDERING(registry.slot): Release; meets `load`.
    cell.store(word.0, Ordering::Release);
}

/// Changes the word unless somebody was faster.
#[inline]
#[must_use]
pub(crate) fn step(cell: &AtomicU64, from: Word, to: Word) -> bool {
    // ORDERING(registry.slot): Release; meets `load`. Acquire: what the last tenant wrote comes before what we write.
    cell.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

/// Takes a free slot; hot cell and detail may be written if it answers true.
#[inline]
#[must_use]
pub(crate) fn claim(cell: &AtomicU64, free: Word, claimed: Word) -> bool {
    claim_with::<Full>(cell, free, claimed)
}

#[inline]
pub(crate) fn claim_with<S: Strength>(cell: &AtomicU64, free: Word, claimed: Word) -> bool {
    let won = step(cell, free, claimed);
    if won {
        S::claimed();
    }
    won
}

/// Runs `f`, which must read with relaxed loads only, on a readable slot; the word after it and what it answered, or
/// `None` when the slot is not readable or changed hands meanwhile.
#[inline]
pub(crate) fn read<T>(cell: &AtomicU64, f: impl FnOnce(Word) -> Option<T>) -> Option<(Word, T)> {
    read_with::<Full, T>(cell, f)
}

#[inline]
pub(crate) fn read_with<S: Strength, T>(cell: &AtomicU64, f: impl FnOnce(Word) -> Option<T>) -> Option<(Word, T)> {
    let before = load(cell);
    if !before.is_readable() {
        return None;
    }
    let answer = f(before)?;
    S::looked();
    let after = Word(cell.load(Ordering::Relaxed));
    (after.same_tenant(before) && after.is_readable()).then_some((after, answer))
}

#[cfg(test)]
mod models {
    use super::*;
    use crate::hash::TopicHash;
    use crate::ident::Kind;
    use crate::layout::SlotState;
    use shoal_shm::sync::{model, model_must_fail, thread, Arc};

    struct Slot {
        cell: AtomicU64,
        payload: [AtomicU64; 2],
    }

    fn word(state: SlotState, incarnation: u16) -> Word {
        Word::of(state, Kind::Publisher, incarnation, TopicHash(5))
    }

    /// Tenant 0 with payload 0, 0 goes; tenant 1 with payload 1, 1 comes; a reader sees one of them, or none.
    fn next_tenant<S: Strength + 'static>() {
        let slot = Arc::new(Slot {
            cell: AtomicU64::new(word(SlotState::Live, 0).0),
            payload: [AtomicU64::new(0), AtomicU64::new(0)],
        });
        let theirs = slot.clone();
        let tenants = thread::spawn(move || {
            store(&theirs.cell, word(SlotState::Dying, 0));
            store(&theirs.cell, Word::free(1));
            assert!(claim_with::<S>(&theirs.cell, Word::free(1), Word::claimed(Kind::Publisher, 1, 0)));
            theirs.payload.iter().for_each(|w| w.store(1, Ordering::Relaxed));
            store(&theirs.cell, word(SlotState::Joining, 1));
        });
        let read = |_| Some(slot.payload.each_ref().map(|w| w.load(Ordering::Relaxed)));
        if let Some((after, payload)) = read_with::<S, _>(&slot.cell, read) {
            assert_eq!(payload, [u64::from(after.incarnation()); 2], "a mixture of two tenants");
        }
        tenants.join().expect("tenants");
    }

    struct NoClaimFence;
    impl Strength for NoClaimFence {
        fn claimed() {}
    }

    struct NoLookFence;
    impl Strength for NoLookFence {
        fn looked() {}
    }

    #[test]
    fn a_reader_believes_one_tenant_or_none() {
        model(next_tenant::<Full>);
    }

    #[test]
    fn without_the_fence_after_the_claim_tenants_mix() {
        model_must_fail(next_tenant::<NoClaimFence>);
    }

    #[test]
    fn without_the_fence_before_the_second_look_tenants_mix() {
        model_must_fail(next_tenant::<NoLookFence>);
    }

    /// What a reader does must reach the second look even when the slot changes while it reads.
    #[test]
    fn a_slot_that_changes_hands_while_it_is_read_is_not_believed() {
        model(|| {
            let cell = AtomicU64::new(word(SlotState::Live, 0).0);
            let moved = |to: Word| {
                read(&cell, |_| {
                    store(&cell, to);
                    Some(())
                })
            };
            assert!(moved(word(SlotState::Closed, 0)).is_some(), "the state may move");
            assert_eq!(moved(word(SlotState::Closed, 1)), None);
            assert_eq!(moved(word(SlotState::Dying, 1)), None);
            assert_eq!(read(&cell, |_| Some(())), None, "not readable from the start");
        });
    }
}
