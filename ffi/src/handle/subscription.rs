//! `rmw_subscription_t`.

use std::ffi::CString;
use std::sync::Arc;

use parking_lot::Mutex;
use shoal_rmw::Subscription;

use super::{expose, handle, IDENTIFIER};
use crate::content_filter::Condition;
use crate::sys;
use crate::typesupport::MessageType;

/// The private part of a subscription.
pub struct SubscriptionData {
    /// The subscription.
    pub subscription: Arc<Subscription>,
    /// Its message type.
    pub message: Arc<MessageType>,
    /// The content filter as it was given, in the order of its changes; `None` for none.
    pub condition: Mutex<Option<Condition>>,
    /// The topic, which `rmw_subscription_t` points to.
    pub topic: CString,
}

handle!(sys::rmw_subscription_t => SubscriptionData, data, "subscription");

impl SubscriptionData {
    /// Gives it to C.
    pub fn expose(self, options: sys::rmw_subscription_options_t) -> *mut sys::rmw_subscription_t {
        expose::<sys::rmw_subscription_t>(self, |private, data| sys::rmw_subscription_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data: private,
            topic_name: data.topic.as_ptr(),
            options,
            can_loan_messages: data.message.loanable_size().is_some(),
            is_cft_enabled: data.condition.lock().is_some(),
        })
    }
}
