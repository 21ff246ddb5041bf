//! The C++ binding: strings and vectors of the standard library, reached through introspection and `bridge.cc`.

use std::ffi::c_void;

use shoal_rmw::cdr::{BoolVectorFunctions, Resize, SequenceAccess, Span, StringAccess, StringFunctions};

use super::introspection::{Binding, InitFunction, Member};

pub(super) static BINDING: Binding = Binding {
    identifier: c"rosidl_typesupport_introspection_cpp",
    string: StringAccess::Functions(&STRING),
    wstring: StringAccess::Functions(&U16STRING),
    sequence,
    call_resize,
    call_init,
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
    fn shoal_init(init: InitFunction, message: *mut c_void) -> bool;
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

/// Lets no exception of a constructor reach Rust.
///
/// # Safety
/// `function` is the init function of a C++ introspection type, `message` zeroed memory of its size.
unsafe fn call_init(function: InitFunction, message: *mut c_void) -> bool {
    // SAFETY: the caller's promise.
    unsafe { shoal_init(function, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        /// `std::__throw_bad_alloc()` of the C++ library.
        #[link_name = "_ZSt17__throw_bad_allocv"]
        fn throw_bad_alloc();
    }

    #[test]
    fn an_exception_of_a_container_is_a_failed_resize() {
        let throws = throw_bad_alloc as *const ();
        // SAFETY: a function that takes no arguments ignores those it is given.
        assert!(!unsafe { call_resize(throws, std::ptr::null_mut(), 1) });
    }

    #[test]
    fn packed_booleans_go_in_and_out_and_refuse_what_no_memory_holds() {
        // Zeroed memory is an empty vector in the C++ library; 40 bytes are what it takes.
        let mut vector = [0usize; 5];
        let at = vector.as_mut_ptr().cast::<c_void>();
        let bits: Vec<u8> = (0..67).map(|i| u8::from(i % 3 == 0)).collect();
        let mut back = vec![9; 67];
        // SAFETY: `at` is a vector, and the lengths are those of the arrays.
        unsafe {
            assert!((BOOLS.write)(at, bits.as_ptr(), bits.len()));
            assert_eq!((BOOLS.len)(at), 67);
            (BOOLS.read)(at, back.as_mut_ptr(), 67);
            assert!(!(BOOLS.write)(at, bits.as_ptr(), usize::MAX), "throws std::length_error before reading");
            assert!((BOOLS.write)(at, bits.as_ptr(), 0));
        }
        assert_eq!(back, bits);
    }
}
