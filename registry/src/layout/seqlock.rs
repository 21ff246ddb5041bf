//! The directory word as a seqlock over hot cell and detail slot.
//!
//! A tenant claims (the word changes), fills, publishes (the word changes again). A reader takes the word, reads, and
//! believes what it read only if the word still names the same tenant in a readable state. Nobody waits for anybody: a
//! tenant that dies or is stopped while filling leaves the word CLAIMED, which no reader looks behind.

use crate::layout::{SlotState, Word};
use shoal_shm::sync::{fence, AtomicU64, Ordering};

/// How often a state change is retried when another thread of the owner changes the same slot.
const TRIES: usize = 64;

/// What the models weaken.
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

    /// Changes the word unless somebody was faster.
    // ORDERING(registry.slot): Release; meets `load`. Acquire: what the last tenant wrote comes before what we write.
    #[inline(always)]
    fn exchange(cell: &AtomicU64, from: Word, to: Word) -> bool {
        cell.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// The incarnation after this one.
    #[inline(always)]
    fn next(incarnation: u32) -> u32 {
        incarnation.wrapping_add(1)
    }
}

pub(crate) struct Full;
impl Strength for Full {}

/// The word, and with it everything that its tenant wrote before.
#[inline]
pub(crate) fn load(cell: &AtomicU64) -> Word {
    // ORDERING(registry.slot): Acquire; meets `store` and `exchange`.
    Word(cell.load(Ordering::Acquire))
}

/// Changes the word; the caller is the owner or its only reaper.
#[inline]
pub(crate) fn store(cell: &AtomicU64, word: Word) {
    // ORDERING(registry.slot): Release; meets `load`.
    cell.store(word.0, Ordering::Release);
}

/// Makes a slot free for the next tenant. The caller is the last one, or its only reaper.
#[inline]
pub(crate) fn release(cell: &AtomicU64, last: Word) {
    release_with::<Full>(cell, last);
}

fn release_with<S: Strength>(cell: &AtomicU64, last: Word) {
    store(cell, Word::free(S::next(last.incarnation())));
}

/// Changes the state of a tenant's slot, if it is one of `from`; the new word on success. Of two threads that do so at
/// once each finds what the other left.
pub(crate) fn advance(cell: &AtomicU64, incarnation: u32, from: &[SlotState], to: SlotState) -> Option<Word> {
    advance_with::<Full>(cell, incarnation, from, to)
}

fn advance_with<S: Strength>(cell: &AtomicU64, incarnation: u32, from: &[SlotState], to: SlotState) -> Option<Word> {
    for _ in 0..TRIES {
        let seen = load(cell);
        if seen.incarnation() != incarnation || !from.contains(&seen.state()?) {
            return None;
        }
        let next = seen.with_state(to);
        if S::exchange(cell, seen, next) {
            return Some(next);
        }
    }
    None
}

/// Takes a free slot; hot cell and detail may be written if it answers true.
#[inline]
#[must_use]
pub(crate) fn claim(cell: &AtomicU64, free: Word, claimed: Word) -> bool {
    claim_with::<Full>(cell, free, claimed)
}

#[inline]
pub(crate) fn claim_with<S: Strength>(cell: &AtomicU64, free: Word, claimed: Word) -> bool {
    let won = S::exchange(cell, free, claimed);
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
mod models;
