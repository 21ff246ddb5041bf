//! What the models of this crate share.

use std::sync::Arc;

use shoal_shm::arena::{Arena, Block};
use shoal_shm::ring::Segments;
use shoal_shm::segment::Segment;
use shoal_shm::sync::{AtomicU64, Ordering};

/// A context's arena that never grows beyond its first segment.
pub(crate) struct Memory {
    pub(crate) arena: Arena,
    segment: Arc<Segment>,
}

impl Memory {
    /// Of at least `size` bytes.
    pub(crate) fn new(size: usize) -> Memory {
        let mut arena = Arena::heap();
        let whole = arena.alloc(size).expect("heap memory");
        let segment = arena.segment(whole.segment).expect("its own").clone();
        arena.free(whole);
        Memory { arena, segment }
    }

    /// What another context maps.
    pub(crate) fn peer(&self) -> Peer {
        Peer(self.segment.clone())
    }

    /// Overwrites word `nth` of every line of a block, as whoever gets the memory next might.
    pub(crate) fn scribble(&self, block: Block, nth: usize) {
        for word in self.arena.words(block).iter().skip(nth).step_by(8) {
            word.store(u64::MAX, Ordering::Relaxed);
        }
    }
}

/// A peer's view of the first segment.
pub(crate) struct Peer(Arc<Segment>);

impl Segments for Peer {
    fn words(&self, segment: u16, offset: u64, n: usize) -> Option<&[AtomicU64]> {
        self.0.words(usize::try_from(offset).ok()?, n).filter(|_| segment == 0)
    }

    fn bytes(&self, _: u16, _: u64, _: usize) -> Option<*const u8> {
        None
    }
}
