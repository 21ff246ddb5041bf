//! C arguments as safe Rust: a pointer is looked into only through a check for NULL that names it.

use std::ffi::{c_char, CStr};
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::Failure;
use crate::sys;

/// One call from C; received pointers may be used for as long as it lasts.
pub struct Call(());

impl Call {
    pub(super) fn new() -> Call {
        Call(())
    }
}

/// A type of an argument of an entry point.
pub trait Argument: Sized {
    /// What the body sees.
    type Received<'call>;

    /// Takes the argument `name` of a call.
    ///
    /// # Safety
    /// A pointer is NULL or leads to a live object of its type, as the function's header asks, for the whole call.
    unsafe fn receive<'call>(self, name: &'static str, call: &'call Call) -> Self::Received<'call>;

    /// NULL or zero, for tests.
    #[cfg(feature = "test-hooks")]
    fn zero() -> Self;

    /// A handle of another implementation, for tests.
    #[cfg(feature = "test-hooks")]
    fn foreign() -> Self {
        Self::zero()
    }
}

/// A `const T *` argument.
pub struct In<'call, T> {
    pointer: *const T,
    name: &'static str,
    call: PhantomData<&'call T>,
}

impl<T> Clone for In<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for In<'_, T> {}

impl<'call, T> In<'call, T> {
    /// A pointer out of another argument, called `name` in errors.
    ///
    /// # Safety
    /// It is NULL or leads to a live object for 'call.
    pub unsafe fn from_raw(pointer: *const T, name: &'static str) -> In<'call, T> {
        In { pointer, name, call: PhantomData }
    }

    /// The argument's name in the header.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The same argument as a pointer to another type.
    pub fn cast<U>(self) -> In<'call, U> {
        In { pointer: self.pointer.cast(), name: self.name, call: PhantomData }
    }

    /// The pointer, which is not NULL.
    pub fn pointer(&self) -> Result<*const T, Failure> {
        if self.pointer.is_null() {
            return Err(is_null(self.name));
        }
        Ok(self.pointer)
    }

    /// The pointer, where NULL is a value like others.
    pub fn pointer_or_null(&self) -> *const T {
        self.pointer
    }

    /// The `count` values that it points to; NULL is as good as none.
    pub fn array(&self, count: usize) -> Result<&'call [T], Failure> {
        if count == 0 {
            return Ok(&[]);
        }
        let start = self.pointer()?;
        // SAFETY: `receive` was promised live objects for 'call; by the function's header there are `count` of them.
        Ok(unsafe { std::slice::from_raw_parts(start, count) })
    }

    /// What it points to, where NULL is a value like others.
    pub fn get_or_null(&self) -> Option<&'call T> {
        // SAFETY: as in `get`.
        unsafe { self.pointer.as_ref() }
    }

    /// What it points to; `RMW_RET_INVALID_ARGUMENT` for NULL.
    pub fn get(&self) -> Result<&'call T, Failure> {
        // SAFETY: `receive` was promised a live object or NULL, for 'call.
        unsafe { self.pointer.as_ref() }.ok_or_else(|| is_null(self.name))
    }
}

impl<'call> In<'call, c_char> {
    /// The string it points to; `RMW_RET_INVALID_ARGUMENT` for NULL and for what is not UTF-8.
    pub fn text(&self) -> Result<&'call str, Failure> {
        let start = self.pointer()?;
        // SAFETY: a string argument is NUL-terminated, and unchanged during the call.
        let text = unsafe { CStr::from_ptr(start) };
        text.to_str().map_err(|_| Failure::invalid(format!("{} {text:?} is not UTF-8", self.name)))
    }
}

/// A `T *` argument.
pub struct InOut<'call, T> {
    pointer: *mut T,
    name: &'static str,
    call: PhantomData<&'call mut T>,
}

impl<T> Clone for InOut<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for InOut<'_, T> {}

impl<'call, T> InOut<'call, T> {
    /// The same argument, read only.
    pub fn shared(&self) -> In<'call, T> {
        In { pointer: self.pointer, name: self.name, call: PhantomData }
    }

    /// The pointer, which is not NULL.
    pub fn pointer(&self) -> Result<*mut T, Failure> {
        NonNull::new(self.pointer).map(NonNull::as_ptr).ok_or_else(|| is_null(self.name))
    }

    /// The same argument as a pointer to another type.
    pub fn cast<U>(self) -> InOut<'call, U> {
        InOut { pointer: self.pointer.cast(), name: self.name, call: PhantomData }
    }

    /// A copy of what it points to.
    pub fn read(&self) -> Result<T, Failure>
    where
        T: Copy,
    {
        self.shared().get().copied()
    }

    /// Writes values one after the other, as many as the caller has room for. NULL is as good as any where there are none.
    pub fn write_array(&self, values: impl Iterator<Item = T>) -> Result<(), Failure> {
        for (index, value) in values.enumerate() {
            // SAFETY: by the function's header there is room for as many as the caller of this lets through.
            unsafe { self.pointer()?.add(index).write(value) };
        }
        Ok(())
    }

    /// Replaces what it points to.
    pub fn write(&self, value: T) -> Result<(), Failure> {
        let target = self.pointer()?;
        // SAFETY: `receive` was promised a live object, which is the callee's to write during the call.
        unsafe { target.write(value) };
        Ok(())
    }
}

#[cold]
#[track_caller]
fn is_null(name: &str) -> Failure {
    Failure::invalid(format!("{name} is NULL"))
}

impl<T: 'static> Argument for *const T {
    type Received<'call> = In<'call, T>;

    unsafe fn receive<'call>(self, name: &'static str, _call: &'call Call) -> In<'call, T> {
        In { pointer: self, name, call: PhantomData }
    }

    #[cfg(feature = "test-hooks")]
    fn zero() -> Self {
        std::ptr::null()
    }

    #[cfg(feature = "test-hooks")]
    fn foreign() -> Self {
        super::hooks::foreign_object().cast()
    }
}

impl<T: 'static> Argument for *mut T {
    type Received<'call> = InOut<'call, T>;

    unsafe fn receive<'call>(self, name: &'static str, _call: &'call Call) -> InOut<'call, T> {
        InOut { pointer: self, name, call: PhantomData }
    }

    #[cfg(feature = "test-hooks")]
    fn zero() -> Self {
        std::ptr::null_mut()
    }

    #[cfg(feature = "test-hooks")]
    fn foreign() -> Self {
        super::hooks::foreign_object().cast()
    }
}

macro_rules! by_value {
    ($($ty:ty),* $(,)?) => {$(
        impl Argument for $ty {
            type Received<'call> = $ty;

            unsafe fn receive(self, _name: &'static str, _call: &Call) -> $ty {
                self
            }

            #[cfg(feature = "test-hooks")]
            fn zero() -> Self {
                // SAFETY: integers, a struct of integers or of optional function pointers: zero is a value of each.
                unsafe { std::mem::zeroed() }
            }
        }
    )*};
}
by_value!(
    bool,
    u32,
    u64,
    usize,
    sys::rmw_time_t,
    sys::rmw_qos_profile_t,
    sys::rcutils_allocator_t,
    sys::rmw_event_callback_t
);
