//! What stands behind the C structs that rcl holds: one file per C type.
//!
//! Each `rmw_*_t` is a box of ours whose `data` (a context: `impl`) leads to a second box, the Rust value. The
//! identifier is compared on every call before anything else of the struct is believed.

mod client;
mod context;
mod guard_condition;
mod interrupt;
mod node;
mod publisher;
mod service;
mod stream;
mod subscription;
mod wait_set;

use std::ffi::{c_char, c_void, CStr};

pub use client::ClientData;
pub use context::ContextData;
pub use guard_condition::{GuardConditionData, OwnedGuard, Owner};
pub use interrupt::InterruptData;
pub use node::NodeData;
pub use publisher::PublisherData;
pub use service::ServiceData;
pub use stream::StreamData;
pub use subscription::SubscriptionData;
pub use wait_set::WaitSetData;

use crate::boundary::{Failure, In, InOut};

/// The name of this implementation, in every handle that it makes.
pub const IDENTIFIER: &CStr = c"rmw_shoal";

/// A C struct that carries the identifier of its implementation and a pointer to its private part.
///
/// # Safety
/// When the identifier is ours, `data` is NULL or a box of `Data` given away by [`expose`].
pub unsafe trait Handle: Sized {
    /// The Rust value behind it.
    type Data;

    /// What the user calls it.
    const WHAT: &'static str;

    /// Whose it is.
    fn identifier(&self) -> *const c_char;

    /// Its private part.
    fn data(&self) -> *mut c_void;
}

/// Implements [`Handle`] for a struct with these two fields.
macro_rules! handle {
    ($c:ty => $data:ty, $field:ident, $what:literal) => {
        // SAFETY: only the constructor in this file's `Data` fills the field, with a box of that type.
        unsafe impl $crate::handle::Handle for $c {
            type Data = $data;

            const WHAT: &'static str = $what;

            fn identifier(&self) -> *const std::ffi::c_char {
                self.implementation_identifier
            }

            fn data(&self) -> *mut std::ffi::c_void {
                self.$field.cast()
            }
        }
    };
}
use handle;

/// Whether an identifier names this implementation: the same pointer, or (two copies of this library) the same text.
pub fn is_ours(identifier: *const c_char) -> bool {
    if identifier == IDENTIFIER.as_ptr() {
        return true;
    }
    // SAFETY: identifiers are NULL or NUL-terminated strings that live as long as their library.
    !identifier.is_null() && unsafe { CStr::from_ptr(identifier) } == IDENTIFIER
}

/// `RMW_RET_INCORRECT_RMW_IMPLEMENTATION` for what another implementation made.
pub fn check_ours(identifier: *const c_char, name: &str) -> Result<(), Failure> {
    if is_ours(identifier) {
        return Ok(());
    }
    let whose = match identifier.is_null() {
        true => "no implementation (it is zero-initialized)".into(),
        // SAFETY: as in `is_ours`.
        false => unsafe { CStr::from_ptr(identifier) }.to_string_lossy(),
    };
    Err(Failure::foreign(format!("{name} belongs to {whose}, not to {IDENTIFIER:?}; do not mix RMW implementations")))
}

impl<'call, T: Handle> In<'call, T> {
    /// The Rust value behind the handle, after the checks of every call: not NULL, ours, not finalized.
    pub fn handle(&self) -> Result<&'call T::Data, Failure> {
        let outer = self.get()?;
        check_ours(outer.identifier(), self.name())?;
        let data: *const T::Data = outer.data().cast_const().cast();
        // SAFETY: ours, so NULL or a box of this type that is alive until the handle is destroyed.
        unsafe { data.as_ref() }
            .ok_or_else(|| Failure::invalid(format!("{} is a {} that was finalized", self.name(), T::WHAT)))
    }
}

impl<'call, T: Handle> InOut<'call, T> {
    /// As [`In::handle`].
    pub fn handle(&self) -> Result<&'call T::Data, Failure> {
        self.shared().handle()
    }

    /// Ends a handle made by [`expose`]: both boxes come back. Checks like [`In::handle`].
    pub fn reclaim(self) -> Result<Box<T::Data>, Failure> {
        self.handle()?;
        let outer = self.pointer()?;
        // SAFETY: ours and not finalized, so both boxes were given away by `expose`, and the caller ends its use here.
        let outer = unsafe { Box::from_raw(outer) };
        // SAFETY: as above.
        Ok(unsafe { Box::from_raw(outer.data().cast()) })
    }
}

/// Gives a value to C: `outer` builds the C struct from the pointer that is its private part.
pub fn expose<T: Handle>(data: T::Data, outer: impl FnOnce(*mut c_void, &T::Data) -> T) -> *mut T {
    let data = Box::into_raw(Box::new(data));
    // SAFETY: a box just made, which nobody else knows yet.
    let outer = outer(data.cast(), unsafe { &*data });
    Box::into_raw(Box::new(outer))
}
