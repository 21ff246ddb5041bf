//! What a ring's writer asks of its owner's memory.

use crate::arena::{AllocError, Arena, Block};
use crate::sync::AtomicU64;

/// An owner's allocator, as a ring's writer uses it. [`Arena`] is the real one; models and tests bring their own.
pub trait Memory {
    /// A block of at least `len` bytes that starts on a cache line; its content is arbitrary.
    fn alloc(&mut self, len: usize) -> Result<Block, AllocError>;
    /// Takes back a block that [`alloc`](Memory::alloc) gave.
    fn free(&mut self, block: Block);
    /// Takes back a block that readers look at without a hazard. They find out that it is stale, but may be in the middle
    /// of a look: its pages stay for a while. Memory without pages frees at once.
    fn free_later(&mut self, block: Block) {
        self.free(block);
    }
    /// The words of a block that [`alloc`](Memory::alloc) gave.
    fn words(&self, block: Block) -> &[AtomicU64];
}

impl Memory for Arena {
    #[inline]
    fn alloc(&mut self, len: usize) -> Result<Block, AllocError> {
        Arena::alloc(self, len)
    }

    #[inline]
    fn free(&mut self, block: Block) {
        Arena::free(self, block);
    }

    fn free_later(&mut self, block: Block) {
        Arena::free_later(self, block);
    }

    #[inline]
    fn words(&self, block: Block) -> &[AtomicU64] {
        Arena::words(self, block)
    }
}
