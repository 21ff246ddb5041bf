//! One lock file.

use super::fork::{borrowed, Guarded};
use crate::segment::{DomainDir, OpenError};
use std::io;
use std::os::fd::RawFd;
use std::os::unix::fs::MetadataExt;

/// An open file description of its own on a lock file. Two of them exclude each other even within one process.
/// Dropping it gives up all its locks; so does the end of the process, by any cause, and `execve`.
///
/// In a forked child every method fails or does nothing: the locks are the parent's.
#[derive(Debug)]
pub struct LockFile {
    guarded: Guarded,
}

impl LockFile {
    /// Opens the file, creating it where it is missing, with the domain's owner and mode.
    ///
    /// # Errors
    /// `NotFound` when the directory was removed meanwhile (open the directory again); a symlink, a stranger's file;
    /// more than 1024 lock files open in this process; the system's refusal.
    pub fn open(dir: &DomainDir, name: &str) -> io::Result<LockFile> {
        let open = || {
            let file = dir.open_or_create_file(name)?;
            dir.verify_file(&file, name).map_err(io::Error::other)?;
            Ok(file)
        };
        Ok(LockFile { guarded: Guarded::open(open)? })
    }

    /// Opens an existing file to ask who holds it ([`is_held_by_another`](Self::is_held_by_another)); locking fails.
    ///
    /// # Errors
    /// As [`open`](Self::open), and `NotFound` when there is no such file.
    pub fn open_to_look(dir: &DomainDir, name: &str) -> io::Result<LockFile> {
        let open = || match dir.open_file(name, libc::O_RDONLY) {
            Err(OpenError::Missing { .. }) => Err(io::ErrorKind::NotFound.into()),
            other => other.map(|(file, _)| file).map_err(io::Error::other),
        };
        Ok(LockFile { guarded: Guarded::open(open)? })
    }

    /// Takes the lock on one byte for us alone, or answers false when another holds it. Replaces a shared lock of ours;
    /// when that fails, the shared lock stays.
    ///
    /// # Errors
    /// In a forked child, or the system's (ENOLCK).
    pub fn try_exclusive(&self, byte: u64) -> io::Result<bool> {
        self.set(libc::F_WRLCK, byte)
    }

    /// Takes the lock on one byte together with others who share it, or answers false when another has it alone.
    /// Replaces an exclusive lock of ours without a moment in between.
    ///
    /// # Errors
    /// As [`try_exclusive`](Self::try_exclusive).
    pub fn try_shared(&self, byte: u64) -> io::Result<bool> {
        self.set(libc::F_RDLCK, byte)
    }

    /// Gives up our lock on one byte, if we have one.
    pub fn unlock(&self, byte: u64) {
        // Unlocking can only fail in a forked child, which has nothing to give up.
        let _ = self.set(libc::F_UNLCK, byte);
    }

    /// Whether anyone else holds a lock, shared or exclusive, on one byte. Our own do not count.
    ///
    /// # Errors
    /// As [`try_exclusive`](Self::try_exclusive).
    pub fn is_held_by_another(&self, byte: u64) -> io::Result<bool> {
        let mut request = request(libc::F_WRLCK, byte)?;
        fcntl(self.guarded.fd()?, libc::F_OFD_GETLK, &mut request)?;
        Ok(i32::from(request.l_type) != libc::F_UNLCK)
    }

    /// Whether the name still stands for the file held here, i.e. nobody has removed or replaced it.
    pub fn still_named(&self, dir: &DomainDir, name: &str) -> bool {
        let Ok(fd) = self.guarded.fd() else { return false };
        let Ok(held) = borrowed(fd, std::fs::File::metadata) else { return false };
        dir.is_current() && dir.identity_of(name).is_ok_and(|named| named == (held.dev(), held.ino()))
    }

    fn set(&self, kind: libc::c_int, byte: u64) -> io::Result<bool> {
        let mut request = request(kind, byte)?;
        match fcntl(self.guarded.fd()?, libc::F_OFD_SETLK, &mut request) {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Gives up every lock of a description.
pub(super) fn unlock_all(fd: RawFd) {
    if let Ok(mut all) = request(libc::F_UNLCK, 0) {
        all.l_len = 0; // up to the end, however far
                       // Cannot fail; and closing follows.
        let _ = fcntl(fd, libc::F_OFD_SETLK, &mut all);
    }
}

fn request(kind: libc::c_int, byte: u64) -> io::Result<libc::flock64> {
    let invalid = |_| io::Error::from_raw_os_error(libc::EINVAL);
    Ok(libc::flock64 {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: libc::off64_t::try_from(byte).map_err(invalid)?,
        l_len: 1,
        l_pid: 0,
    })
}

fn fcntl(fd: RawFd, command: libc::c_int, request: &mut libc::flock64) -> io::Result<()> {
    loop {
        // SAFETY: an open descriptor and a request that lives through the call.
        if unsafe { libc::fcntl(fd, command, std::ptr::from_mut(request)) } >= 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}
