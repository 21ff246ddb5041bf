//! Why joining a domain or claiming a slot failed, in words for the user.

use shoal_shm::segment::{CreateError, DirError, OpenError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a context cannot join its domain.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The domain directory cannot be used: another user's, a symlink, wrong mode, ….
    #[error(transparent)]
    Dir(#[from] DirError),
    /// The registry file cannot be created or grown.
    #[error(transparent)]
    Create(#[from] CreateError),
    /// The registry file cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Someone holds the domain in the middle of creating or removing it.
    #[error("{path} is still held by who sets the domain up or removes it after {waited:?}: {who}")]
    Busy {
        /// The domain's lock file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
        /// The processes that have the file open, and what to do.
        who: String,
    },
    /// Living processes of the domain use another layout.
    #[error("{path} is in use by nodes whose shared-memory layout has version {theirs}, but this process has version {ours}: stop them all, or run the same rmw_shoal everywhere")]
    Version {
        /// The registry file.
        path: PathBuf,
        /// Their layout version.
        theirs: u64,
        /// Our layout version.
        ours: u64,
    },
    /// The header of the registry holds values that no version writes.
    #[error("{path} is damaged: its header names impossible sizes; stop all nodes of the domain and start them again")]
    Damaged {
        /// The registry file.
        path: PathBuf,
    },
    /// Every context entry is taken.
    #[error("all {limit} contexts of {path} are taken: stop some processes, or spread them over several domains")]
    ContextsFull {
        /// The domain directory.
        path: PathBuf,
        /// How many there can be.
        limit: usize,
    },
    /// The enclave does not fit into the context table.
    #[error("the enclave name has {len} bytes or holds a NUL, but must have at most {limit} and none")]
    Enclave {
        /// Its length in bytes.
        len: usize,
        /// The most it may have.
        limit: usize,
    },
    /// A system call failed.
    #[error("cannot {what} in {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The domain directory.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

/// Why no slot could be claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// A table is full.
    #[error("all {limit} {what} of this domain are taken: stop some nodes, or spread them over several domains")]
    Full {
        /// Which table.
        what: &'static str,
        /// How many entries it has.
        limit: usize,
    },
    /// No pages for more slots.
    #[error("the registry cannot grow by {needed} bytes: {source}")]
    NoSpace {
        /// Bytes that were asked for.
        needed: usize,
        /// The system's answer, with the file and the remedy.
        source: CreateError,
    },
    /// A name is longer than its field, or holds a NUL.
    #[error("the {what} has {len} bytes or holds a NUL, but must have at most {limit} and none: '{start}…'")]
    NameTooLong {
        /// Which name.
        what: &'static str,
        /// Its length in bytes.
        len: usize,
        /// The most it may have.
        limit: usize,
        /// How it begins.
        start: String,
    },
    /// The context has left the domain.
    #[error("this context has been shut down and takes part in the graph no more")]
    Left,
    /// The process was forked from the one that joined.
    #[error(
        "this process was forked from the one that created the context: create a context of its own after the fork"
    )]
    Forked,
}
