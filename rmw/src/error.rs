//! The one error type that the C layer translates.

use shoal_registry::{ClaimError, JoinError};
use shoal_shm::arena::AllocError;
use shoal_shm::segment::OpenError;

/// What a call can end with when it does not succeed.
///
/// `Display` is the text a user reads: what was wrong, with the value, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument cannot be used.
    #[error("{0}")]
    InvalidArgument(String),
    /// The request is understood, but this middleware does not do it.
    #[error("{0}")]
    Unsupported(String),
    /// Shared memory for a sample or a ring could not be had.
    #[error("no shared memory for {what}: {source}")]
    Alloc {
        /// What the memory was for.
        what: String,
        /// The allocator's own account.
        source: AllocError,
    },
    /// The domain could not be joined.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// An entity could not be entered into the graph.
    #[error("cannot enter {what} into the graph: {source}")]
    Claim {
        /// The entity.
        what: String,
        /// The registry's own account.
        source: ClaimError,
    },
    /// A message cannot be written as CDR.
    #[error("cannot serialize: {0}")]
    Encode(#[from] crate::cdr::EncodeError),
    /// A received sample is not CDR of this type. The sample is used up.
    #[error("cannot deserialize: {0}")]
    Decode(#[from] crate::cdr::DecodeError),
    /// The context belongs to the process that forked this one.
    #[error("this context belongs to the parent process; a forked child must create its own context (rmw_init)")]
    Forked,
    /// Pages of the domain's registry are gone.
    #[error(
        "{} has lost pages, so this context no longer sees the others: the file was cut short, or damaged while its file \
         system was full; stop all nodes of the domain and start them again",
        path.display()
    )]
    Damaged {
        /// The registry file.
        path: std::path::PathBuf,
    },
    /// This process may not open or map what another one sent. Nothing is used up.
    #[error(
        "cannot read what another process sent: {0}; it is still unread: raise the limit of open files (RLIMIT_NOFILE, \
         ulimit -n) or of memory, or close files, and take again"
    )]
    Refused(#[from] OpenError),
    /// The context was shut down.
    #[error("the context has been shut down; create a new one (rmw_init)")]
    ShutDown,
    /// The graph has no such node.
    #[error("no node '{name}' in namespace '{namespace}'")]
    NodeNameNonExistent {
        /// Node name asked for.
        name: String,
        /// Namespace asked for.
        namespace: String,
    },
    /// The publisher's stream was finished.
    #[error(
        "the stream of this publisher was finished (shoal_publisher_finish); create another publisher to send more"
    )]
    Finished,
    /// A bounded wait came to its end.
    #[error("{0}")]
    Timeout(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// What an [`Error`] means to a caller of the RMW API; the C layer maps it to `rmw_ret_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// `RMW_RET_ERROR`
    Error,
    /// `RMW_RET_BAD_ALLOC`
    BadAlloc,
    /// `RMW_RET_INVALID_ARGUMENT`
    InvalidArgument,
    /// `RMW_RET_UNSUPPORTED`
    Unsupported,
    /// `RMW_RET_TIMEOUT`
    Timeout,
    /// `RMW_RET_NODE_NAME_NON_EXISTENT`
    NodeNameNonExistent,
}

impl Error {
    /// The class of this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::InvalidArgument(_) => ErrorKind::InvalidArgument,
            Error::Unsupported(_) => ErrorKind::Unsupported,
            Error::Alloc { .. } => ErrorKind::BadAlloc,
            Error::Timeout(_) => ErrorKind::Timeout,
            Error::NodeNameNonExistent { .. } => ErrorKind::NodeNameNonExistent,
            Error::Join(_)
            | Error::Claim { .. }
            | Error::Encode(_)
            | Error::Decode(_)
            | Error::Forked
            | Error::Damaged { .. }
            | Error::Refused(_)
            | Error::ShutDown
            | Error::Finished
            | Error::Other(_) => ErrorKind::Error,
        }
    }
}

/// Result of the calls of this crate.
pub type Result<T> = std::result::Result<T, Error>;
