//! The object that turns signals into interruptions, and gives them back.

use std::io;
use std::mem::MaybeUninit;

use libc::{c_int, sigaction};
use parking_lot::Mutex;

use super::bells;

/// Signals that say that the thread cannot go on: returning from a handler of ours would only raise them again.
const OF_A_FAULT: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];

/// A signal that at least one [`Interrupt`] has armed.
struct Armed {
    signal: c_int,
    guards: usize,
    /// What the first of them displaced, and the last one puts back.
    displaced: sigaction,
}

static ARMED: Mutex<Vec<Armed>> = Mutex::new(Vec::new());

/// Why an [`Interrupt`] was not made. Nothing of it stays armed.
#[derive(Debug, thiserror::Error)]
pub enum ArmError {
    /// The signal reports a fault of the program itself.
    #[error("signal {0} reports a fault and cannot interrupt a wait; choose one like SIGINT ({sigint}) or SIGTERM ({sigterm})", sigint = libc::SIGINT, sigterm = libc::SIGTERM)]
    Fault(c_int),
    /// The kernel refuses a handler for it.
    #[error("signal {signal} cannot be caught ({source}); choose one like SIGINT ({sigint}) or SIGTERM ({sigterm})", sigint = libc::SIGINT, sigterm = libc::SIGTERM)]
    Refused {
        /// The signal.
        signal: c_int,
        /// The kernel's own account.
        source: io::Error,
    },
}

/// Interrupts the waits of this process: by itself, or when one of its signals arrives.
///
/// All objects see one flag. Dropping the last one that armed a signal restores the handler that the first displaced.
/// A wake-up is a futex call and waits for no timer, so there is no timer slack or scheduling to override and restore.
#[derive(Debug)]
pub struct Interrupt {
    signals: Vec<c_int>,
}

impl Interrupt {
    /// Arms these signals; none is as good: then it is a plain handle.
    ///
    /// # Errors
    /// One of them cannot be armed; those before it are given back.
    pub fn new(signals: &[c_int]) -> Result<Interrupt, ArmError> {
        // The handler finds it made.
        let _ = bells::interruption();
        let mut made = Interrupt { signals: Vec::with_capacity(signals.len()) };
        for &signal in signals {
            arm(signal)?;
            made.signals.push(signal);
        }
        Ok(made)
    }

    /// Interrupts: every parked thread of the process wakes, and waits end at once until [`resume`](Self::resume).
    /// Async-signal-safe.
    pub fn interrupt(&self) {
        bells::interrupt_process();
    }

    /// Whether the process is interrupted.
    pub fn interrupted(&self) -> bool {
        bells::interruption().raised
    }

    /// Lets waits wait again.
    pub fn resume(&self) {
        bells::process().resume();
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        // The reverse order, as they were taken.
        self.signals.iter().rev().for_each(|signal| disarm(*signal));
    }
}

fn arm(signal: c_int) -> Result<(), ArmError> {
    if OF_A_FAULT.contains(&signal) {
        return Err(ArmError::Fault(signal));
    }
    let mut armed = ARMED.lock();
    if let Some(known) = armed.iter_mut().find(|known| known.signal == signal) {
        known.guards += 1;
        return Ok(());
    }
    let displaced = replace(signal, &ours()).map_err(|source| ArmError::Refused { signal, source })?;
    armed.push(Armed { signal, guards: 1, displaced });
    Ok(())
}

fn disarm(signal: c_int) {
    let mut armed = ARMED.lock();
    let Some(at) = armed.iter().position(|known| known.signal == signal) else { return };
    armed[at].guards -= 1;
    if armed[at].guards == 0 {
        let known = armed.swap_remove(at);
        // It was this signal's handler before, so the kernel takes it.
        let _ = replace(signal, &known.displaced);
    }
}

/// Our handler. Other system calls of the program are restarted: only waits of ours end.
fn ours() -> sigaction {
    // SAFETY: a struct of integers and optional pointers, for all of which zero is a value.
    let mut action: sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = on_signal as extern "C" fn(c_int) as usize;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    action
}

fn replace(signal: c_int, new: &sigaction) -> io::Result<sigaction> {
    let mut old = MaybeUninit::uninit();
    // SAFETY: both structs live through the call, which fills `old` when it succeeds; the handler is async-signal-safe
    // and stays loaded (rcl never unloads a middleware).
    unsafe {
        if libc::sigaction(signal, new, old.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(old.assume_init())
    }
}

/// Atomics, and futex wakes that keep errno.
extern "C" fn on_signal(_signal: c_int) {
    bells::interrupt_process();
}
