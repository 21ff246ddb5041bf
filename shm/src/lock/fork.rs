//! Closing lock descriptors in forked children.
//!
//! Rules. [`SLOTS`] holds every lock descriptor of this process, plus one (0 is an empty slot). A descriptor is opened
//! and entered, or taken out and closed, only under [`BUSY`]; the prepare handler takes `BUSY` too, so that at the
//! moment of a fork the table names exactly the open descriptors. The child handler does nothing but close(2), atomic
//! stores and one atomic addition: it is async-signal-safe.
//!
//! std atomics and not the facade's: the table is a static. The model of `BUSY` stands with [`flag`].

use crate::sync::flag;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::Once;

/// Lock files one process may have open; a context has one or two.
const MOST: usize = 1024;

static SLOTS: [AtomicI32; MOST] = [const { AtomicI32::new(0) }; MOST];
static BUSY: AtomicBool = AtomicBool::new(false);
static GENERATION: AtomicU32 = AtomicU32::new(0);
static INSTALL: Once = Once::new();

/// How many forks lie between the first call of this in an ancestor and this process. A value remembered at creation
/// that differs from the present one says: this object was made by an ancestor, its locks are not ours.
pub fn fork_generation() -> u32 {
    INSTALL.call_once(|| {
        // SAFETY: three handlers of the right type, which live as long as the code does.
        let failed = unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
        // ENOMEM at most. Without the handlers a forked child would pass for its parent.
        assert!(failed == 0, "pthread_atfork failed with {failed}");
    });
    GENERATION.load(Ordering::Relaxed)
}

/// An open lock descriptor, which forked children lose.
#[derive(Debug)]
pub(super) struct Guarded {
    fd: RawFd,
    slot: usize,
    generation: u32,
}

impl Guarded {
    /// Opens a file with `open` so that no fork can fall between the opening and its entry in the table.
    pub(super) fn open(open: impl FnOnce() -> io::Result<File>) -> io::Result<Guarded> {
        let generation = fork_generation();
        let _busy = Busy::take();
        let full = || io::Error::other(format!("this process has {MOST} lock files open, the most it may have"));
        let slot = SLOTS.iter().position(|slot| slot.load(Ordering::Relaxed) == 0).ok_or_else(full)?;
        let fd = open()?.into_raw_fd();
        SLOTS[slot].store(fd + 1, Ordering::Relaxed);
        Ok(Guarded { fd, slot, generation })
    }

    /// The descriptor.
    ///
    /// # Errors
    /// In a forked child: there the descriptor is closed, and its number may mean something else by now.
    pub(super) fn fd(&self) -> io::Result<RawFd> {
        if self.generation != fork_generation() {
            return Err(io::Error::other(
                "this process was forked from the owner of the lock file and has no part in it",
            ));
        }
        Ok(self.fd)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let _busy = Busy::take();
        if self.generation == fork_generation() {
            // A child of another thread may hold a copy of the descriptor until it executes its program (posix_spawn
            // runs no fork handler), so closing alone might leave the locks held for a moment.
            super::file::unlock_all(self.fd);
            SLOTS[self.slot].store(0, Ordering::Relaxed);
            // SAFETY: opened by open(), entered in the table until this line, and closed nowhere else in this process.
            drop(unsafe { File::from_raw_fd(self.fd) });
        }
    }
}

/// A file whose descriptor stays ours to close.
pub(super) fn borrowed<R>(fd: RawFd, f: impl FnOnce(&File) -> R) -> R {
    // SAFETY: the descriptor is open for the length of this call; ManuallyDrop keeps this File from closing it.
    let file = std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    debug_assert_eq!(file.as_raw_fd(), fd);
    f(&file)
}

/// Holding [`BUSY`]. Not a parking_lot mutex: the child must be able to release it without touching the queues of
/// threads that no longer exist.
struct Busy;

impl Busy {
    fn take() -> Busy {
        flag::take(&BUSY);
        Busy
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        flag::give(&BUSY);
    }
}

extern "C" fn prepare() {
    std::mem::forget(Busy::take());
}

extern "C" fn parent() {
    drop(Busy);
}

extern "C" fn child() {
    for slot in &SLOTS {
        let entry = slot.swap(0, Ordering::Relaxed);
        if entry > 0 {
            // SAFETY: the table names open descriptors of the parent, hence of this copy of it; nobody uses them here,
            // because every use compares the generation first.
            unsafe { libc::close(entry - 1) };
        }
    }
    GENERATION.fetch_add(1, Ordering::Relaxed);
    drop(Busy);
}
