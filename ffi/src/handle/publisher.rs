//! `rmw_publisher_t`.

use std::ffi::CString;
use std::sync::Arc;

use shoal_rmw::Publisher;

use super::{expose, handle, IDENTIFIER};
use crate::sys;
use crate::typesupport::MessageType;

/// The private part of a publisher.
pub struct PublisherData {
    /// The publisher.
    pub publisher: Arc<Publisher>,
    /// Its message type.
    pub message: Arc<MessageType>,
    /// The type support it was created with; only compared.
    pub type_support: *const sys::rosidl_message_type_support_t,
    /// The context it was made in.
    pub context: *mut sys::rmw_context_t,
    /// The topic, which `rmw_publisher_t` points to.
    pub topic: CString,
}

handle!(sys::rmw_publisher_t => PublisherData, data, "publisher");

impl PublisherData {
    /// Gives it to C.
    pub fn expose(self, options: sys::rmw_publisher_options_t) -> *mut sys::rmw_publisher_t {
        expose::<sys::rmw_publisher_t>(self, |private, data| sys::rmw_publisher_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data: private,
            topic_name: data.topic.as_ptr(),
            options,
            can_loan_messages: data.message.loanable_size().is_some(),
        })
    }
}
