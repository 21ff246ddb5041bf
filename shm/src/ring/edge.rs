//! The edge between a writer that publishes and a reader that joins.
//!
//! The writer commits, then looks whether the set of readers has moved; the joiner registers (which moves it), then looks
//! at the heads. With the two fences at least one of them sees the other, so a sample is at or below the head that the
//! joiner starts from, or its writer has seen the joiner, or both; never neither.

use super::strength::{Full, Strength};
use crate::sync::{AtomicU64, Ordering};

/// The generation of a topic's readers, loaded after a commit. Call this between the commit and looking at the list
/// of readers; the fence in here is also the one that [`drain::mark`](crate::drain::mark) asks for.
#[inline]
pub fn generation_after_commit(generation: &AtomicU64) -> u64 {
    generation_with::<Full>(generation)
}

/// A ring's head, loaded after the caller has registered itself as a reader (and moved the generation).
#[inline]
pub fn head_after_registering(head: &AtomicU64) -> u64 {
    head_with::<Full>(head)
}

/// A ring's head, for a reader that its writer knows.
#[inline]
pub fn newest(head: &AtomicU64) -> u64 {
    // ORDERING(ring.head): Acquire: the samples up to the head come before it. Meets `Writer::commit`.
    head.load(Ordering::Acquire)
}

/// The heads of several rings of one writer as they were at one instant, loaded after the caller has registered itself as a
/// reader of each. `None`: the writer moved one of them meanwhile, try again.
///
/// Each is looked at twice, all of them once before any a second time. Heads only grow, so one that is the same both times
/// has not moved in between, and at the moment between the two rounds all of them were as they were found. In what the
/// writer does one after the other this is one point: what it committed before one of the heads it found is at or below the
/// others.
pub fn heads_at_once(heads: &[&AtomicU64]) -> Option<Vec<u64>> {
    heads_with::<Full>(heads)
}

pub(super) fn heads_with<S: Strength>(heads: &[&AtomicU64]) -> Option<Vec<u64>> {
    S::registered();
    // ORDERING(ring.cut): Acquire: who commits here and then there is seen here, too, in the second round, if it was seen
    // there in the first. Meets `Writer::commit`.
    let first: Vec<u64> = heads.iter().map(|head| head.load(S::FIRST_ROUND)).collect();
    let same = |(head, first): (&&AtomicU64, &u64)| head.load(Ordering::Acquire) == *first;
    (!S::SECOND_ROUND || heads.iter().zip(&first).all(same)).then_some(first)
}

#[inline]
pub(super) fn generation_with<S: Strength>(generation: &AtomicU64) -> u64 {
    S::published();
    // ORDERING(ring.join): Acquire: what the joiner wrote before it moved the generation is seen with the move.
    generation.load(Ordering::Acquire)
}

#[inline]
pub(super) fn head_with<S: Strength>(head: &AtomicU64) -> u64 {
    S::registered();
    newest(head)
}
