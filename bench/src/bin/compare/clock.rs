//! Clocks and what a process has used.

use std::time::Duration;

fn read(clock: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux and the result lives through the call.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// CLOCK_MONOTONIC in ns.
pub fn now() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// What this process has used of the processors, in ns.
pub fn cpu() -> u64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Page faults of this process so far.
pub fn faults() -> u64 {
    // SAFETY: integers only.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the result lives through the call.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    (usage.ru_minflt + usage.ru_majflt) as u64
}

/// A number of seconds.
pub fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}
