//! shoal.h: what readers have taken, and where they began.

use std::time::Duration;

use shoal_rmw::ReaderLag;

use super::code;
use crate::boundary::{exports, Failure, In, InOut};
use crate::sys;

exports! {
    /// How far each matched subscription is behind.
    fn shoal_publisher_lag(
        publisher: *const sys::rmw_publisher_t,
        lags: *mut sys::shoal_reader_lag_t,
        capacity: usize,
        count: *mut usize,
    ) -> sys::rmw_ret_t = lag;
    /// Waits until each matched reliable subscription has taken what was sent.
    fn shoal_publisher_flush(
        publisher: *const sys::rmw_publisher_t,
        budget: *const sys::rmw_time_t,
        late: *mut sys::shoal_reader_lag_t,
        capacity: usize,
        count: *mut usize,
        outcome: *mut sys::shoal_outcome_t,
    ) -> sys::rmw_ret_t = flush;
    /// Where a subscription began to read a publisher.
    fn shoal_subscription_join_bound(
        subscription: *const sys::rmw_subscription_t,
        publisher_gid: *const u8,
        sequence: *mut u64,
    ) -> sys::rmw_ret_t = join_bound;
}

fn lag(
    publisher: In<sys::rmw_publisher_t>,
    lags: InOut<sys::shoal_reader_lag_t>,
    capacity: usize,
    count: InOut<usize>,
) -> Result<(), Failure> {
    let publisher = publisher.handle()?;
    count.pointer()?;
    report(&publisher.publisher.lag()?, lags, capacity, count)
}

fn flush(
    publisher: In<sys::rmw_publisher_t>,
    budget: In<sys::rmw_time_t>,
    late: InOut<sys::shoal_reader_lag_t>,
    capacity: usize,
    count: InOut<usize>,
    outcome: InOut<sys::shoal_outcome_t>,
) -> Result<(), Failure> {
    let publisher = publisher.handle()?;
    count.pointer()?;
    outcome.pointer()?;
    let budget: Option<Duration> = crate::entry::wait::duration(budget);
    let (ended, found) = publisher.publisher.flush(budget)?;
    report(&found, late, capacity, count)?;
    outcome.write(code(ended))
}

/// Writes as many as there is room for, and how many there are.
fn report(
    found: &[ReaderLag],
    lags: InOut<sys::shoal_reader_lag_t>,
    capacity: usize,
    count: InOut<usize>,
) -> Result<(), Failure> {
    lags.write_array(found.iter().take(capacity).map(to_c))?;
    count.write(found.len())
}

fn to_c(lag: &ReaderLag) -> sys::shoal_reader_lag_t {
    sys::shoal_reader_lag_t {
        subscription_gid: lag.gid,
        reliable: lag.reliable,
        known: lag.messages.is_some(),
        messages: lag.messages.unwrap_or(0),
        bytes: lag.bytes,
    }
}

fn join_bound(
    subscription: In<sys::rmw_subscription_t>,
    publisher_gid: In<u8>,
    sequence: InOut<u64>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    sequence.pointer()?;
    let gid = gid_of(publisher_gid)?;
    sequence.write(subscription.subscription.join_bound(&gid)?)
}

/// A GID as an array.
pub(super) fn gid_of(given: In<u8>) -> Result<[u8; sys::RMW_GID_STORAGE_SIZE as usize], Failure> {
    let mut gid = [0; sys::RMW_GID_STORAGE_SIZE as usize];
    let given = given.array(gid.len())?;
    gid.copy_from_slice(given);
    Ok(gid)
}
