//! rmw/rmw.h: content filters.

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::later::refuse;
use crate::sys;

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
    subscription.handle()?;
    options.pointer()?;
    Err(refuse("rmw_subscription_set_content_filter"))
}

fn get(
    subscription: In<sys::rmw_subscription_t>,
    allocator: InOut<sys::rcutils_allocator_t>,
    options: InOut<sys::rmw_subscription_content_filter_options_t>,
) -> Result<(), Failure> {
    subscription.handle()?;
    allocator.pointer()?;
    options.pointer()?;
    Err(refuse("rmw_subscription_get_content_filter"))
}
