//! The C++ binding: strings and vectors of the standard library, reached through introspection and `bridge.cc`.

use std::ffi::c_void;

use shoal_rmw::cdr::{BoolVectorFunctions, Resize, SequenceAccess, Span, StringAccess, StringFunctions};

use super::introspection::{Binding, Member};

pub(super) static BINDING: Binding = Binding {
    identifier: c"rosidl_typesupport_introspection_cpp",
    string: StringAccess::Functions(&STRING),
    wstring: StringAccess::Functions(&U16STRING),
    sequence,
    call_resize,
    bool_vector: Some(&BOOLS),
};

/// `sizeof(std::string)` and `sizeof(std::u16string)`; `bridge.cc` does not compile where it is another.
const STRING_SIZE: usize = 32;

static STRING: StringFunctions =
    StringFunctions { size_of: STRING_SIZE, view: shoal_string_view, resize: shoal_string_resize };
static U16STRING: StringFunctions =
    StringFunctions { size_of: STRING_SIZE, view: shoal_u16string_view, resize: shoal_u16string_resize };
static BOOLS: BoolVectorFunctions =
    BoolVectorFunctions { len: shoal_bools_len, read: shoal_bools_read, write: shoal_bools_write };

unsafe extern "C" {
    fn shoal_string_view(string: *const c_void) -> Span;
    fn shoal_string_resize(string: *mut c_void, len: usize) -> *mut c_void;
    fn shoal_u16string_view(string: *const c_void) -> Span;
    fn shoal_u16string_resize(string: *mut c_void, len: usize) -> *mut c_void;
    fn shoal_bools_len(vector: *const c_void) -> usize;
    fn shoal_bools_read(vector: *const c_void, to: *mut u8, len: usize);
    fn shoal_bools_write(vector: *mut c_void, from: *const u8, len: usize) -> bool;
    fn shoal_resize(resize: *const (), container: *mut c_void, len: usize) -> bool;
}

fn sequence(member: &Member, resize: Resize) -> Option<SequenceAccess> {
    let (size, get_const, get) = (member.size_function?, member.get_const_function?, member.get_function?);
    Some(SequenceAccess::Functions { size, get_const, get, resize })
}

/// Lets no exception of the vector reach Rust.
///
/// # Safety
/// `function` is the resize function of a C++ introspection member, `container` its vector.
unsafe fn call_resize(function: *const (), container: *mut c_void, size: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { shoal_resize(function, container, size) }
}
