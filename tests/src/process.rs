//! Forked processes, their namespaces, and memory they share.
//!
//! Only a process with one thread may fork here: the child goes on in the middle of a Rust program.

use nix::mount::{mount, MsFlags};
use nix::sched::{unshare, CloneFlags};
use nix::sys::mman::{mmap_anonymous, MapFlags, ProtFlags};
use nix::sys::signal::{kill, Signal};
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::{fork, ForkResult, Pid};
use std::num::NonZeroUsize;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;

/// The exit code of a child that panicked.
pub const PANICKED: i32 = 101;

/// Runs `body` in a child, which ends with the exit code it answers; destructors beyond `body` and exit handlers do not run.
///
/// # Errors
/// The system's.
pub fn fork_into(body: impl FnOnce() -> i32) -> nix::Result<Pid> {
    // SAFETY: this process has one thread, so the child finds every lock free; it never returns from here.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(PANICKED);
            exit_now(code)
        }
    }
}

/// Ends this process, without anything else.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: takes no pointer and does not return.
    unsafe { nix::libc::_exit(code) }
}

/// As [`fork_into`], in a PID namespace of its own, where the child has the PID 2. `first` is told the PID of its PID 1: who
/// kills that kills both. The process that this answers ends as the child does.
///
/// # Errors
/// The system's. That there are no rights for namespaces shows in `code` 99.
pub fn fork_nested(first: impl FnOnce(Pid), body: impl FnOnce() -> i32) -> nix::Result<Pid> {
    fork_into(|| {
        let Ok(()) = unshare(CloneFlags::CLONE_NEWPID) else { return 99 };
        let Ok(init) = fork_into(|| end_as(fork_into(body))) else { return 99 };
        first(init);
        end_as(Ok(init))
    })
}

/// Waits for a child and says how it ended: its exit code, or 128 and its signal.
fn end_as(child: nix::Result<Pid>) -> i32 {
    match child.and_then(|child| waitpid(child, None)) {
        Ok(WaitStatus::Exited(_, code)) => code,
        Ok(WaitStatus::Signaled(_, signal, _)) => 128 + signal as i32,
        _ => PANICKED,
    }
}

/// SIGKILLs this process when its parent dies.
pub fn die_with_parent() {
    // It can only fail for a number that is no signal.
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
}

/// Sends a signal; that the process is gone is fine.
pub fn signal(pid: Pid, signal: Signal) {
    let _ = kill(pid, signal);
}

/// Zeroed memory that this process and all it forks share, for ever.
pub fn shared<T>() -> &'static T
where
    T: Sync,
{
    let len = NonZeroUsize::new(size_of::<T>()).expect("not empty");
    // SAFETY: a fresh mapping, which replaces nothing.
    let at = unsafe { mmap_anonymous(None, len, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_SHARED) };
    let at = at.expect("memory for a few counters");
    // SAFETY: page-aligned, as long as T, never unmapped; the callers' types are made of atomics, for which zero is a value.
    unsafe { at.cast().as_ref() }
}

/// A mount namespace of this process's own, with a file system of `bytes` at `at`. Only for a process with one thread.
///
/// # Errors
/// The system's: EPERM without the rights.
pub fn own_tmpfs(at: &Path, bytes: u64) -> nix::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
    mount(Some("shoal-test"), at, Some("tmpfs"), MsFlags::empty(), Some(format!("size={bytes},mode=1777").as_str()))
}

/// The `/proc` of this process's PID namespace; after [`own_tmpfs`].
///
/// # Errors
/// The system's.
pub fn own_proc() -> nix::Result<()> {
    mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), None::<&str>)
}
