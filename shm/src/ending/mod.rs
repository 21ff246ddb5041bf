//! The end of a stream, said by its producer, and found by a reader only behind the last sample.
//!
//! Two words in the producer's cell: the ring's head, and one with a bit that says "finished".
//!
//! 1. The producer finishes once: after its last commit it sets the bit, and then tells its readers as after a commit
//!    (fence, mark, ring). It never commits again.
//! 2. A reader looks at the bit first and at the head second. The bit seen set, the head is the last one; the stream has
//!    ended for this reader once it has read that far.
//!
//! So the end never comes before a sample, however looks and the end race; and it is not missed, because the mark comes
//! after the bit: the reader's next look, which the mark asks for, finds it.
//!
//! Death: before the bit, the stream is broken, not finished. After it, before the mark: whoever reaps the producer marks.

mod day;
#[cfg(test)]
mod models;

pub use day::{days, end_day, end_of, MARKS, WORDS};

use crate::sync::{AtomicU64, Ordering};

/// Says that nothing follows. The caller has committed its last sample, and marks and rings after this.
pub fn finish(word: &AtomicU64, bit: u64) {
    // ORDERING(ending.last): Release: the last head comes before it. Meets `last`.
    word.fetch_or(bit, Ordering::Release);
}

/// The last sequence number of a stream that was finished; `None`: it goes on.
pub fn last(word: &AtomicU64, bit: u64, head: &AtomicU64) -> Option<u64> {
    // ORDERING(ending.last): Acquire, before the head: a bit that is seen shows the last head. Meets `finish`.
    if word.load(Ordering::Acquire) & bit == 0 {
        return None;
    }
    Some(head.load(Ordering::Acquire))
}
