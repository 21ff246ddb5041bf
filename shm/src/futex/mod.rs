//! Sleeping on a word of shared memory, with absolute deadlines.
//!
//! The words may lie in any shared mapping, so the futexes are not PRIVATE. An interrupted sleep is reported and not
//! resumed: the caller decides what a signal means.

mod many;
#[cfg(test)]
mod tests;

use crate::sync::{address, AtomicU32};
use std::time::Duration;

pub use many::wait_any;

/// A moment of CLOCK_MONOTONIC, as nanoseconds of that clock.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Deadline(u64);

impl Deadline {
    /// The moment `after` from now; the end of time where the sum does not fit.
    pub fn after(after: Duration) -> Deadline {
        let nanos = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        Deadline(now_nanos().saturating_add(nanos).min(i64::MAX as u64))
    }

    /// The moment that CLOCK_MONOTONIC shows as `nanos`.
    pub fn at(nanos: u64) -> Deadline {
        Deadline(nanos.min(i64::MAX as u64))
    }

    /// The moment as nanoseconds of CLOCK_MONOTONIC.
    pub fn nanos(self) -> u64 {
        self.0
    }

    /// Whether the moment has come.
    pub fn passed(self) -> bool {
        now_nanos() >= self.0
    }

    fn timespec(self) -> libc::timespec {
        libc::timespec {
            tv_sec: (self.0 / 1_000_000_000) as libc::time_t,
            tv_nsec: (self.0 % 1_000_000_000) as libc::c_long,
        }
    }
}

fn now_nanos() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux and the result lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// How a sleep ended. Look at the condition again after every one of them: wake-ups may be spurious.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WaitEnd {
    /// Somebody woke the word.
    Woken,
    /// The word did not have the expected value, so nobody slept.
    Changed,
    /// The deadline passed.
    TimedOut,
    /// A signal handler ran.
    Signal,
}

/// Sleeps while `word` is `expected`, until woken, the deadline or a signal. No deadline: for ever.
pub fn wait(word: &AtomicU32, expected: u32, deadline: Option<Deadline>) -> WaitEnd {
    let Some(address) = address(word) else { return WaitEnd::Changed };
    let until = deadline.map(Deadline::timespec);
    let until = until.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time live through the call; the kernel only reads both. FUTEX_WAIT_BITSET takes an
    // absolute time of CLOCK_MONOTONIC unless told otherwise.
    let result = unsafe {
        libc::syscall(
            libc::SYS_futex,
            address,
            libc::FUTEX_WAIT_BITSET,
            expected,
            until,
            std::ptr::null::<u32>(),
            libc::FUTEX_BITSET_MATCH_ANY,
        )
    };
    end_of(result)
}

/// Wakes everyone who sleeps on the word. Async-signal-safe; keeps errno. Answers how many were woken.
pub fn wake_all(word: &AtomicU32) -> u32 {
    let Some(address) = address(word) else { return 0 };
    // SAFETY: the word lives through the call, which neither reads nor writes it. errno is this thread's own.
    let woken = unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let woken = libc::syscall(libc::SYS_futex, address, libc::FUTEX_WAKE, i32::MAX);
        *errno = before;
        woken
    };
    u32::try_from(woken).unwrap_or(0)
}

fn end_of(result: libc::c_long) -> WaitEnd {
    if result >= 0 {
        return WaitEnd::Woken;
    }
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::ETIMEDOUT) => WaitEnd::TimedOut,
        Some(libc::EINTR) => WaitEnd::Signal,
        // EAGAIN. Whatever else it may be, nobody slept and the caller looks again.
        _ => WaitEnd::Changed,
    }
}
