//! Message and service types: from a rosidl type support to a compiled plan.
//!
//! A type support handle of rcl names its flavour and can find others of the same type. The one wanted here is
//! introspection (C or C++), which tells where each field lies; it is compiled once per process and shared.

mod c;
mod cache;
mod cpp;
mod error;
mod fields;
mod introspection;
mod lookup;
mod scratch;

use std::sync::Arc;

use shoal_rmw::cdr::Plan;

use crate::sys;

pub use error::TypeSupportError;
pub use fields::Field;
pub use scratch::Scratch;

use introspection::Introspection;

/// A REP-2011 type hash: version and value; version 0 says that the type support has none.
pub type TypeHash = (u8, [u8; 32]);

/// A message type that can be encoded and decoded.
#[derive(Debug)]
pub struct MessageType {
    /// For example `std_msgs/msg/String`.
    pub name: String,
    /// REP-2011 hash.
    pub hash: TypeHash,
    /// How its messages become bytes and back.
    pub plan: Plan,
    /// Bytes of a message in memory.
    pub size_of: usize,
    introspection: Introspection,
}

/// A service type.
#[derive(Debug)]
pub struct ServiceType {
    /// For example `std_srvs/srv/Empty`.
    pub name: String,
    /// REP-2011 hash of the service.
    pub hash: TypeHash,
    /// What clients send.
    pub request: Arc<MessageType>,
    /// What they get back.
    pub response: Arc<MessageType>,
}

impl MessageType {
    /// The type behind a handle as rcl passes it.
    ///
    /// # Errors
    /// The handle has no introspection type support, or that cannot be compiled. The rcutils error state is not left
    /// set: the error carries the text.
    ///
    /// # Safety
    /// `handle` is NULL or a message type support; its libraries stay loaded for as long as the result lives.
    pub unsafe fn of(handle: *const sys::rosidl_message_type_support_t) -> Result<Arc<Self>, TypeSupportError> {
        // SAFETY: the caller's promise.
        unsafe {
            let found = lookup::message(handle)?;
            cache::message(found)
        }
    }

    /// Bytes of a message in memory, when they are its body and it can therefore be loaned.
    pub fn loanable_size(&self) -> Option<usize> {
        self.plan.memory_is_cdr().then_some(self.size_of)
    }
}

impl ServiceType {
    /// The type behind a handle as rcl passes it.
    ///
    /// # Errors
    /// As for [`MessageType::of`].
    ///
    /// # Safety
    /// `handle` is NULL or a service type support; its libraries stay loaded for as long as the result lives.
    pub unsafe fn of(handle: *const sys::rosidl_service_type_support_t) -> Result<Arc<Self>, TypeSupportError> {
        // SAFETY: the caller's promise.
        unsafe {
            let found = lookup::service(handle)?;
            cache::service(found)
        }
    }
}
