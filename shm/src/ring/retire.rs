//! The end of a sample: its slot is retired, its chunk freed as soon as no hazard holds it.

use super::memory::Memory;
use super::strength::Strength;
use super::writer::{chunk_ref, Writer};
use crate::arena::Block;
use crate::crash_point;
use crate::sync::{AtomicU64, Ordering};

impl<S: Strength> Writer<S> {
    /// Retires what the window no longer keeps.
    #[inline]
    pub(super) fn retire_surplus(&mut self, arena: &mut impl Memory, hazard_held: &mut dyn FnMut(u64) -> bool) {
        while self.chunks.len() > self.window as usize {
            self.retire_oldest(arena, hazard_held);
        }
    }

    /// Whether the last sample lies in a chunk and is still kept.
    pub fn last_is_chunk(&self) -> bool {
        self.chunks.back().is_some_and(Option::is_some)
    }

    /// Retires everything, the last sample too, where nobody is left who wants it. No reader may miss it: none has it
    /// unread, and none that joins starts before the head.
    pub fn retire_all(&mut self, arena: &mut impl Memory, hazard_held: &mut dyn FnMut(u64) -> bool) {
        while !self.chunks.is_empty() {
            self.retire_oldest(arena, hazard_held);
        }
    }

    #[inline]
    fn retire_oldest(&mut self, arena: &mut impl Memory, hazard_held: &mut dyn FnMut(u64) -> bool) {
        let seq = self.head + 1 - self.chunks.len() as u64;
        let Some(chunk) = self.chunks.pop_front() else { return };
        if let Some(slot) = self.slot(arena, seq) {
            slot.retire(seq);
        }
        crash_point!("ring.retired");
        if let Some(block) = chunk {
            self.release(arena, block, hazard_held);
        }
    }

    /// Frees the chunk of a slot that was just retired, and what else has become free of hazards.
    fn release(&mut self, arena: &mut impl Memory, block: Block, hazard_held: &mut dyn FnMut(u64) -> bool) {
        S::retired();
        if !self.limbo.is_empty() {
            self.reclaim(arena, hazard_held);
        }
        self.free_or_keep(arena, block, hazard_held);
    }

    fn free_or_keep(&mut self, arena: &mut impl Memory, block: Block, hazard_held: &mut dyn FnMut(u64) -> bool) {
        match self.is_held(block, hazard_held) {
            true => self.limbo.push(block),
            false => arena.free(block),
        }
    }

    fn is_held(&self, block: Block, hazard_held: &mut dyn FnMut(u64) -> bool) -> bool {
        chunk_ref(block).is_some_and(|chunk| hazard_held(chunk.id(self.owner_ctx)))
    }

    /// Looks again for the hazards of chunks that could not be freed, and frees those that have none any more.
    pub fn reclaim(&mut self, arena: &mut impl Memory, hazard_held: &mut dyn FnMut(u64) -> bool) {
        let mut next = 0;
        while let Some(&block) = self.limbo.get(next) {
            if self.is_held(block, hazard_held) {
                next += 1;
            } else {
                self.limbo.swap_remove(next);
                arena.free(block);
            }
        }
    }

    /// How many chunks wait for a hazard to be cleared.
    pub fn in_limbo(&self) -> usize {
        self.limbo.len()
    }

    /// Ends the ring: the descriptor says "no ring", and everything is freed that no hazard holds. Returns whether that
    /// was all; if not, [`reclaim`](Writer::reclaim) later, until [`in_limbo`](Writer::in_limbo) is 0.
    #[must_use = "chunks that a reader still holds are to be reclaimed later"]
    pub fn close(
        &mut self,
        arena: &mut impl Memory,
        desc: &AtomicU64,
        hazard_held: &mut dyn FnMut(u64) -> bool,
    ) -> bool {
        self.retire_all(arena, hazard_held);
        // ORDERING(ring.move): a reader that sees a foreign word in the freed region sees that the descriptor is gone.
        desc.store(0, Ordering::Release);
        S::moved();
        if let Some(region) = self.region.take() {
            arena.free_later(region.block);
        }
        self.reclaim(arena, hazard_held);
        self.limbo.is_empty()
    }
}
