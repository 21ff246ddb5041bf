//! Hazards: how a reader says "I am looking at this payload" without writing into its owner's memory.
//!
//! A table is a row of 64-bit words in the reader's own context entry.
//! - Word 0: high water, the highest index that was ever in use. It only rises, so scans stay short.
//! - Words 1..: 0, or the id of a chunk ([`ChunkRef::id`](crate::ring::ChunkRef::id)) that a reader of this context is
//!   looking at.
//!
//! Rules:
//! 1. Only the context that owns the table writes it (and who reaps that context, after its death: all zeros).
//! 2. Which word is used by whom is process-local knowledge; a [`HazardSlot`] is the right to one word.
//! 3. A reader stores the id, fences (`SeqCst`), then validates that the slot still names the chunk. Not so: it clears
//!    the word and has read nothing.
//! 4. It clears the word (`Release`) after its last look at the payload. A loan keeps its word for as long as it lasts;
//!    a few words are never loaned, so that reads go on whatever is on loan.
//! 5. A writer retires the slot, fences (`SeqCst`), then scans. Found: the chunk waits in limbo and is looked for again
//!    later; nobody new can validate it. Not found: the chunk is free.
//!
//! Death of the reader anywhere: the words stay until its context is reaped, and chunks wait that long, no longer.
//! Hostile words: an id that names nothing holds nothing; one that names a chunk only keeps memory from being reused.

use crate::sync::{AtomicU64, Ordering};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

/// Usable words of a table, whatever its length: the free list is one word.
const MAX_HAZARDS: usize = 62;

/// Words that loans leave to reads, which need one for a moment each.
const KEPT_FOR_READS: usize = 6;

/// This process's side of its context's hazard words.
#[derive(Clone)]
pub struct HazardTable<'a> {
    words: &'a [AtomicU64],
    /// Bit i: word i is somebody's.
    taken: Arc<AtomicU64>,
}

impl<'a> HazardTable<'a> {
    /// Takes over a table. There must be one per table and process; clones share its free list.
    pub fn new(words: &'a [AtomicU64]) -> HazardTable<'a> {
        HazardTable { words, taken: Arc::new(AtomicU64::new(1)) }
    }

    /// The right to announce one payload at a time; `None` when all are in use, by readers or by loans.
    #[inline]
    pub fn acquire(&self) -> Option<HazardSlot<'a>> {
        self.acquire_beside(0)
    }

    /// As [`acquire`](Self::acquire), for a word that is kept for as long as somebody likes: `None` also when only the
    /// few words are free that reads need.
    pub fn acquire_for_loan(&self) -> Option<HazardSlot<'a>> {
        self.acquire_beside(KEPT_FOR_READS)
    }

    /// The right to one word, if `others` stay free beside it.
    #[inline]
    fn acquire_beside(&self, others: usize) -> Option<HazardSlot<'a>> {
        let usable = MAX_HAZARDS.min(self.words.len().saturating_sub(1));
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let index = taken.trailing_ones() as usize;
            let in_use = taken.count_ones() as usize - 1;
            if index > MAX_HAZARDS || in_use + others >= usable {
                return None;
            }
            let word = self.words.get(index)?;
            // Acquire: the word's last holder, maybe another thread, has cleared it. Meets the drop of the slot.
            match self.taken.compare_exchange_weak(taken, taken | 1 << index, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(self.slot(word, index)),
                Err(now) => taken = now,
            }
        }
    }

    /// Ends what a ticket of this table keeps.
    pub fn end(&self, ticket: HazardTicket) {
        if let Some(word) = self.words.get(ticket.index) {
            release(word, &self.taken, 1 << ticket.index);
        }
    }

    fn slot(&self, word: &'a AtomicU64, index: usize) -> HazardSlot<'a> {
        if self.words[0].load(Ordering::Relaxed) < index as u64 {
            // Before any announcement in the word, which the reader's fence orders: who sees that sees this.
            self.words[0].fetch_max(index as u64, Ordering::Relaxed);
        }
        // Nobody else writes our table while we live; what a dead predecessor left would look like a read in progress.
        word.store(0, Ordering::Relaxed);
        HazardSlot { word, taken: self.taken.clone(), bit: 1 << index, kept: false, not_sync: PhantomData }
    }
}

/// The right to one hazard word. Given back on drop.
pub struct HazardSlot<'a> {
    word: &'a AtomicU64,
    taken: Arc<AtomicU64>,
    bit: u64,
    /// A ticket stands for it now.
    kept: bool,
    /// One announcement at a time, so no two threads at once.
    not_sync: PhantomData<Cell<()>>,
}

impl HazardSlot<'_> {
    /// Keeps the word, and what it announces, until the ticket is ended.
    pub(crate) fn into_ticket(mut self) -> HazardTicket {
        self.kept = true;
        HazardTicket { index: self.bit.trailing_zeros() as usize }
    }

    /// Stores the id; `None` when the slot announces something already (a read inside of a read). The caller fences.
    #[inline]
    pub(crate) fn announce(&self, id: u64) -> Option<Announcement<'_>> {
        if self.word.load(Ordering::Relaxed) != 0 {
            return None;
        }
        self.word.store(id, Ordering::Relaxed);
        Some(Announcement(self.word))
    }
}

impl Drop for HazardSlot<'_> {
    fn drop(&mut self) {
        if !self.kept {
            release(self.word, &self.taken, self.bit);
        }
    }
}

fn release(word: &AtomicU64, taken: &AtomicU64, bit: u64) {
    // ORDERING(hazard.clear): Release: our reads of the payload come before its reuse. Meets `scan`.
    word.store(0, Ordering::Release);
    taken.fetch_and(!bit, Ordering::Release);
}

/// A hazard word that goes on announcing after the borrow of its table ended, for what is kept for long beside it.
/// Give it to [`HazardTable::end`] of the same table; a ticket that is lost keeps its chunk until its context ends.
#[must_use = "end it, or its chunk is kept until the context ends"]
#[derive(Debug)]
pub struct HazardTicket {
    index: usize,
}

/// A chunk id standing in a hazard word; cleared on drop.
pub(crate) struct Announcement<'s>(&'s AtomicU64);

impl Drop for Announcement<'_> {
    #[inline]
    fn drop(&mut self) {
        // ORDERING(hazard.clear): Release: our reads of the payload come before its reuse. Meets `scan`.
        self.0.store(0, Ordering::Release);
    }
}

/// Whether some reader of the context whose table this is announces the chunk `id`. The caller must have retired the
/// slot that named the chunk and put a `fence(SeqCst)` after that.
#[inline]
pub fn scan(table: &[AtomicU64], id: u64) -> bool {
    // ORDERING(hazard.clear): Acquire: seeing a cleared word, we reuse the payload after the reader's last look.
    scan_with(table, id, Ordering::Acquire)
}

#[inline]
pub(crate) fn scan_with(table: &[AtomicU64], id: u64, cleared: Ordering) -> bool {
    let Some((high, words)) = table.split_first() else { return false };
    // The high-water mark was stored before the hazard that counts, and the fences order both the same way.
    let used = usize::try_from(high.load(Ordering::Relaxed)).unwrap_or(usize::MAX).min(words.len());
    words[..used].iter().any(|word| word.load(cleared) == id)
}

#[cfg(test)]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
