//! A shared mapping of a file, unmapped on drop.

use super::fault::{Guard, MOST_BYTES};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// What the mapping is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Protection {
    Read,
    ReadWrite,
}

/// `len` mapped bytes.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    len: usize,
    /// Taken only by the drop.
    guard: Option<Guard>,
}

// SAFETY: the mapping is plain memory owned by this value; access goes through atomics or raw pointers only.
unsafe impl Send for Mapping {}
// SAFETY: as above; the value itself is never changed after it was made.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of a file, shared; ENOMEM for more than a segment can have.
    pub(crate) fn new(file: &File, len: usize, protection: Protection) -> io::Result<Mapping> {
        if len > MOST_BYTES {
            return Err(io::Error::from_raw_os_error(libc::ENOMEM));
        }
        let flags = match protection {
            Protection::Read => libc::PROT_READ,
            Protection::ReadWrite => libc::PROT_READ | libc::PROT_WRITE,
        };
        // SAFETY: no address is asked for, so nothing mapped is replaced; the descriptor is open.
        let at = unsafe {
            libc::mmap(std::ptr::null_mut(), len, flags, libc::MAP_SHARED | libc::MAP_NORESERVE, file.as_raw_fd(), 0)
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(at.cast()).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        Ok(Mapping { start, len, guard: Some(Guard::new(start, len, protection)) })
    }

    /// The first byte.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Mapped bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether no page of it was found gone so far.
    pub(crate) fn is_whole(&self) -> bool {
        self.guard.as_ref().is_none_or(Guard::is_whole)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // Before the addresses may be somebody else's.
        drop(self.guard.take());
        // SAFETY: exactly the range that new() mapped; whatever borrowed from it has ended with this value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
