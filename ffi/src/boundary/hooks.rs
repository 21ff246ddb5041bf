//! What tests need to go through every entry point.

use std::cell::Cell;
use std::ffi::c_void;

use crate::sys;

/// An entry point that a test can call without knowing its arguments.
pub struct Export {
    /// The symbol.
    pub name: &'static str,
    /// Calls it with NULL for every pointer and zero for every number.
    pub with_zeros: fn() -> Answer,
    /// Calls it with handles of another implementation.
    pub with_foreign: fn() -> Answer,
}

/// What an entry point returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A return code.
    Code(sys::rmw_ret_t),
    /// A truth value.
    Flag(bool),
    /// A pointer that is NULL.
    Null,
    /// Any other pointer.
    Pointer,
}

impl Answer {
    pub(super) fn pointer(is_null: bool) -> Answer {
        if is_null {
            Answer::Null
        } else {
            Answer::Pointer
        }
    }
}

thread_local! {
    static ASKED: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Makes every later call of the entry point `name` on this thread panic, until another name (or none) is given.
pub fn panic_in(name: Option<&'static str>) {
    ASKED.set(name);
}

pub(super) fn panic_if_asked(name: &str) {
    if ASKED.get() == Some(name) {
        panic!("asked for by a test in {name}");
    }
}

/// Zeroed memory larger than any RMW struct whose first words lead to the identifier of another implementation:
/// handles hold it first, a context and its options hold it second.
pub(super) fn foreign_object() -> *mut c_void {
    let mut words = vec![std::ptr::null::<c_void>(); 512];
    words[0] = c"rmw_foreign".as_ptr().cast();
    words[1] = words[0];
    words.leak().as_mut_ptr().cast()
}
