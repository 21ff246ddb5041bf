//! What an entry point fails with.

use std::ffi::CString;
use std::panic::Location;

use crate::sys;

/// A return code and what the user is told.
#[derive(Debug)]
pub struct Failure {
    code: sys::rmw_ret_t,
    message: Option<String>,
    at: &'static Location<'static>,
}

impl Failure {
    #[track_caller]
    fn new(code: sys::rmw_ret_t, message: String) -> Failure {
        Failure { code, message: Some(message), at: Location::caller() }
    }

    /// `RMW_RET_ERROR`: nothing the caller did wrong.
    #[track_caller]
    pub fn error(message: impl Into<String>) -> Failure {
        Failure::new(sys::RMW_RET_ERROR, message.into())
    }

    /// `RMW_RET_INVALID_ARGUMENT`.
    #[track_caller]
    pub fn invalid(message: impl Into<String>) -> Failure {
        Failure::new(sys::RMW_RET_INVALID_ARGUMENT, message.into())
    }

    /// `RMW_RET_INCORRECT_RMW_IMPLEMENTATION`.
    #[track_caller]
    pub fn foreign(message: impl Into<String>) -> Failure {
        Failure::new(sys::RMW_RET_INCORRECT_RMW_IMPLEMENTATION, message.into())
    }

    /// `RMW_RET_UNSUPPORTED`.
    #[track_caller]
    pub fn unsupported(message: impl Into<String>) -> Failure {
        Failure::new(sys::RMW_RET_UNSUPPORTED, message.into())
    }

    /// `RMW_RET_BAD_ALLOC`.
    #[track_caller]
    pub fn bad_alloc(message: impl Into<String>) -> Failure {
        Failure::new(sys::RMW_RET_BAD_ALLOC, message.into())
    }

    /// `RMW_RET_TIMEOUT` without a message: the time the caller gave is over, which is no error.
    #[track_caller]
    pub fn timed_out() -> Failure {
        Failure { code: sys::RMW_RET_TIMEOUT, message: None, at: Location::caller() }
    }

    /// The failure of a function of rmw or rcutils that set the error state itself: its text is taken over.
    #[track_caller]
    pub fn of_library(code: sys::rmw_ret_t, function: &str) -> Failure {
        // SAFETY: returns a struct by value and reads only thread-local state.
        let text = unsafe { sys::rcutils_get_error_string() };
        let bytes: Vec<u8> = text.str_.iter().map(|c| *c as u8).take_while(|b| *b != 0).collect();
        Failure::new(code, format!("{function} failed: {}", String::from_utf8_lossy(&bytes)))
    }

    /// For the two functions whose header says `RMW_RET_INVALID_ARGUMENT` while the conformance suite of ROS up to
    /// Jazzy asks for `RMW_RET_ERROR`: the suite of the ROS that this is built for decides.
    pub fn as_the_suite_asks(mut self) -> Failure {
        if cfg!(rmw_up_to_jazzy) && self.code == sys::RMW_RET_INVALID_ARGUMENT {
            self.code = sys::RMW_RET_ERROR;
        }
        self
    }

    /// The `RMW_RET_*` code.
    pub fn code(&self) -> sys::rmw_ret_t {
        self.code
    }

    /// What the user is told, without the name of the function.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// Sets the rcutils error state of this thread, replacing what helpers on the way had set.
    pub(super) fn record(&self, function: &str) {
        let Some(message) = &self.message else { return };
        let text = c_string(&format!("{function}: {message}"));
        let file = c_string(self.at.file());
        // SAFETY: both strings are NUL-terminated, live across the calls, and are copied by them.
        unsafe {
            sys::rcutils_reset_error();
            sys::rcutils_set_error_state(text.as_ptr(), file.as_ptr(), self.at.line() as usize);
        }
    }
}

impl From<shoal_rmw::Error> for Failure {
    #[track_caller]
    fn from(e: shoal_rmw::Error) -> Failure {
        use shoal_rmw::ErrorKind;
        let code = match e.kind() {
            ErrorKind::Error => sys::RMW_RET_ERROR,
            ErrorKind::BadAlloc => sys::RMW_RET_BAD_ALLOC,
            ErrorKind::InvalidArgument => sys::RMW_RET_INVALID_ARGUMENT,
            ErrorKind::Unsupported => sys::RMW_RET_UNSUPPORTED,
            ErrorKind::Timeout => sys::RMW_RET_TIMEOUT,
            ErrorKind::NodeNameNonExistent => sys::RMW_RET_NODE_NAME_NON_EXISTENT,
        };
        Failure::new(code, e.to_string())
    }
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}
