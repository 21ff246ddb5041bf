//! From the handle that rcl passes to the introspection of the same type.

use std::ffi::{c_char, CStr};

use super::error::TypeSupportError;
use super::introspection::Binding;
use super::{c, cpp};
use crate::sys;

/// An introspection handle and how to read it.
pub(super) struct Found<T: 'static> {
    pub handle: &'static T,
    pub binding: &'static Binding,
}

/// A handle of either kind: both can find another type support of the same type.
pub(super) trait Handle: Sized + 'static {
    fn identifier(&self) -> *const c_char;
    /// # Safety
    /// `self` lies in a loaded type support library.
    unsafe fn find(&self, identifier: &CStr) -> *const Self;
}

macro_rules! impl_handle {
    ($handle:ty) => {
        impl Handle for $handle {
            fn identifier(&self) -> *const c_char {
                self.typesupport_identifier
            }

            unsafe fn find(&self, identifier: &CStr) -> *const Self {
                // SAFETY: the handle's own function, on the handle; it is noexcept in the C++ dispatch.
                self.func.map_or(std::ptr::null(), |find| unsafe { find(self, identifier.as_ptr()) })
            }
        }
    };
}

impl_handle!(sys::rosidl_message_type_support_t);
impl_handle!(sys::rosidl_service_type_support_t);

/// # Safety
/// `handle` is NULL or a type support whose libraries stay loaded.
pub(super) unsafe fn message(
    handle: *const sys::rosidl_message_type_support_t,
) -> Result<Found<sys::rosidl_message_type_support_t>, TypeSupportError> {
    // SAFETY: the caller's promise.
    unsafe { introspection(handle) }
}

/// # Safety
/// As for [`message`].
pub(super) unsafe fn service(
    handle: *const sys::rosidl_service_type_support_t,
) -> Result<Found<sys::rosidl_service_type_support_t>, TypeSupportError> {
    // SAFETY: the caller's promise.
    unsafe { introspection(handle) }
}

/// # Safety
/// As for [`message`].
unsafe fn introspection<T: Handle>(handle: *const T) -> Result<Found<T>, TypeSupportError> {
    // SAFETY: the caller's promise.
    let given = unsafe { handle.as_ref() }.ok_or(TypeSupportError::NullHandle)?;
    // SAFETY: an identifier is a string constant of the library.
    let got = unsafe { text(given.identifier()) };
    let mut details = Vec::new();
    for binding in bindings(&got) {
        // SAFETY: the caller's promise; what is found lies in a library that the handle's library keeps loaded.
        match unsafe { given.find(binding.identifier).as_ref() } {
            Some(handle) => return Ok(Found { handle, binding }),
            None => details.push(take_error()),
        }
    }
    Err(TypeSupportError::NoIntrospection { got, details: details.join("; ") })
}

/// The binding of the caller's own language first: asking for the other one loads its library, or fails and says so.
fn bindings(given: &str) -> [&'static Binding; 2] {
    match given.ends_with("_cpp") {
        true => [&cpp::BINDING, &c::BINDING],
        false => [&c::BINDING, &cpp::BINDING],
    }
}

/// A failed look-up leaves its text in the rcutils error state: takes it from there, so that it is clean again.
fn take_error() -> String {
    // SAFETY: both only touch the state of this thread.
    unsafe {
        let text = text(sys::rcutils_get_error_string().str_.as_ptr());
        sys::rcutils_reset_error();
        text
    }
}

/// # Safety
/// NULL or a string.
pub(super) unsafe fn text(string: *const c_char) -> String {
    match string.is_null() {
        true => "(null)".to_owned(),
        // SAFETY: the caller's promise.
        false => unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned(),
    }
}
