//! Sleeping on several words at once.

use super::{end_of, wait, Deadline, WaitEnd};
use crate::sync::{address, AtomicU32, Ordering};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Words the kernel takes in one futex_waitv.
const MOST: usize = 128;

/// One word of futex_waitv, as the kernel wants it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Waiter {
    expected: u64,
    address: u64,
    flags: u32,
    reserved: u32,
}

/// FUTEX2_SIZE_U32, without FUTEX2_PRIVATE.
const SHARED_U32: u32 = 2;

/// How long one look lasts where the kernel cannot wait for several words.
const LOOK: Duration = Duration::from_millis(5);

/// Set once the kernel has said that it has no futex_waitv (before Linux 5.16, or a sandbox).
static NO_WAITV: AtomicBool = AtomicBool::new(false);

/// Sleeps while every word has its expected value, until one of them is woken, the deadline or a signal. With no word
/// it sleeps until the deadline or a signal.
///
/// Kernels without futex_waitv, and more than 128 words, are served by looking every 5 ms: correct, but not idle.
pub fn wait_any(words: &[(&AtomicU32, u32)], deadline: Option<Deadline>) -> WaitEnd {
    match words {
        [] => wait(&AtomicU32::new(0), 0, deadline),
        [(word, expected)] => wait(word, *expected, deadline),
        _ if words.len() > MOST || NO_WAITV.load(Ordering::Relaxed) => look_in_turns(words, deadline),
        _ => wait_many(words, deadline),
    }
}

fn wait_many(words: &[(&AtomicU32, u32)], deadline: Option<Deadline>) -> WaitEnd {
    let mut waiters = [Waiter { expected: 0, address: 0, flags: 0, reserved: 0 }; MOST];
    for (waiter, (word, expected)) in waiters.iter_mut().zip(words) {
        let Some(address) = address(word) else { return WaitEnd::Changed };
        *waiter = Waiter { expected: u64::from(*expected), address: address as u64, flags: SHARED_U32, reserved: 0 };
    }
    let until = deadline.map(Deadline::timespec);
    let until = until.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the waiters, their words and the time live through the call; the kernel only reads them. The structure is
    // the kernel's `struct futex_waitv`, and no more of them are announced than there are.
    let result = unsafe {
        libc::syscall(libc::SYS_futex_waitv, waiters.as_ptr(), words.len() as u32, 0_u32, until, libc::CLOCK_MONOTONIC)
    };
    let unknown = matches!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOSYS | libc::EPERM));
    if result < 0 && unknown {
        NO_WAITV.store(true, Ordering::Relaxed);
        return look_in_turns(words, deadline);
    }
    end_of(result)
}

/// Sleeps on the first word for a moment at a time and looks at the others in between.
pub(super) fn look_in_turns(words: &[(&AtomicU32, u32)], deadline: Option<Deadline>) -> WaitEnd {
    loop {
        if words.iter().any(|(word, expected)| word.load(Ordering::Relaxed) != *expected) {
            return WaitEnd::Changed;
        }
        if deadline.is_some_and(Deadline::passed) {
            return WaitEnd::TimedOut;
        }
        let look = Deadline::after(LOOK);
        let (word, expected) = words[0];
        match wait(word, expected, Some(deadline.map_or(look, |end| end.min(look)))) {
            WaitEnd::TimedOut => {}
            end => return end,
        }
    }
}
