//! rmw/rmw.h: callbacks instead of waiting.

use std::ffi::c_void;

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::later::refuse;
use crate::handle::Handle;
use crate::sys;

exports! {
    /// Calls back for each new message.
    fn rmw_subscription_set_on_new_message_callback(
        subscription: *mut sys::rmw_subscription_t,
        callback: sys::rmw_event_callback_t,
        user_data: *const c_void,
    ) -> sys::rmw_ret_t = |handle, callback, user_data| {
        set("rmw_subscription_set_on_new_message_callback", handle, callback, user_data)
    };
    /// Calls back for each new request.
    fn rmw_service_set_on_new_request_callback(
        service: *mut sys::rmw_service_t,
        callback: sys::rmw_event_callback_t,
        user_data: *const c_void,
    ) -> sys::rmw_ret_t = |handle, callback, user_data| {
        set("rmw_service_set_on_new_request_callback", handle, callback, user_data)
    };
    /// Calls back for each new response.
    fn rmw_client_set_on_new_response_callback(
        client: *mut sys::rmw_client_t,
        callback: sys::rmw_event_callback_t,
        user_data: *const c_void,
    ) -> sys::rmw_ret_t = |handle, callback, user_data| {
        set("rmw_client_set_on_new_response_callback", handle, callback, user_data)
    };
}

/// Clearing a callback succeeds, since none is set.
fn set<T: Handle>(
    name: &str,
    handle: InOut<T>,
    callback: sys::rmw_event_callback_t,
    _user_data: In<c_void>,
) -> Result<(), Failure> {
    handle.handle()?;
    match callback {
        None => Ok(()),
        Some(_) => Err(refuse(name)),
    }
}
