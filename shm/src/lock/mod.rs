//! Who is alive: byte-range locks that belong to an open file description.
//!
//! The kernel drops such a lock when the last descriptor of the description is closed, that is when the process dies,
//! however it dies. All descriptors are close-on-exec, so `execve` gives them up too. A forked child shares its parent's
//! description and would keep the parent's locks alive after the parent's death; therefore a `pthread_atfork` handler
//! closes them in the child ([`fork`]). A child made by a raw `clone` system call, past libc, is not seen.

mod file;
mod fork;
#[cfg(test)]
mod tests;

pub use file::LockFile;
pub use fork::fork_generation;
