//! Which classes of outlets a reader has still to look at, and when an outlet that left may give its memory back.
//!
//! A reader owns two words of 64 bits; an outlet belongs to the class "its slot index modulo 64". Several outlets may
//! share a class, which costs a wasted look, never a sample.
//!
//! - `pending`: peers set bits, only the reader clears them. A set bit says: an outlet of this class committed
//!   something since the reader last took the bit.
//! - `draining`: the reader alone writes it. A set bit says: the reader took the bit from `pending` and has not read
//!   everything of that class yet.
//!
//! Rules:
//! 1. A writer commits (head moves), fences (`SeqCst`), then [`mark`]s. Marking may find the bit set already; ringing the
//!    doorbell must not be skipped for that, because the one who set it may have died before it rang.
//! 2. A reader [`take_pending`]s: the bits enter `draining` *before* they leave `pending`, so a closer that looks at
//!    `pending` first and `draining` second finds every unread class in at least one of them.
//! 3. The reader then looks at the heads of the outlets of what `take_pending` returned (new bits and old draining
//!    ones), reads what is there, and calls [`finish`] with the classes it has read to the end. A sample committed
//!    after it looked has a pending bit of its own.
//! 4. A closer (the outlet's owner, or who reaps it) stops committing, makes sure that every commit is marked, and
//!    frees only when [`is_drained`] for every matched reader.
//!
//! Death: of a writer between commit and mark: the reaper marks for it (rule 4). Of a reader anywhere: its words are
//! gone with its slot, and nobody waits for them.

use crate::crash_point;
use crate::sync::{fence, AtomicU64, Ordering};

/// The bit of the class that the outlet in registry slot `slot` belongs to.
#[inline]
pub fn class_of(slot: u32) -> u64 {
    1 << (slot % 64)
}

/// Tells a reader that an outlet of class `bit` (one bit) committed. Returns whether the bit was clear before.
/// The caller must have put a `fence(SeqCst)` between its commit and this, and must look at the doorbell either way.
#[inline]
pub fn mark(pending: &AtomicU64, bit: u64) -> bool {
    // ORDERING(drain.mark): a set bit that is not yet taken needs no second store: the fence after the commit meets the
    // fence of `take_pending`, so a reader that clears the bit after this load sees the head.
    if pending.load(Ordering::Relaxed) & bit != 0 {
        return false;
    }
    pending.fetch_or(bit, Ordering::Release) & bit == 0
}

/// Moves the pending bits to `draining` and returns everything that is now to be looked at (also what was draining
/// before). The heads of those outlets may be read after this returns.
#[inline]
pub fn take_pending(pending: &AtomicU64, draining: &AtomicU64) -> u64 {
    take_with::<Full>(pending, draining)
}

/// Says that every sample of the classes `bits` that the reader was to look at has been read (or was lapped).
#[inline]
pub fn finish(draining: &AtomicU64, bits: u64) {
    finish_with::<Full>(draining, bits);
}

/// Whether a reader has nothing left to read of the classes `bits`. Once true, it stays true unless somebody marks.
#[inline]
pub fn is_drained(pending: &AtomicU64, draining: &AtomicU64, bits: u64) -> bool {
    drained_with::<Full>(pending, draining, bits)
}

/// The steps of the protocol whose order matters, so that a model can run it with one of them weakened.
pub(crate) trait Strength {
    /// Between clearing `pending` and reading heads.
    // ORDERING(drain.mark): meets the fence between a writer's commit and its `mark`.
    #[inline(always)]
    fn taken() {
        fence(Ordering::SeqCst);
    }

    // ORDERING(drain.finish): Release: our reads of payloads come before a closer's free. Meets `is_drained`.
    const FINISHED: Ordering = Ordering::Release;

    /// Whether the bits enter `draining` before they leave `pending`, and a closer looks in that order.
    const COVERED: bool = true;
}

pub(crate) struct Full;
impl Strength for Full {}

#[inline]
pub(crate) fn take_with<S: Strength>(pending: &AtomicU64, draining: &AtomicU64) -> u64 {
    let old = draining.load(Ordering::Relaxed);
    let bits = pending.load(Ordering::Relaxed);
    if bits == 0 {
        return old;
    }
    if S::COVERED {
        draining.fetch_or(bits, Ordering::Relaxed);
    }
    crash_point!("drain.covered");
    // ORDERING(drain.cover): Release: who sees the bits cleared sees them in `draining`. Meets `is_drained`. Acquire: who
    // marked has its head seen.
    pending.fetch_and(!bits, Ordering::AcqRel);
    crash_point!("drain.taken");
    if !S::COVERED {
        draining.fetch_or(bits, Ordering::Relaxed);
    }
    S::taken();
    old | bits
}

#[inline]
pub(crate) fn finish_with<S: Strength>(draining: &AtomicU64, bits: u64) {
    draining.fetch_and(!bits, S::FINISHED);
}

#[inline]
pub(crate) fn drained_with<S: Strength>(pending: &AtomicU64, draining: &AtomicU64, bits: u64) -> bool {
    // ORDERING(drain.cover): Acquire, and `pending` before `draining`: seeing a bit gone from the first shows the second as
    // it was when the bit left. ORDERING(drain.finish): Acquire: the reader's reads come before what we free.
    pending.load(Ordering::Acquire) & bits == 0 && draining.load(Ordering::Acquire) & bits == 0
}

#[cfg(test)]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
