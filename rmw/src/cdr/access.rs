//! How the containers of a message are reached: C structs inline, everything else through functions of the binding.

use std::ffi::c_void;

/// The function that gives a sequence a new number of elements, all of them initialised (old contents may be lost).
///
/// The binding supplies the function and the trampoline that calls it, because the two C and C++ signatures differ
/// and a C++ exception has to stop before it reaches Rust.
#[derive(Clone, Copy, Debug)]
pub struct Resize {
    /// Calls `function` on a container; false when memory is short.
    pub call: unsafe fn(function: *const (), container: *mut c_void, size: usize) -> bool,
    /// What `call` is to call: opaque to the runner.
    pub function: *const (),
}

// SAFETY: `function` is the address of code (or a plain number): it is never written through, and code does not move.
unsafe impl Send for Resize {}
// SAFETY: as for Send.
unsafe impl Sync for Resize {}

/// How the elements of a sequence are reached. They always lie one after the other in memory.
#[derive(Clone, Copy, Debug)]
pub enum SequenceAccess {
    /// The C layout `{data, size, capacity}`, in which all elements up to `capacity` are initialised.
    Struct {
        /// Called only to grow beyond `capacity`.
        resize: Resize,
    },
    /// A contiguous container known only by its functions (C++ `std::vector`).
    Functions {
        /// Number of elements.
        size: unsafe extern "C" fn(*const c_void) -> usize,
        /// Address of an element; called for element 0 of a container that is not empty.
        get_const: unsafe extern "C" fn(*const c_void, usize) -> *const c_void,
        /// The same, for writing.
        get: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
        /// Changes the number of elements.
        resize: Resize,
    },
}

/// How the characters of a string or wide string are reached.
#[derive(Clone, Copy, Debug)]
pub enum StringAccess {
    /// The C layout `{data, size, capacity}` with a terminator; `data` comes from `malloc`, which is what the default
    /// allocator of the ROS C runtime is.
    Struct,
    /// A string object known only by its functions (C++ `std::string`, `std::u16string`).
    Functions(&'static StringFunctions),
}

impl StringAccess {
    /// Bytes a string object takes in an array of them.
    pub fn size_of(self) -> usize {
        match self {
            Self::Struct => size_of::<RawSequence>(),
            Self::Functions(f) => f.size_of,
        }
    }
}

/// Functions of a string class. None of them may throw or unwind.
#[derive(Debug)]
pub struct StringFunctions {
    /// Bytes a string object takes.
    pub size_of: usize,
    /// The characters of a string.
    pub view: unsafe extern "C" fn(*const c_void) -> Span,
    /// Gives the string a length in characters and returns where to write them; NULL when memory is short.
    pub resize: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
}

/// Functions of a packed vector of booleans (`std::vector<bool>`). None of them may throw or unwind.
#[derive(Debug)]
pub struct BoolVectorFunctions {
    /// Number of elements.
    pub len: unsafe extern "C" fn(*const c_void) -> usize,
    /// Writes exactly the given number of bytes, 0 or 1 each: one per element.
    pub read: unsafe extern "C" fn(*const c_void, *mut u8, usize),
    /// Becomes the given number of elements, one per byte, true where it is not 0; false when memory is short.
    pub write: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> bool,
}

/// A view of the characters of a string, without the terminator.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// First character; may be NULL when `len` is 0.
    pub data: *const c_void,
    /// Number of characters.
    pub len: usize,
}

/// The C layout of every string and sequence of the ROS C runtime.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawSequence {
    /// First element.
    pub data: *mut c_void,
    /// Valid elements (of a string: characters without the terminator).
    pub size: usize,
    /// Allocated elements (of a string: characters with the terminator).
    pub capacity: usize,
}
