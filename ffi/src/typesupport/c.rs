//! The C binding: every container is `{data, size, capacity}`.

use std::ffi::c_void;

use shoal_rmw::cdr::{Resize, SequenceAccess, StringAccess};

use super::introspection::{Binding, Member};

pub(super) static BINDING: Binding = Binding {
    identifier: c"rosidl_typesupport_introspection_c",
    string: StringAccess::Struct,
    wstring: StringAccess::Struct,
    sequence,
    call_resize,
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
