//! shoal.h: subscriptions that are slow, and joining again.

use std::time::Duration;

use shoal_rmw::{Bounds, SourceLag, Subscription, WhenBehind};

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::callbacks::callback_of;
use crate::sys;

exports! {
    /// Sets how far a subscription may be behind.
    fn shoal_subscription_set_bounds(
        subscription: *const sys::rmw_subscription_t,
        bounds: *const sys::shoal_bounds_t,
    ) -> sys::rmw_ret_t = set_bounds;
    /// How far a subscription is behind each of its publishers.
    fn shoal_subscription_lag(
        subscription: *const sys::rmw_subscription_t,
        lags: *mut sys::shoal_source_lag_t,
        capacity: usize,
        count: *mut usize,
    ) -> sys::rmw_ret_t = lag;
    /// Joins a publisher again.
    fn shoal_subscription_rejoin(
        subscription: *const sys::rmw_subscription_t,
        publisher_gid: *const u8,
        sequence: *mut u64,
    ) -> sys::rmw_ret_t = rejoin;
    /// Joins the publishers of several subscriptions at one instant each.
    fn shoal_join_many(
        subscriptions: *const *const sys::rmw_subscription_t,
        count: usize,
    ) -> sys::rmw_ret_t = join_many;
    /// Calls back when something became of a stream.
    fn shoal_subscription_set_on_stream_event_callback(
        subscription: *const sys::rmw_subscription_t,
        callback: sys::rmw_event_callback_t,
        user_data: *const std::ffi::c_void,
    ) -> sys::rmw_ret_t = |subscription: In<sys::rmw_subscription_t>, callback, user_data| {
        Ok(subscription.handle()?.subscription.on_stream_event(callback_of(callback, user_data))?)
    };
}

fn set_bounds(subscription: In<sys::rmw_subscription_t>, bounds: In<sys::shoal_bounds_t>) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    let given = bounds.get()?;
    let when_behind = match given.when_behind {
        sys::SHOAL_KEEP_LAST => WhenBehind::KeepLast,
        sys::SHOAL_SHED_READER => WhenBehind::Shed,
        sys::SHOAL_WAIT_FOR_READER => WhenBehind::Wait,
        other => return Err(Failure::invalid(format!("when_behind is {other}; see shoal_when_behind_t"))),
    };
    let some = |value: u64| (value != 0).then_some(value);
    let bounds = Bounds {
        messages: some(given.messages).map(|messages| u32::try_from(messages).unwrap_or(u32::MAX)),
        bytes: some(given.bytes),
        age: some(given.age).map(Duration::from_nanos),
        when_behind,
    };
    Ok(subscription.subscription.set_bounds(bounds)?)
}

fn lag(
    subscription: In<sys::rmw_subscription_t>,
    lags: InOut<sys::shoal_source_lag_t>,
    capacity: usize,
    count: InOut<usize>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    count.pointer()?;
    let found = subscription.subscription.lag()?;
    lags.write_array(found.iter().take(capacity).map(to_c))?;
    count.write(found.len())
}

fn to_c(lag: &SourceLag) -> sys::shoal_source_lag_t {
    let SourceLag { publisher, messages, bytes, shed } = *lag;
    sys::shoal_source_lag_t { publisher_gid: publisher, shed, messages, bytes }
}

fn rejoin(
    subscription: In<sys::rmw_subscription_t>,
    publisher_gid: In<u8>,
    sequence: InOut<u64>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    sequence.pointer()?;
    let gid = super::progress::gid_of(publisher_gid)?;
    sequence.write(subscription.subscription.rejoin(&gid)?)
}

fn join_many(subscriptions: In<*const sys::rmw_subscription_t>, count: usize) -> Result<(), Failure> {
    subscriptions.pointer()?;
    let mut found: Vec<&Subscription> = Vec::with_capacity(count.min(1024));
    for pointer in subscriptions.array(count)? {
        // SAFETY: by the function's header each is NULL or a live subscription during the call.
        let subscription = unsafe { In::from_raw(*pointer, "subscriptions[i]") };
        found.push(&subscription.handle()?.subscription);
    }
    Ok(Subscription::join_many(&found)?)
}
