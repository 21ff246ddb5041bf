//! The table of a work queue: a file beside its publisher's segments, which every consumer may write.
//!
//! ```text
//! byte 0   {lease in ms:32 | window:17 | magic:15}
//!     64   a cell of two words for each item of the window (`shoal_shm::claim`)
//! ```

use std::time::Duration;

use shoal_shm::claim::{Cell, Clock, CELL_WORDS};
use shoal_shm::segment::{DomainDir, OpenError, Segment};
use shoal_shm::sync::{AtomicU64, Ordering};

use crate::clock::mono_ns;
use crate::endpoint::KEEP_ALL_DEPTH;
use crate::error::{Error, Result};

const HEADER: usize = 64;
const MAGIC: u64 = 0x5155;
const MAGIC_BITS: u32 = 15;
const WINDOW_BITS: u32 = 17;

/// What becomes of the items of one publisher.
pub(crate) struct Table {
    segment: Segment,
    window: u64,
    /// In µs.
    lease: u64,
}

impl Table {
    /// Makes the table of a publisher of this context.
    ///
    /// # Errors
    /// The window or the lease is out of range, or there is no shared memory.
    pub(crate) fn create(dir: &DomainDir, context: u64, endpoint: u32, window: usize, lease: Duration) -> Result<Self> {
        let most = KEEP_ALL_DEPTH as usize;
        if !(1..=most).contains(&window) {
            return Err(Error::InvalidArgument(format!("a window of {window} items; a queue has 1 to {most}")));
        }
        let milliseconds = u32::try_from(lease.as_millis()).ok().filter(|lease| *lease > 0).ok_or_else(|| {
            Error::InvalidArgument(format!(
                "a lease of {lease:?}; it is 1 ms to {:?}",
                Duration::from_millis(u32::MAX.into())
            ))
        })?;
        let len = length(window as u64);
        let segment = Segment::create_sparse(dir, &name(context, endpoint), len).map_err(no_table)?;
        if let Err(error) = segment.commit(0, len) {
            let _ = dir.unlink(&name(context, endpoint));
            return Err(no_table(error));
        }
        let table = Self { segment, window: window as u64, lease: u64::from(milliseconds) * 1000 };
        // One word, so that whoever opens the file finds all of it or nothing. The cells are zero until they are opened.
        let header = u64::from(milliseconds) << 32 | (window as u64) << MAGIC_BITS | MAGIC;
        table.words(0, 1).iter().for_each(|word| word.store(header, Ordering::Relaxed));
        Ok(table)
    }

    /// The table of a peer's publisher; `Ok(None)`: it has none, or it is not what it should be.
    ///
    /// # Errors
    /// This process may not map it now.
    pub(crate) fn open(dir: &DomainDir, context: u64, endpoint: u32) -> std::result::Result<Option<Self>, OpenError> {
        let name = name(context, endpoint);
        let opened = |len| match Segment::open_rw(dir, &name, len) {
            Ok(segment) => Ok(Some(segment)),
            Err(error) if error.is_refusal() => Err(error),
            Err(_) => Ok(None),
        };
        let Some(head) = opened(HEADER)? else { return Ok(None) };
        let Some(word) = head.words(0, 1) else { return Ok(None) };
        let header = word[0].load(Ordering::Relaxed);
        let window = header >> MAGIC_BITS & ((1 << WINDOW_BITS) - 1);
        if header & ((1 << MAGIC_BITS) - 1) != MAGIC || !(1..=u64::from(KEEP_ALL_DEPTH)).contains(&window) {
            return Ok(None);
        }
        let segment = opened(length(window))?;
        Ok(segment.map(|segment| Self { segment, window, lease: (header >> 32) * 1000 }))
    }

    /// Takes the file away; who has mapped it keeps it.
    pub(crate) fn remove(dir: &DomainDir, context: u64, endpoint: u32) {
        let _ = dir.unlink(&name(context, endpoint));
    }

    fn words(&self, at: usize, count: usize) -> &[AtomicU64] {
        self.segment.words(at, count).unwrap_or(&[])
    }

    /// The most items in flight.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Now, and how long a claim holds.
    pub(crate) fn clock(&self) -> Clock {
        Clock { now: mono_ns() / 1000, lease: self.lease }
    }

    pub(crate) fn cell(&self, item: u64) -> Option<Cell<'_>> {
        Cell::of(self.words(HEADER, self.window as usize * CELL_WORDS), item)
    }

    /// Whether an item that was sent is acknowledged; there is none before 1.
    pub(crate) fn is_done(&self, item: u64) -> bool {
        self.cell(item).is_none_or(|cell| cell.is_done(item))
    }

    /// The last item up to which all are acknowledged; `floor` is a known one.
    pub(crate) fn done_up_to(&self, floor: u64, head: u64) -> u64 {
        let least = floor.max(head.saturating_sub(self.window)).min(head);
        (least + 1..=head).take_while(|item| self.is_done(*item)).last().unwrap_or(least)
    }
}

fn name(context: u64, endpoint: u32) -> String {
    format!("{context:016x}.queue{endpoint}")
}

fn length(window: u64) -> usize {
    HEADER + window as usize * CELL_WORDS * 8
}

fn no_table(error: shoal_shm::segment::CreateError) -> Error {
    Error::Other(format!("no table for a work queue: {error}"))
}
