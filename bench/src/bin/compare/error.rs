//! Why a measurement could not be made.

use std::path::PathBuf;

use rmw_shoal::sys;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library of an RMW cannot be loaded.
    #[error("{}: {source}; name the file of an RMW plugin for this ROS with --rmw", path.display())]
    Load {
        /// What was asked for.
        path: PathBuf,
        /// What the loader says.
        source: libloading::Error,
    },
    /// A function of the RMW failed.
    #[error("{what} returned {code}: {text}")]
    Call {
        /// The function.
        what: &'static str,
        /// Its return code; 0 for a NULL.
        code: i32,
        /// The text of the error state.
        text: String,
    },
    /// A file or a process failed.
    #[error("{what}: {source}")]
    Io {
        /// What was done.
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Something else.
    #[error("{0}")]
    Other(String),
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Says what failed.
pub fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Error {
    let what = what.into();
    |source| Error::Io { what, source }
}

/// An error with the text of the RMW's error state, which is reset.
pub fn failed(what: &'static str, code: i32) -> Error {
    // SAFETY: thread-local state; the string is returned by value.
    let text = unsafe {
        let state = sys::rcutils_get_error_string();
        sys::rcutils_reset_error();
        std::ffi::CStr::from_ptr(state.str_.as_ptr()).to_string_lossy().into_owned()
    };
    Error::Call { what, code, text }
}

/// Ok for RMW_RET_OK.
pub fn check(what: &'static str, code: sys::rmw_ret_t) -> Result<()> {
    match code {
        sys::RMW_RET_OK => Ok(()),
        code => Err(failed(what, code)),
    }
}
