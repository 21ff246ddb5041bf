//! Whether a thread looks for work again and again for a moment before it goes to sleep.
//!
//! To sleep and be woken costs a system call on either side and several microseconds in between. Where what is waited
//! for comes sooner than that, looking costs less and is faster; where it does not, looking is for nothing. Nobody knows
//! which it will be, so a thread takes its own last waits for a guide: only after several in a row that were over within
//! [`MOMENT`] does it look before it sleeps, and each time that was for nothing it wants twice as many. So a thread that
//! waits for what is rare never looks, one that reads bursts looks in vain once at the end of a burst, and on a machine
//! that has not enough processors, where being woken takes long, nobody does.
//!
//! A thread that looks is not parked, so nobody rings it; nothing of this touches shared memory.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a thread looks: a few times what it takes to sleep and be woken.
const MOMENT: Duration = Duration::from_micros(50);

/// Short waits in a row that are wanted at first, and at most.
const FEW: u32 = 4;
const MANY: u32 = 1024;

/// What a thread remembers of its waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Patience {
    /// Waits in a row, the last one among them, that were over within a moment.
    short: u32,
    /// As many of them make the thread look.
    wanted: u32,
}

impl Patience {
    const NEW: Self = Self { short: 0, wanted: FEW };

    fn looks(self) -> bool {
        self.short >= self.wanted
    }

    /// The wait was over within a moment. As many of those as were wanted halve what is wanted.
    fn after_short(self) -> Self {
        let short = self.short.saturating_add(1);
        let wanted = if short % self.wanted.saturating_mul(2) == 0 { (self.wanted / 2).max(FEW) } else { self.wanted };
        Self { short, wanted }
    }

    /// The wait was not, or brought nothing.
    fn after_long(self) -> Self {
        let wanted = if self.looks() { (self.wanted * 2).min(MANY) } else { self.wanted };
        Self { short: 0, wanted }
    }
}

thread_local! {
    static PATIENCE: Cell<Patience> = const { Cell::new(Patience::NEW) };
}

/// A wait of this thread whose first look found nothing.
pub(super) struct Pause {
    since: Instant,
    before: Patience,
}

impl Pause {
    pub(super) fn begin() -> Self {
        let before = PATIENCE.get();
        PATIENCE.set(before.after_long());
        Self { since: Instant::now(), before }
    }

    /// Looks until `found`, for a moment, if the last waits say that it is worth it. Answers whether it was.
    pub(super) fn look(&self, mut found: impl FnMut() -> bool) -> bool {
        if !self.before.looks() || is_alone() {
            return false;
        }
        while self.since.elapsed() <= MOMENT {
            if found() {
                return true;
            }
            std::hint::spin_loop();
        }
        false
    }

    /// The wait ends because something came.
    pub(super) fn end(self) {
        if self.since.elapsed() <= MOMENT {
            PATIENCE.set(self.before.after_short());
        }
    }
}

/// Has the calling thread go to sleep at once from now on, for tests of what happens there.
#[doc(hidden)]
pub fn sleep_at_once() {
    PATIENCE.set(Patience { short: 0, wanted: u32::MAX });
}

/// Whether this process has one processor, so that nobody else does anything while it looks.
fn is_alone() -> bool {
    static ALONE: OnceLock<bool> = OnceLock::new();
    *ALONE.get_or_init(|| std::thread::available_parallelism().is_ok_and(|processors| processors.get() == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `waits` waits looked in vain, and how many found something: `short` says which are over in time.
    fn looks(waits: u32, short: impl Fn(u32) -> bool) -> (u32, u32) {
        let (mut patience, mut vain, mut found) = (Patience::NEW, 0, 0);
        for wait in 0..waits {
            match (patience.looks(), short(wait)) {
                (true, true) => found += 1,
                (true, false) => vain += 1,
                (false, _) => {}
            }
            patience = if short(wait) { patience.after_short() } else { patience.after_long() };
        }
        (vain, found)
    }

    #[test]
    fn a_thread_that_waits_for_what_is_rare_never_looks() {
        assert_eq!(looks(10_000, |_| false), (0, 0));
        assert_eq!(looks(10_000, |wait| wait % 2 == 0), (0, 0));
    }

    #[test]
    fn a_thread_in_a_conversation_looks_from_the_fifth_wait_on() {
        assert_eq!(looks(10_000, |_| true), (0, 10_000 - FEW));
    }

    #[test]
    fn a_thread_that_reads_short_bursts_soon_stops_looking() {
        let (vain, _) = looks(100_000, |wait| wait % 6 != 0);
        assert_eq!(vain, 1, "then a burst is shorter than what is wanted");
    }

    #[test]
    fn a_thread_that_reads_long_bursts_looks_in_vain_at_most_once_a_burst() {
        let (vain, found) = looks(100_000, |wait| wait % 100 != 0);
        assert!(vain <= 1000, "{vain}");
        assert!(found >= 20 * vain, "{found} of {vain}");
    }

    #[test]
    fn what_was_for_nothing_is_forgotten_in_a_conversation() {
        let mut patience = Patience { short: 0, wanted: MANY };
        for _ in 0..20_000 {
            patience = patience.after_short();
        }
        assert_eq!(patience.wanted, FEW);
    }

    #[test]
    fn a_wait_that_brings_nothing_counts_as_long_also_if_it_was_over_soon() {
        PATIENCE.set(Patience { short: FEW, wanted: FEW });
        let _ = Pause::begin();
        assert_eq!(PATIENCE.get(), Patience { short: 0, wanted: 2 * FEW });
        PATIENCE.set(Patience { short: 1, wanted: FEW });
        Pause { since: Instant::now(), before: PATIENCE.get() }.end();
        let long_ago = Instant::now().checked_sub(Duration::from_secs(1)).expect("the machine runs for a second");
        PATIENCE.set(Patience::NEW);
        Pause { since: long_ago, before: Patience { short: 9, wanted: FEW } }.end();
        assert_eq!(PATIENCE.get(), Patience::NEW);
    }
}
