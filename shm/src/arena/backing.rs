//! Where segments come from: files, or heap memory that acts like a file system of a given size.

use super::error::AllocError;
use super::ranges::Range;
use crate::segment::{DomainDir, Segment};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// The source of an arena's segments.
#[derive(Debug)]
pub(super) enum Backing {
    Files { dir: Arc<DomainDir>, prefix: String },
    Heap { left: u64 },
}

impl Backing {
    pub(super) fn files(dir: Arc<DomainDir>, prefix: String) -> Backing {
        Backing::Files { dir, prefix }
    }

    pub(super) fn heap(budget: u64) -> Backing {
        Backing::Heap { left: budget }
    }

    /// A new segment of `len` reserved bytes.
    pub(super) fn create(&mut self, number: u16, len: u64) -> Result<Segment, AllocError> {
        let bytes = usize::try_from(len).map_err(|_| AllocError::TooLarge { asked: len, most: usize::MAX as u64 })?;
        match self {
            Backing::Files { dir, prefix } => Ok(Segment::create(dir, &format!("{prefix}.{number}"), bytes)?),
            Backing::Heap { left } => {
                spend(left, len)?;
                Ok(Segment::heap(bytes))
            }
        }
    }

    /// Removes the name of a segment; its pages go when the last mapping does.
    pub(super) fn remove(&mut self, number: u16) {
        if let Backing::Files { dir, prefix } = self {
            // Already gone: then somebody took us for dead, and there is nothing left to do.
            let _ = dir.unlink(&format!("{prefix}.{number}"));
        }
    }

    /// Reserves pages that were given back.
    pub(super) fn fill(&mut self, segment: &Segment, hole: Range) -> Result<(), AllocError> {
        if let Backing::Heap { left } = self {
            return spend(left, hole.len());
        }
        let filled = segment.commit(hole.start as usize, hole.len() as usize);
        if filled.is_err() {
            // A long hole is filled in steps; what was reserved before the failure is still booked as a hole.
            segment.punch(hole.start as usize, hole.len() as usize);
        }
        Ok(filled?)
    }

    /// Gives pages back; answers whether they were taken.
    pub(super) fn punch(&mut self, segment: &Segment, hole: Range) -> bool {
        let punched = segment.punch(hole.start as usize, hole.len() as usize);
        if punched {
            self.refund(hole.len());
        }
        punched
    }

    /// Books reserved bytes of the heap as free again.
    pub(super) fn refund(&mut self, len: u64) {
        if let Backing::Heap { left } = self {
            *left = left.saturating_add(len);
        }
    }
}

fn spend(left: &mut u64, len: u64) -> Result<(), AllocError> {
    let full = || AllocError::NoSpace {
        needed: len,
        what: "shared memory",
        path: PathBuf::from("the heap"),
        source: io::Error::from_raw_os_error(libc::ENOSPC),
    };
    *left = left.checked_sub(len).ok_or_else(full)?;
    Ok(())
}
