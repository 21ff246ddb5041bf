//! Wall-clock time as message infos carry it, and the clock of deadlines and leases.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use shoal_shm::futex::Deadline;

/// Nanoseconds since 1970.
pub(crate) fn wall_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// Nanoseconds of CLOCK_MONOTONIC, which all processes of a host share.
pub(crate) fn mono_ns() -> u64 {
    Deadline::after(Duration::ZERO).nanos()
}
