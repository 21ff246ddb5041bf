//! The C API of an RMW that is loaded by path, as safe Rust. All unsafe code of this crate is here.
//!
//! A process loads one RMW and keeps it until it ends, so the symbols are valid for ever.

mod entities;
mod functions;
mod message;
mod session;
mod types;

pub use entities::{Client, Profile, Publisher, Service, Subscription};
pub use message::Message;
pub use session::{Guard, Ready, Session};
pub use types::{load_all, MessageType, ServiceType};

use functions::Functions;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rmw_shoal::sys;
use std::ffi::CStr;
use std::path::Path;

/// What went wrong, in the RMW's words.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A library or symbol is missing.
    #[error("{what}: {source}")]
    Load {
        /// The library or symbol.
        what: String,
        /// The loader's answer.
        source: libloading::Error,
    },
    /// A call of the RMW failed.
    #[error("{call} failed: {said}")]
    Call {
        /// The function.
        call: &'static str,
        /// Its error message.
        said: String,
    },
    /// A name holds a NUL, or a type has no introspection.
    #[error("{0}")]
    Argument(String),
}

/// What every call answers.
pub type Result<T> = std::result::Result<T, Error>;

/// A loaded RMW.
pub struct Rmw {
    functions: Functions,
}

impl Rmw {
    /// Loads the RMW and keeps it for as long as the process lives.
    ///
    /// # Errors
    /// The library cannot be loaded, or lacks a function of the RMW API.
    pub fn load(path: &Path) -> Result<&'static Rmw> {
        let library = open(path)?;
        let functions = Functions::of(&library)?;
        // Entities hold function pointers into it.
        std::mem::forget(library);
        Ok(Box::leak(Box::new(Rmw { functions })))
    }
}

fn open(path: &Path) -> Result<Library> {
    let what = path.display().to_string();
    // SAFETY: ROS libraries have no constructors that ask anything of their loader.
    unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }.map_err(|source| Error::Load { what, source })
}

/// The error of a call that answered `code`.
fn check(call: &'static str, code: sys::rmw_ret_t) -> Result<()> {
    if code == sys::RMW_RET_OK {
        return Ok(());
    }
    Err(failure(call))
}

/// The error state of this thread, which is reset.
fn failure(call: &'static str) -> Error {
    // SAFETY: thread-local state; the string is copied before it is reset.
    let said = unsafe {
        let text = sys::rcutils_get_error_string();
        let said = CStr::from_ptr(text.str_.as_ptr()).to_string_lossy().into_owned();
        sys::rcutils_reset_error();
        said
    };
    Error::Call { call, said }
}
