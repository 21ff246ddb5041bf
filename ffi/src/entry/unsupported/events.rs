//! rmw/event.h

use std::ffi::c_void;

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::later::refuse;
use crate::handle::{check_ours, Handle};
use crate::sys;

exports! {
    /// Whether events of a type can be made.
    fn rmw_event_type_is_supported(rmw_event_type: sys::rmw_event_type_t) -> bool = |_event_type| Ok(false);
    /// Makes an event of a publisher.
    fn rmw_publisher_event_init(
        rmw_event: *mut sys::rmw_event_t,
        publisher: *const sys::rmw_publisher_t,
        event_type: sys::rmw_event_type_t,
    ) -> sys::rmw_ret_t = |event, publisher, _event_type| init("rmw_publisher_event_init", event, publisher);
    /// Makes an event of a subscription.
    fn rmw_subscription_event_init(
        rmw_event: *mut sys::rmw_event_t,
        subscription: *const sys::rmw_subscription_t,
        event_type: sys::rmw_event_type_t,
    ) -> sys::rmw_ret_t = |event, subscription, _event_type| {
        init("rmw_subscription_event_init", event, subscription)
    };
    /// Takes what happened.
    fn rmw_take_event(event_handle: *const sys::rmw_event_t, event_info: *mut c_void, taken: *mut bool)
        -> sys::rmw_ret_t = take;
    /// Calls back for each event.
    fn rmw_event_set_callback(
        event: *mut sys::rmw_event_t,
        callback: sys::rmw_event_callback_t,
        user_data: *const c_void,
    ) -> sys::rmw_ret_t = set_callback;
}

fn init<T: Handle>(name: &str, event: InOut<sys::rmw_event_t>, of: In<T>) -> Result<(), Failure> {
    event.pointer()?;
    of.handle()?;
    Err(refuse(name))
}

fn check<'call>(event: In<'call, sys::rmw_event_t>) -> Result<&'call sys::rmw_event_t, Failure> {
    let held = event.get()?;
    check_ours(held.implementation_identifier, event.name())?;
    Ok(held)
}

fn take(event: In<sys::rmw_event_t>, info: InOut<c_void>, taken: InOut<bool>) -> Result<(), Failure> {
    check(event)?;
    info.pointer()?;
    taken.pointer()?;
    Err(refuse("rmw_take_event"))
}

fn set_callback(
    event: InOut<sys::rmw_event_t>,
    _callback: sys::rmw_event_callback_t,
    _user_data: In<c_void>,
) -> Result<(), Failure> {
    check(event.shared())?;
    Err(refuse("rmw_event_set_callback"))
}
