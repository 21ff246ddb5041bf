//! rmw/rmw.h: callbacks instead of waiting.

use std::ffi::c_void;
use std::sync::Arc;

use shoal_rmw::Callback;

use crate::boundary::{exports, In, InOut};
use crate::sys;

exports! {
    /// Calls back for each new message.
    fn rmw_subscription_set_on_new_message_callback(
        subscription: *mut sys::rmw_subscription_t,
        callback: sys::rmw_event_callback_t,
        user_data: *const c_void,
    ) -> sys::rmw_ret_t = |subscription: InOut<sys::rmw_subscription_t>, callback, user_data| {
        Ok(subscription.handle()?.subscription.on_new_message(callback_of(callback, user_data))?)
    };
    /// Calls back for each new request.
    fn rmw_service_set_on_new_request_callback(
        service: *mut sys::rmw_service_t,
        callback: sys::rmw_event_callback_t,
        user_data: *const c_void,
    ) -> sys::rmw_ret_t = |service: InOut<sys::rmw_service_t>, callback, user_data| {
        Ok(service.handle()?.service.on_new_request(callback_of(callback, user_data))?)
    };
    /// Calls back for each new response.
    fn rmw_client_set_on_new_response_callback(
        client: *mut sys::rmw_client_t,
        callback: sys::rmw_event_callback_t,
        user_data: *const c_void,
    ) -> sys::rmw_ret_t = |client: InOut<sys::rmw_client_t>, callback, user_data| {
        Ok(client.handle()?.client.on_new_response(callback_of(callback, user_data))?)
    };
}

/// What a callback gets besides its count.
struct UserData(*const c_void);

// SAFETY: never looked into here. That the callback may be called with it from another thread is what rmw.h says of
// whoever sets one.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl UserData {
    fn pointer(&self) -> *const c_void {
        self.0
    }
}

/// A C callback as a Rust one; `None` for NULL.
pub(super) fn callback_of(callback: sys::rmw_event_callback_t, user_data: In<'_, c_void>) -> Option<Callback> {
    let (callback, user_data) = (callback?, UserData(user_data.pointer_or_null()));
    Some(Arc::new(move |count| {
        // SAFETY: set by the user for exactly this call; once the user clears it, or ends the entity, the notifier
        // makes none and waits for one that runs.
        unsafe { callback(user_data.pointer(), count) }
    }))
}
