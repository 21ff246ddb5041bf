//! Pages that are gone: a mapped file that somebody cuts short, or a hole in it when the file system is full, answers a
//! load with SIGBUS, which would end the process. No length that was checked before helps, and no check can come between.
//!
//! So this process handles SIGBUS for its own mappings of a domain's files:
//! 1. A mapping is entered in [`MAPPINGS`] after it was made and taken out before it is unmapped, so that an address in
//!    an entry is an address in a mapping of ours. Whoever faults there holds the mapping, so its entry stands.
//! 2. At a fault in an entry, the handler puts a page of zeros in the place of the one that is gone, private to this
//!    process, notes in the entry that the mapping is not whole any more, and lets the load run again. Zeros are checked
//!    where they are used, like everything that a peer may have written.
//! 3. Every other SIGBUS goes to whoever handled it before, or has the effect that it has by default.
//!
//! The handler does nothing but atomic operations and system calls: it is async-signal-safe. std atomics and not the
//! facade's: the table is a static of one process, which no model covers, and needs no order, since whoever faults got the
//! mapping from whoever made it.

#[cfg(all(test, not(loom)))]
mod tests;

use super::map::Protection;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::OnceLock;

/// As many mappings as Linux lets a process have unless told otherwise (`vm.max_map_count`); beyond, they are unguarded.
const MOST: usize = 1 << 16;

/// The unit of addresses in an entry; a page may be larger.
const UNIT: usize = 4096;

/// The longest mapping that an entry can tell, in bytes: as long as a segment can be.
pub(super) const MOST_BYTES: usize = UNIT << UNITS_BITS;

const LOST: u64 = 1;
const WRITABLE: u64 = 2;
const UNITS_AT: u32 = 2;
const UNITS_BITS: u32 = 22;
const START_AT: u32 = UNITS_AT + UNITS_BITS;

/// `{start/4096:40 | (length/4096 rounded up) - 1:22 | writable:1 | lost:1}` from the high bit down; 0 is an empty place.
static MAPPINGS: [AtomicU64; MOST] = [const { AtomicU64::new(0) }; MOST];
static PAGE: AtomicUsize = AtomicUsize::new(UNIT);
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// A mapping's place in the table; empty again once this is dropped.
#[derive(Debug)]
pub(super) struct Guard(Option<usize>);

impl Guard {
    /// Enters a mapping of at most [`MOST_BYTES`].
    pub(super) fn new(start: NonNull<u8>, len: usize, protection: Protection) -> Guard {
        static HINT: AtomicUsize = AtomicUsize::new(0);
        install();
        let writable = if protection == Protection::ReadWrite { WRITABLE } else { 0 };
        let (first, units) = (start.addr().get() / UNIT, len.div_ceil(UNIT).max(1));
        let entry = (first as u64) << START_AT | (units as u64 - 1) << UNITS_AT | writable;
        let from = HINT.load(Ordering::Relaxed);
        let place = (0..MOST)
            .map(|i| (from + i) % MOST)
            .find(|&i| MAPPINGS[i].compare_exchange(0, entry, Ordering::Relaxed, Ordering::Relaxed).is_ok());
        HINT.store(place.map_or(0, |place| place + 1), Ordering::Relaxed);
        Guard(place)
    }

    /// Whether no page of the mapping was found gone so far.
    pub(super) fn is_whole(&self) -> bool {
        self.0.is_none_or(|place| MAPPINGS[place].load(Ordering::Relaxed) & LOST == 0)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            MAPPINGS[place].store(0, Ordering::Relaxed);
        }
    }
}

/// Handles SIGBUS from now on. Nobody takes the handler out again: the library that it is in stays loaded.
fn install() {
    BEFORE.get_or_init(|| {
        PAGE.store(crate::segment::sys::page_size(), Ordering::Relaxed);
        let before = action(None).unwrap_or_else(|_| plain(libc::SIG_DFL));
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_sigbus;
        let mut ours = plain(handler as libc::sighandler_t);
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // Can only fail for a signal that does not exist.
        let _ = action(Some(&ours));
        before
    });
}

fn plain(handler: libc::sighandler_t) -> libc::sigaction {
    // SAFETY: all zeros is a valid value of this plain structure: no flags, no signal masked.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action
}

/// Changes what SIGBUS does, where `to` says so; what it did before.
fn action(to: Option<&libc::sigaction>) -> io::Result<libc::sigaction> {
    let mut before = plain(libc::SIG_DFL);
    let to = to.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both structures live through the call; a handler, if there is one, is a function for that signal.
    match unsafe { libc::sigaction(libc::SIGBUS, to, &mut before) } {
        0 => Ok(before),
        _ => Err(io::Error::last_os_error()),
    }
}

extern "C" fn on_sigbus(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid record; for a positive code it tells an address.
    let (code, at) = unsafe { ((*info).si_code, (*info).si_addr()) };
    let is_fault = code > 0;
    if !(is_fault && patch(at.addr())) {
        pass_on(is_fault, signal, info, context);
    }
}

/// Puts zeros where a page of ours is gone. False: it is no page of ours, or there is no memory.
fn patch(at: usize) -> bool {
    let unit = (at / UNIT) as u64;
    for place in &MAPPINGS {
        let entry = place.load(Ordering::Relaxed);
        let units = entry >> UNITS_AT & ((1 << UNITS_BITS) - 1);
        if entry != 0 && unit.wrapping_sub(entry >> START_AT) <= units {
            place.fetch_or(LOST, Ordering::Relaxed);
            return put_zeros(at, entry & WRITABLE != 0);
        }
    }
    false
}

fn put_zeros(at: usize, writable: bool) -> bool {
    let page = PAGE.load(Ordering::Relaxed);
    let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    let start = std::ptr::without_provenance_mut::<libc::c_void>(at / page * page);
    // SAFETY: the page lies in a mapping of ours, which whoever faulted holds; nobody can have anything of it but a page
    // that is gone. errno is this thread's own.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let put = libc::mmap(start, page, protection, flags, -1, 0);
        *errno = before;
        put != libc::MAP_FAILED
    }
}

/// Somebody else's SIGBUS.
fn pass_on(is_fault: bool, signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = BEFORE.get().copied().unwrap_or_else(|| plain(libc::SIG_DFL));
    match before.sa_sigaction {
        libc::SIG_IGN if !is_fault => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // A fault happens again when this returns; a signal that was sent comes again.
            let _ = action(Some(&plain(libc::SIG_DFL)));
            if !is_fault {
                // SAFETY: raise takes no pointer.
                unsafe { libc::raise(signal) };
            }
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: sigaction gave this address with this flag, so it is a function of this type.
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: sigaction gave this address without the flag, so it is a function of this type.
            let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
