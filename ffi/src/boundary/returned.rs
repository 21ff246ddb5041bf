//! What each C return type says on success and on failure.

use crate::sys;

/// A return type of an entry point.
pub trait Returned: Sized {
    /// What the body gives on success.
    type Success;

    /// The C value of a success.
    fn success(value: Self::Success) -> Self;

    /// The C value of a failure with this code.
    fn failure(code: sys::rmw_ret_t) -> Self;

    /// The value in a form that tests compare.
    #[cfg(feature = "test-hooks")]
    fn answer(&self) -> super::hooks::Answer;
}

impl Returned for sys::rmw_ret_t {
    type Success = ();

    fn success((): ()) -> Self {
        sys::RMW_RET_OK
    }

    fn failure(code: sys::rmw_ret_t) -> Self {
        code
    }

    #[cfg(feature = "test-hooks")]
    fn answer(&self) -> super::hooks::Answer {
        super::hooks::Answer::Code(*self)
    }
}

impl Returned for bool {
    type Success = bool;

    fn success(value: bool) -> Self {
        value
    }

    fn failure(_code: sys::rmw_ret_t) -> Self {
        false
    }

    #[cfg(feature = "test-hooks")]
    fn answer(&self) -> super::hooks::Answer {
        super::hooks::Answer::Flag(*self)
    }
}

impl<T> Returned for *mut T {
    type Success = *mut T;

    fn success(value: *mut T) -> Self {
        value
    }

    fn failure(_code: sys::rmw_ret_t) -> Self {
        std::ptr::null_mut()
    }

    #[cfg(feature = "test-hooks")]
    fn answer(&self) -> super::hooks::Answer {
        super::hooks::Answer::pointer(self.is_null())
    }
}

impl<T> Returned for *const T {
    type Success = *const T;

    fn success(value: *const T) -> Self {
        value
    }

    fn failure(_code: sys::rmw_ret_t) -> Self {
        std::ptr::null()
    }

    #[cfg(feature = "test-hooks")]
    fn answer(&self) -> super::hooks::Answer {
        super::hooks::Answer::pointer(self.is_null())
    }
}
