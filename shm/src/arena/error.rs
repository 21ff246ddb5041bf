//! Why memory could not be had.

use crate::segment::CreateError;
use std::io;
use std::path::PathBuf;

/// Why [`Arena::alloc`](super::Arena::alloc) failed.
#[derive(Debug, thiserror::Error)]
pub enum AllocError {
    /// The file system is full.
    #[error("no room for {needed} bytes of {what} in {path} ({source}): free space there, or make the file system larger (a container needs e.g. --shm-size=1g)")]
    NoSpace {
        /// Bytes that were to be reserved.
        needed: u64,
        /// What they were for.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// One block cannot be this large.
    #[error("{asked} bytes in one piece are more than the {most} that a segment can hold: send less in one sample")]
    TooLarge {
        /// Bytes asked for.
        asked: u64,
        /// The most possible.
        most: u64,
    },
    /// The arena has used up all its segment numbers.
    #[error("all 65536 segment numbers of this context are used up: restart the process")]
    TooManySegments,
    /// The context has been shut down.
    #[error("the memory of this context was given back when it was shut down")]
    Closed,
    /// The arena belongs to the parent of this process.
    #[error("this process was forked from the owner of the memory and may not use it: create a context of its own")]
    Forked,
    /// The segment could not be created for another reason than space.
    #[error(transparent)]
    Segment(CreateError),
}

impl From<CreateError> for AllocError {
    fn from(error: CreateError) -> AllocError {
        match error {
            CreateError::NoSpace { needed, what, path, source } => AllocError::NoSpace { needed, what, path, source },
            other => AllocError::Segment(other),
        }
    }
}
