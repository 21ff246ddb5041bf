//! rmw/rmw.h: content filters.

use crate::boundary::{exports, Failure, In, InOut};
use crate::content_filter::{self, Condition};
use crate::{strings, sys};

exports! {
    /// Sets the filter of a subscription.
    fn rmw_subscription_set_content_filter(
        subscription: *mut sys::rmw_subscription_t,
        options: *const sys::rmw_subscription_content_filter_options_t,
    ) -> sys::rmw_ret_t = set;
    /// The filter of a subscription.
    fn rmw_subscription_get_content_filter(
        subscription: *const sys::rmw_subscription_t,
        allocator: *mut sys::rcutils_allocator_t,
        options: *mut sys::rmw_subscription_content_filter_options_t,
    ) -> sys::rmw_ret_t = get;
}

fn set(
    subscription: InOut<sys::rmw_subscription_t>,
    options: In<sys::rmw_subscription_content_filter_options_t>,
) -> Result<(), Failure> {
    let data = subscription.handle()?;
    let condition = Condition::read(options)?;
    // The condition and the subscription's filter change together.
    let mut current = data.condition.lock();
    data.subscription.set_filter(condition.as_ref().map(|condition| condition.compile(&data.message)).transpose()?);
    let enabled = condition.is_some();
    *current = condition;
    drop(current);
    let outer = subscription.pointer()?;
    // SAFETY: a live handle of ours (`handle`), whose owner is in this call. Only this field is written: other threads
    // may read the others.
    unsafe { (&raw mut (*outer).is_cft_enabled).write(enabled) };
    Ok(())
}

fn get(
    subscription: In<sys::rmw_subscription_t>,
    allocator: InOut<sys::rcutils_allocator_t>,
    options: InOut<sys::rmw_subscription_content_filter_options_t>,
) -> Result<(), Failure> {
    let data = subscription.handle()?;
    let allocator = strings::allocator(allocator)?;
    options.pointer()?;
    let condition = data.condition.lock().clone();
    let condition = condition.ok_or_else(|| {
        Failure::error("the subscription has no content filter; set one with rmw_subscription_set_content_filter")
    })?;
    content_filter::write(&condition, &allocator, options)
}
