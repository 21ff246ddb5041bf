//! The ends of days of a producer: a session is over, and the stream goes on.
//!
//! Eight words, which the producer alone writes: how many days have ended, and the last sequence number of each of the
//! newest [`MARKS`].
//!
//! 1. The producer stores its last committed sequence number as the end of the next day, then the new count, and then
//!    tells its readers as after a commit (fence, mark, ring).
//! 2. A reader looks at the count first and at an end second. A day that is counted has its end there, or, where more
//!    days have ended since than there are marks, the end of a later one, which is not less.
//!
//! So a day never ends for a reader before it has read what was sent in it, and a reader that looks only now and then
//! finds each of the last [`MARKS`] ends at its place. None is missed, because the mark comes after the count.
//!
//! Death: before the count, the day goes on. After it, before the mark: whoever reaps the producer marks.

use crate::crash_point;
use crate::sync::{AtomicU64, Ordering};

/// How many ends keep their place.
pub const MARKS: usize = 7;

/// The words of one producer; all zero at first.
pub const WORDS: usize = MARKS + 1;

/// What the models weaken.
pub(super) trait Strength {
    // ORDERING(ending.day): Release: the end comes before its count. Meets `days`.
    const COUNTED: Ordering = Ordering::Release;
}

pub(super) struct Full;
impl Strength for Full {}

/// Says that the producer's `day`, from 1, ends behind sample `last`. The caller marks and rings after this.
pub fn end_day(words: &[AtomicU64; WORDS], day: u64, last: u64) {
    end_day_with::<Full>(words, day, last);
}

pub(super) fn end_day_with<S: Strength>(words: &[AtomicU64; WORDS], day: u64, last: u64) {
    mark_of(words, day).store(last, Ordering::Relaxed);
    crash_point!("day.marked");
    words[0].store(day, S::COUNTED);
    crash_point!("day.counted");
}

/// How many days have ended.
pub fn days(words: &[AtomicU64; WORDS]) -> u64 {
    // ORDERING(ending.day): Acquire: the ends of what is counted are seen. Meets `end_day`.
    words[0].load(Ordering::Acquire)
}

/// The last sequence number of a day (from 1) that [`days`] has counted, or of a later one.
pub fn end_of(words: &[AtomicU64; WORDS], day: u64) -> u64 {
    mark_of(words, day).load(Ordering::Relaxed)
}

fn mark_of(words: &[AtomicU64; WORDS], day: u64) -> &AtomicU64 {
    &words[1 + (day % MARKS as u64) as usize]
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_newest_ends_keep_their_places_and_an_older_one_is_as_late_as_a_newer() {
        let words = std::array::from_fn(|_| AtomicU64::new(0));
        (1..=10).for_each(|day| end_day(&words, day, day * 100));
        assert_eq!(days(&words), 10);
        for day in 1..=10 {
            let end = end_of(&words, day);
            assert_eq!(end, if day > 3 { day * 100 } else { (day + 7) * 100 }, "day {day}");
        }
    }
}
