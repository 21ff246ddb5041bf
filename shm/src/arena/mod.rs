//! The owner's allocator over growing segments.
//!
//! An arena belongs to one context and is never shared: its bookkeeping is ordinary heap memory, and only the blocks
//! themselves lie in the segments. So a peer can neither read nor damage it, and a death leaves nothing but files to
//! unlink.
//!
//! Invariants. Free extents of a segment are disjoint, 64-aligned and never adjacent (freeing coalesces). Holes (pages
//! given back to the file system) are page-aligned, disjoint, never adjacent, and lie inside free extents; a block has
//! no hole in it. Every byte outside the holes is reserved in the file system, so writing a block cannot fault.

mod backing;
mod error;
mod give_back;
mod pool;
mod ranges;
#[cfg(test)]
mod tests;

use crate::lock::fork_generation;
use crate::segment::{DomainDir, Segment};
use crate::sync::{AtomicU64, FIRST_SEGMENT};
use backing::Backing;
use pool::Pool;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use error::AllocError;

/// Where a block lies. It comes from [`Arena::alloc`] and goes back with [`Arena::free`], unchanged.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Block {
    /// The number of the segment file.
    pub segment: u16,
    /// Bytes from the start of the segment; a multiple of 64.
    pub offset: u64,
    /// Bytes, rounded up from what was asked for: to 64 below 4 KiB, to 4 KiB above.
    pub len: u64,
}

/// The longest segment, so that an offset in units of 64 bytes fits 28 bits.
pub const MAX_SEGMENT: u64 = 1 << 34;

/// Growth doubles what is there, up to this many bytes a step.
const MAX_GROWTH: u64 = 64 << 20;

/// How long a block given to [`Arena::free_later`] stays as it is.
const GRACE: Duration = Duration::from_secs(1);

/// Sizes from here on are rounded to this.
const COARSE: u64 = 4096;

/// The grain of offsets and of small sizes.
const GRAIN: u64 = 64;

/// An allocator over segment files `<prefix>.<n>`, or over heap memory. Not `Sync`: callers lock.
///
/// In a forked child it refuses to allocate and leaves the parent's files alone.
#[derive(Debug)]
pub struct Arena {
    backing: Backing,
    segments: BTreeMap<u16, Arc<Segment>>,
    pool: Pool,
    /// Numbers are never used twice: a peer may still have the old segment of that number mapped.
    next_number: u32,
    generation: u32,
    closed: bool,
    /// The most bytes in use since the last look for memory to give back.
    peak: u64,
    looked: Instant,
    /// Blocks that stragglers may still look at, and since when they are unused.
    leaving: VecDeque<(Instant, Block)>,
    grace: Duration,
}

impl Arena {
    /// An arena over files `<prefix>.0`, `<prefix>.1`, … in `dir`. It creates nothing yet.
    pub fn new(dir: Arc<DomainDir>, prefix: String) -> Arena {
        Arena::over(Backing::files(dir, prefix))
    }

    /// An arena over heap memory, for tests and models.
    pub fn heap() -> Arena {
        Arena::over(Backing::heap(u64::MAX))
    }

    /// An arena over heap memory that acts like a file system of `budget` bytes: beyond them it has no space.
    pub fn heap_with_budget(budget: u64) -> Arena {
        Arena::over(Backing::heap(budget))
    }

    fn over(backing: Backing) -> Arena {
        Arena {
            backing,
            segments: BTreeMap::new(),
            pool: Pool::default(),
            next_number: 0,
            generation: fork_generation(),
            closed: false,
            peak: 0,
            looked: Instant::now(),
            leaving: VecDeque::new(),
            grace: GRACE,
        }
    }

    /// A block of at least `len` bytes, reserved in the file system. Its content is whatever was there before.
    ///
    /// # Errors
    /// The file system is full, `len` is beyond the longest segment, the arena is closed or belongs to the parent of
    /// this process, or the system refuses. The arena is as before then.
    pub fn alloc(&mut self, len: usize) -> Result<Block, AllocError> {
        self.usable()?;
        self.free_due();
        let rounded = rounded(len).ok_or(AllocError::TooLarge { asked: len as u64, most: MAX_SEGMENT })?;
        let block = match self.take_free(rounded)? {
            Some(block) => Some(block),
            None => {
                self.grow_or_make_room(rounded)?;
                self.pool.take_whole(rounded)
            }
        };
        self.peak = self.peak.max(self.pool.in_use());
        block.ok_or(AllocError::TooLarge { asked: len as u64, most: MAX_SEGMENT })
    }

    /// Takes a block back. Memory beyond what is worth keeping goes back to the file system: see [`tidy`](Self::tidy).
    /// A block that is not in use is ignored (and a bug of the caller).
    pub fn free(&mut self, block: Block) {
        let known = self.pool.give(block);
        debug_assert!(known, "{block:?} is not in use");
        if known {
            self.settle();
        }
    }

    /// Takes a block back after a second, at the next call of this arena. For memory that peers read without announcing
    /// it, such as an outgrown ring: they find out that it is stale, but until then its pages must not have been given
    /// back, because reading a punched page takes a new one from the file system, and is SIGBUS where that is full.
    pub fn free_later(&mut self, block: Block) {
        self.free_due();
        self.leaving.push_back((Instant::now(), block));
    }

    /// How long [`free_later`](Self::free_later) keeps a block.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_grace(&mut self, grace: Duration) {
        self.grace = grace;
    }

    fn free_due(&mut self) {
        while let Some(&(_, block)) = self.leaving.front().filter(|(since, _)| since.elapsed() >= self.grace) {
            self.leaving.pop_front();
            self.free(block);
        }
    }

    /// Gives everything that is free back to the file system: unlinks segments wholly free (but for the first) and
    /// punches the pages of the other free extents. [`tidy`](Self::tidy) does so by and by.
    pub fn trim(&mut self) {
        if self.usable().is_ok() {
            self.free_due();
            self.give_back(0);
        }
    }

    /// The words of a block; none if the block is not one of this arena.
    pub fn words(&self, block: Block) -> &[AtomicU64] {
        let words = self.segments.get(&block.segment).and_then(|segment| {
            segment.words(usize::try_from(block.offset).ok()?, usize::try_from(block.len / 8).ok()?)
        });
        debug_assert!(words.is_some(), "{block:?} is not a block of this arena");
        words.unwrap_or(&[])
    }

    /// The address of a block's first byte; null if the block is not one of this arena.
    pub fn bytes_mut(&self, block: Block) -> *mut u8 {
        let bytes = self.segments.get(&block.segment).and_then(|segment| {
            segment.bytes_mut_ptr(usize::try_from(block.offset).ok()?, usize::try_from(block.len).ok()?)
        });
        debug_assert!(bytes.is_some(), "{block:?} is not a block of this arena");
        bytes.unwrap_or(std::ptr::null_mut())
    }

    /// A segment by number, for the owner to read its own memory as its peers do.
    pub fn segment(&self, number: u16) -> Option<&Arc<Segment>> {
        self.segments.get(&number)
    }

    /// Bytes reserved in the file system.
    pub fn committed(&self) -> usize {
        usize::try_from(self.pool.committed()).unwrap_or(usize::MAX)
    }

    /// Bytes in blocks.
    pub fn in_use(&self) -> usize {
        usize::try_from(self.pool.in_use()).unwrap_or(usize::MAX)
    }

    /// Unlinks every segment; allocating afterwards is an error. The memory stays mapped until the arena is dropped: a
    /// thread may be writing a block. Dropping an arena without closing it leaves the files, for readers of what a dead
    /// context committed.
    pub fn close(&mut self) {
        let ours = self.generation == fork_generation();
        for (&number, _) in self.segments.iter().filter(|_| ours) {
            self.backing.remove(number);
        }
        self.closed = true;
    }

    fn usable(&self) -> Result<(), AllocError> {
        if self.generation != fork_generation() {
            return Err(AllocError::Forked);
        }
        if self.closed {
            return Err(AllocError::Closed);
        }
        Ok(())
    }

    /// A block from the free extents: the best fit, or, where its holes cannot be filled again, the best fit without
    /// holes.
    fn take_free(&mut self, len: u64) -> Result<Option<Block>, AllocError> {
        let Some(best) = self.pool.best_fit(len) else { return Ok(None) };
        match self.fill_holes(best) {
            Ok(()) => Ok(self.pool.take(best)),
            Err(error) => match self.pool.best_fit_without_holes(len) {
                Some(other) => Ok(self.pool.take(other)),
                None => Err(error),
            },
        }
    }

    /// Reserves the pages of a free range again. On failure what was filled before is an ordinary free range.
    fn fill_holes(&mut self, block: Block) -> Result<(), AllocError> {
        for hole in self.pool.holes_under(block) {
            let segment = self.segments.get(&block.segment).ok_or(AllocError::Closed)?;
            self.backing.fill(segment, hole)?;
            self.pool.filled(block.segment, hole);
        }
        Ok(())
    }

    /// Where the file system is full, what is idle here, but in pieces, may be the room that is missing.
    fn grow_or_make_room(&mut self, needed: u64) -> Result<(), AllocError> {
        match self.grow(needed) {
            Err(AllocError::NoSpace { .. }) if self.pool.idle() > 0 => {
                self.give_back(0);
                self.grow(needed)
            }
            grown => grown,
        }
    }

    /// A further segment, as large as all the others together if there is room, else just large enough.
    fn grow(&mut self, needed: u64) -> Result<(), AllocError> {
        let page = (crate::segment::sys::page_size() as u64).min(FIRST_SEGMENT as u64);
        let needed = needed.next_multiple_of(page);
        let wanted = self.pool.committed().clamp(FIRST_SEGMENT as u64, MAX_GROWTH).max(needed).next_multiple_of(page);
        let number = u16::try_from(self.next_number).map_err(|_| AllocError::TooManySegments)?;
        let segment = match self.backing.create(number, wanted) {
            Err(AllocError::NoSpace { .. }) if wanted > needed => self.backing.create(number, needed)?,
            other => other?,
        };
        self.next_number += 1;
        self.pool.add(number, segment.len() as u64);
        self.segments.insert(number, Arc::new(segment));
        Ok(())
    }
}

/// The length a block of `len` bytes gets; `None` beyond the longest segment.
fn rounded(len: usize) -> Option<u64> {
    let len = (len as u64).max(1);
    let grain = if len < COARSE { GRAIN } else { COARSE };
    len.checked_next_multiple_of(grain).filter(|&len| len <= MAX_SEGMENT)
}
