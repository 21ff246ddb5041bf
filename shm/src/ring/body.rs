//! Where a writer puts the body of a sample that goes into a chunk.

use super::writer::Reservation;
use crate::arena::Arena;
use crate::segment::Segment;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The bytes of a reserved chunk.
pub struct Body<'a> {
    at: *mut u8,
    len: usize,
    /// Keeps the mapping.
    _segment: Arc<Segment>,
    /// There is one at a time, and none once the chunk is committed.
    reservation: PhantomData<&'a mut Reservation>,
}

impl Reservation {
    /// The chunk's bytes, to write the body into: nobody else sees them before the commit. `None` for an inline
    /// reservation. The arena's lock need not be held meanwhile.
    pub fn body<'a>(&'a mut self, arena: &Arena) -> Option<Body<'a>> {
        let block = self.block?;
        let segment = arena.segment(block.segment)?.clone();
        let at = segment.bytes_mut_ptr(usize::try_from(block.offset).ok()?, self.size())?;
        Some(Body { at, len: self.size(), _segment: segment, reservation: PhantomData })
    }
}

impl Deref for Body<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes were checked to lie in the segment, whose mapping `_segment` keeps. The arena gave the block
        // to this reservation alone, which is borrowed; no reader may look at a chunk that no committed slot names.
        unsafe { std::slice::from_raw_parts(self.at, self.len) }
    }
}

impl DerefMut for Body<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.len) }
    }
}
