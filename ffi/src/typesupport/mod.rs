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

use std::ptr::NonNull;
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

/// Messages up to this many bytes are initialised whole when they are lent.
const INITIALISED_WHOLE: usize = 16 << 10;

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

    /// Initialises a message that is lent: all zeros but for the fields that have defaults. A message of more than 16 KiB
    /// gets only those, so that lending costs the same whatever the size is; what its other fields hold is any number,
    /// and whoever borrows it writes them all.
    ///
    /// # Safety
    /// `at` leads to memory for one message, aligned and writable; the type is loanable, so that any bytes are valid
    /// but for booleans.
    pub unsafe fn init(&self, at: NonNull<u8>) {
        let how = match self.size_of <= INITIALISED_WHOLE || !self.plan.readable_in_place() {
            true => {
                // SAFETY: the caller's promise.
                unsafe { at.write_bytes(0, self.size_of) };
                sys::ROSIDL_RUNTIME_C_MSG_INIT_ALL
            }
            false => sys::ROSIDL_RUNTIME_C_MSG_INIT_DEFAULTS_ONLY,
        };
        if let Some(init) = self.introspection.members().init_function {
            // SAFETY: the type's own function; types without strings and sequences allocate nothing and throw nothing.
            unsafe { init(at.as_ptr().cast(), how) };
        }
    }

    /// What the body of a message begins with whose fields have their defaults, but for the last one, a sequence of bytes:
    /// everything up to and with their number, 0. And the most of them there may be. `None`: the type is not like that.
    ///
    /// # Errors
    /// The type support cannot make a message, or the message it makes cannot be serialized.
    pub fn head_of_bytes(self: &Arc<Self>) -> Result<Option<(Vec<u8>, usize)>, TypeSupportError> {
        let Some(most) = self.plan.byte_tail() else { return Ok(None) };
        let head = Scratch::new(self)?.body()?;
        let empty = head.last_chunk() == Some(&0_u32.to_le_bytes());
        Ok(empty.then_some((head, most)))
    }

    /// Bytes of a message in memory, when they are its body and it can therefore be loaned.
    pub fn loanable_size(&self) -> Option<usize> {
        self.plan.lies_as_cdr().then_some(self.size_of)
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
