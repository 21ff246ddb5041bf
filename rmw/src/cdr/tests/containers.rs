//! The containers of a message in memory: C structures, reached as such or behind functions.

use std::ffi::c_void;

use crate::cdr::{BoolVectorFunctions, RawSequence, Span, StringFunctions};

/// Bytes of any container.
pub const CONTAINER: usize = size_of::<RawSequence>();

/// Keeps old elements and zeroes new ones: a zeroed element of any type here is a valid empty one.
///
/// # Safety
/// `container` is a sequence of elements of `function` bytes.
pub unsafe fn grow(function: *const (), container: *mut c_void, len: usize) -> bool {
    let (raw, stride) = (container.cast::<RawSequence>(), function.addr());
    REQUESTED.with(|most| most.set(most.get().max(len)));
    // SAFETY: the caller's promise; the data came from here.
    unsafe {
        if len > (*raw).capacity {
            let new = libc::calloc(len, stride);
            assert!(!new.is_null());
            if !(*raw).data.is_null() {
                std::ptr::copy_nonoverlapping((*raw).data.cast::<u8>(), new.cast::<u8>(), (*raw).capacity * stride);
                libc::free((*raw).data);
            }
            ((*raw).data, (*raw).capacity) = (new, len);
        }
        (*raw).size = len;
    }
    true
}

thread_local! {
    /// Most elements that a decode asked for.
    pub static REQUESTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A copy of the container at `at`.
///
/// # Safety
/// There is one.
pub unsafe fn raw(at: *const c_void) -> RawSequence {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<RawSequence>().read() }
}

pub unsafe extern "C" fn len(at: *const c_void) -> usize {
    // SAFETY: the runner passes containers only.
    unsafe { raw(at).size }
}

pub unsafe extern "C" fn get_const(at: *const c_void, index: usize) -> *const c_void {
    // SAFETY: the runner passes containers only.
    let raw = unsafe { raw(at) };
    assert!(index == 0 && raw.size > 0, "only the first element may be asked for, where there is one");
    raw.data
}

pub unsafe extern "C" fn get(at: *mut c_void, index: usize) -> *mut c_void {
    // SAFETY: as for `get_const`.
    unsafe { get_const(at, index).cast_mut() }
}

pub static BYTES: StringFunctions = StringFunctions { size_of: CONTAINER, view, resize: resize_string::<1> };
pub static UNITS: StringFunctions = StringFunctions { size_of: CONTAINER, view, resize: resize_string::<2> };

unsafe extern "C" fn view(at: *const c_void) -> Span {
    // SAFETY: the runner passes containers only.
    let raw = unsafe { raw(at) };
    Span { data: raw.data, len: raw.size }
}

unsafe extern "C" fn resize_string<const WIDTH: usize>(at: *mut c_void, len: usize) -> *mut c_void {
    let units: Vec<u8> = vec![0; (len + 1) * WIDTH];
    // SAFETY: the runner passes containers only.
    unsafe {
        assign(at.cast(), &units, WIDTH, len);
        raw(at).data
    }
}

/// Booleans behind functions are kept as 0x10 or 0x11, so that reading them in place would be noticed.
pub static BOOLS: BoolVectorFunctions = BoolVectorFunctions { len, read: read_bools, write: write_bools };

unsafe extern "C" fn read_bools(at: *const c_void, to: *mut u8, len: usize) {
    // SAFETY: the runner passes containers, and room for `len` bytes.
    unsafe {
        let raw = raw(at);
        assert_eq!(raw.size, len);
        (0..len).for_each(|i| to.add(i).write(raw.data.cast::<u8>().add(i).read() & 1));
    }
}

unsafe extern "C" fn write_bools(at: *mut c_void, from: *const u8, len: usize) -> bool {
    // SAFETY: the runner passes containers, and `len` readable bytes.
    unsafe {
        let bytes: Vec<u8> = (0..len).map(|i| 0x10 | from.add(i).read()).collect();
        assign(at.cast(), &bytes, 1, len);
    }
    true
}

/// Replaces the contents by `bytes`, in memory of exactly that length.
///
/// # Safety
/// `raw` is a container whose data came from `malloc`.
pub unsafe fn assign(raw: *mut RawSequence, bytes: &[u8], width: usize, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        libc::free((*raw).data);
        let data = libc::malloc(bytes.len().max(1));
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast::<u8>(), bytes.len());
        *raw = RawSequence { data, size, capacity: bytes.len() / width };
    }
}
