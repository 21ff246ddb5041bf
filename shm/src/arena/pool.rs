//! The bookkeeping of free extents and holes: pure, without any memory behind it.

use super::ranges::{Range, Ranges};
use super::Block;
use std::collections::{BTreeMap, BTreeSet};

/// What is free in every segment.
#[derive(Debug, Default)]
pub(super) struct Pool {
    segments: BTreeMap<u16, Extents>,
    /// Every free extent as (length, segment, start): the best fit is the first one long enough.
    by_size: BTreeSet<(u64, u16, u64)>,
    len: u64,
    free: u64,
    holes: u64,
}

#[derive(Debug, Default)]
struct Extents {
    len: u64,
    free: Ranges,
    holes: Ranges,
}

impl Pool {
    /// Bytes of all segments that are not holes.
    pub(super) fn committed(&self) -> u64 {
        self.len - self.holes
    }

    /// Bytes in blocks.
    pub(super) fn in_use(&self) -> u64 {
        self.len - self.free
    }

    /// Bytes that are reserved but in no block.
    pub(super) fn idle(&self) -> u64 {
        self.free - self.holes
    }

    /// Adds a segment, wholly free and without holes.
    pub(super) fn add(&mut self, segment: u16, len: u64) {
        let mut extents = Extents { len, ..Extents::default() };
        extents.free.insert(Range::new(0, len));
        self.segments.insert(segment, extents);
        self.by_size.insert((len, segment, 0));
        self.len += len;
        self.free += len;
    }

    /// Forgets a segment that is wholly free; answers how many of its bytes were reserved.
    pub(super) fn remove(&mut self, segment: u16) -> u64 {
        let Some(extents) = self.segments.remove(&segment) else { return 0 };
        let holes: u64 = extents.holes.iter().map(Range::len).sum();
        self.by_size.remove(&(extents.len, segment, 0));
        self.len -= extents.len;
        self.free -= extents.len;
        self.holes -= holes;
        extents.len - holes
    }

    /// The block that best fits `len` bytes: the start of the smallest free extent that has them.
    pub(super) fn best_fit(&self, len: u64) -> Option<Block> {
        self.fits(len).next()
    }

    /// The best fit among those that need no hole filled.
    pub(super) fn best_fit_without_holes(&self, len: u64) -> Option<Block> {
        self.fits(len).find(|&block| self.holes_under(block).is_empty())
    }

    fn fits(&self, len: u64) -> impl Iterator<Item = Block> + '_ {
        self.by_size.range((len, 0, 0)..).map(move |&(_, segment, offset)| Block { segment, offset, len })
    }

    /// The best fit, taken, where it is known to have no hole.
    pub(super) fn take_whole(&mut self, len: u64) -> Option<Block> {
        let block = self.best_fit_without_holes(len)?;
        self.take(block)
    }

    /// Takes a block that lies in one free extent and has no hole.
    pub(super) fn take(&mut self, block: Block) -> Option<Block> {
        let part = Range::new(block.offset, block.len);
        let extents = self.segments.get_mut(&block.segment)?;
        let whole = extents.free.containing(part)?;
        let rest = extents.free.remove(part)?;
        self.by_size.remove(&(whole.len(), block.segment, whole.start));
        self.by_size.extend(rest.into_iter().flatten().map(|range| (range.len(), block.segment, range.start)));
        self.free -= block.len;
        Some(block)
    }

    /// Makes a block free again; false if it is not wholly in use.
    pub(super) fn give(&mut self, block: Block) -> bool {
        let Some(extents) = self.segments.get_mut(&block.segment) else { return false };
        let Some(end) = block.offset.checked_add(block.len) else { return false };
        let part = Range { start: block.offset, end };
        if block.len == 0 || end > extents.len || extents.free.overlaps(part) {
            return false;
        }
        let (merged, whole) = extents.free.insert(part);
        for range in merged.into_iter().flatten() {
            self.by_size.remove(&(range.len(), block.segment, range.start));
        }
        self.by_size.insert((whole.len(), block.segment, whole.start));
        self.free += block.len;
        true
    }

    /// The parts of the holes that lie under a block, in whole pages as they were punched.
    pub(super) fn holes_under(&self, block: Block) -> Vec<Range> {
        let page = crate::segment::sys::page_size() as u64;
        let Some(extents) = self.segments.get(&block.segment) else { return Vec::new() };
        let pages = Range { start: block.offset / page * page, end: (block.offset + block.len).next_multiple_of(page) };
        extents.holes.overlapping(pages).into_iter().map(|hole| hole.and(pages)).collect()
    }

    /// Books part of a hole as reserved again.
    pub(super) fn filled(&mut self, segment: u16, part: Range) {
        let Some(extents) = self.segments.get_mut(&segment) else { return };
        if extents.holes.remove(part).is_some() {
            self.holes -= part.len();
        }
    }

    /// Books reserved pages of a free extent as a hole.
    pub(super) fn punched(&mut self, segment: u16, part: Range) {
        let Some(extents) = self.segments.get_mut(&segment) else { return };
        extents.holes.insert(part);
        self.holes += part.len();
    }

    /// Segments that are wholly free, largest first.
    pub(super) fn empty_segments(&self) -> Vec<u16> {
        let whole = |&&(len, segment, _): &&(u64, u16, u64)| self.segments.get(&segment).is_some_and(|s| s.len == len);
        self.by_size.iter().rev().filter(whole).map(|&(_, segment, _)| segment).collect()
    }

    /// The reserved whole pages of every free extent, largest extent first.
    pub(super) fn idle_pages(&self) -> Vec<(u16, Range)> {
        let page = crate::segment::sys::page_size() as u64;
        let mut found = Vec::new();
        for &(len, segment, start) in self.by_size.iter().rev().take_while(|&&(len, ..)| len >= page) {
            let inner = Range { start: start.next_multiple_of(page), end: (start + len) / page * page };
            let Some(extents) = self.segments.get(&segment).filter(|_| inner.len() > 0) else { continue };
            found.extend(extents.between_holes(inner).into_iter().map(|part| (segment, part)));
        }
        found
    }

    /// Panics where an invariant of the module is broken.
    #[cfg(test)]
    pub(super) fn check(&self) {
        let page = crate::segment::sys::page_size() as u64;
        let mut sizes = BTreeSet::new();
        let (mut free, mut holes) = (0, 0);
        for (&number, extents) in &self.segments {
            let ranges: Vec<Range> = extents.free.iter().collect();
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?} touch or overlap");
            assert!(ranges.iter().all(|range| range.end <= extents.len && range.start % 64 == 0 && range.len() > 0));
            sizes.extend(ranges.iter().map(|range| (range.len(), number, range.start)));
            free += ranges.iter().map(|range| range.len()).sum::<u64>();
            for hole in extents.holes.iter() {
                assert!(hole.start % page == 0 && hole.end % page == 0);
                assert!(extents.free.containing(hole).is_some(), "{hole:?} is not free");
                holes += hole.len();
            }
        }
        assert_eq!((sizes, free, holes), (self.by_size.clone(), self.free, self.holes));
    }
}

impl Extents {
    fn between_holes(&self, inner: Range) -> Vec<Range> {
        let mut parts = Vec::new();
        let mut at = inner.start;
        for hole in self.holes.overlapping(inner) {
            parts.push(Range { start: at, end: hole.start });
            at = hole.end;
        }
        parts.push(Range { start: at, end: inner.end });
        parts.retain(|part| part.len() > 0);
        parts
    }
}
