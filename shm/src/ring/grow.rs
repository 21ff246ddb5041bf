//! Growth: a ring starts small and moves to a region of twice the size when the next sample would overwrite one that is
//! still to be kept.

use super::desc::RingDesc;
use super::memory::Memory;
use super::slot::{retired, Slot};
use super::strength::Strength;
use super::writer::{slot_at, too_large, Region, Writer};
use crate::arena::{AllocError, Block};
use crate::crash_point;
use crate::sync::{AtomicU64, Ordering, EXHAUSTIVE};

/// Slots of a ring's first region, as a power of two. Models keep it small.
pub(super) const FIRST_LOG2: u32 = if EXHAUSTIVE { 1 } else { 2 };

impl<S: Strength> Writer<S> {
    /// Makes sure that the next sequence number's slot holds nothing that is retained.
    #[inline]
    pub(super) fn make_room(&mut self, arena: &mut impl Memory, desc: &AtomicU64) -> Result<(), AllocError> {
        match self.region {
            Some(region) if self.chunks.len() < 1 << region.log2_capacity => Ok(()),
            Some(region) => self.grow_slow(arena, desc, region.log2_capacity + 1),
            None => self.grow_slow(arena, desc, FIRST_LOG2),
        }
    }

    /// Moves the ring to a new region. Who dies before the descriptor is stored has changed nothing a reader sees; who
    /// dies after it leaves both regions intact.
    #[cold]
    fn grow_slow(&mut self, arena: &mut impl Memory, desc: &AtomicU64, log2_capacity: u32) -> Result<(), AllocError> {
        let block = arena.alloc(self.stride << log2_capacity)?;
        let generation = self.generation + 1;
        let Some(new) = RingDesc::pack(block.segment, block.offset, log2_capacity, self.stride, generation) else {
            arena.free(block);
            return Err(too_large(self.stride << log2_capacity, 1 << 34));
        };
        self.prepare(arena, block, log2_capacity);
        crash_point!("ring.region_prepared");
        // ORDERING(ring.move): Release: the copied slots come before the descriptor. Meets `reader::Look::open`.
        desc.store(new.word(), Ordering::Release);
        crash_point!("ring.moved");
        S::moved();
        self.generation = generation;
        if let Some(old) = self.region.replace(Region { block, log2_capacity }) {
            arena.free_later(old.block);
        }
        Ok(())
    }

    /// Gives every slot of a new region the state it would have if the ring had been that long from the start.
    fn prepare(&self, arena: &impl Memory, block: Block, log2_capacity: u32) {
        let words = arena.words(block);
        for index in 0..1 << log2_capacity {
            if let Some(to) = slot_at(words, log2_capacity, self.stride, index) {
                self.prepare_slot(arena, to, last_in(index, self.head, log2_capacity));
            }
        }
    }

    fn prepare_slot(&self, arena: &impl Memory, to: Slot<'_>, seq: Option<u64>) {
        let state = match seq {
            // A reader may still come for it: it must learn that the sample is gone, not that it is to come.
            Some(seq) if self.head - seq >= self.chunks.len() as u64 => retired(seq),
            Some(seq) => return self.slot(arena, seq).into_iter().for_each(|from| from.copy_to(to)),
            None => 0,
        };
        to.state().store(state, Ordering::Relaxed);
    }
}

/// The last sequence number up to `head` whose slot has this index; `None` when no sample was ever there.
fn last_in(index: u64, head: u64, log2_capacity: u32) -> Option<u64> {
    let back = head.wrapping_sub(index) & ((1 << log2_capacity) - 1);
    head.checked_sub(back).filter(|&seq| seq > 0)
}
