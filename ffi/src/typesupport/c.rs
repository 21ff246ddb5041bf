//! The C binding: every container is `{data, size, capacity}`.

use std::ffi::c_void;

use shoal_rmw::cdr::{Resize, SequenceAccess, StringAccess};

use super::introspection::{Binding, InitFunction, Member};
use crate::sys;

pub(super) static BINDING: Binding = Binding {
    identifier: c"rosidl_typesupport_introspection_c",
    string: StringAccess::Struct,
    wstring: StringAccess::Struct,
    sequence,
    call_resize,
    call_init,
    bool_vector: None,
};

fn sequence(_: &Member, resize: Resize) -> Option<SequenceAccess> {
    Some(SequenceAccess::Struct { resize })
}

/// Finalises the sequence and makes it anew: the runner calls it only where the capacity is too small.
///
/// # Safety
/// `function` is the resize function of a C introspection member, `container` its sequence.
unsafe fn call_resize(function: *const (), container: *mut c_void, size: usize) -> bool {
    // SAFETY: the caller says that this is its type.
    let resize: unsafe extern "C" fn(*mut c_void, usize) -> bool = unsafe { std::mem::transmute(function) };
    // SAFETY: the caller's promise.
    unsafe { resize(container, size) }
}

/// # Safety
/// `function` is the init function of a C introspection type, `message` zeroed memory of its size.
unsafe fn call_init(function: InitFunction, message: *mut c_void) -> bool {
    // SAFETY: the caller's promise.
    unsafe { function(message, sys::ROSIDL_RUNTIME_C_MSG_INIT_ALL) };
    true
}
