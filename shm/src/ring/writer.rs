//! The owner's side: one writer per ring, which knows in its own memory what it keeps where.

use super::desc::{ChunkRef, LINE, MAX_STRIDE};
use super::memory::Memory;
use super::slot::{Header, Slot, SlotMeta, HEADER};
use super::strength::{Full, Strength};
use crate::arena::{AllocError, Block};
use crate::crash_point;
use crate::sync::AtomicU64;
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Deepest window a writer keeps; deeper ones are cut to it.
pub const MAX_WINDOW: u32 = (1 << 24) - 1;

/// Room for one sample, to be committed or abandoned. Dropping it loses its chunk until the arena closes.
#[must_use = "commit it or abandon it"]
#[derive(Debug)]
pub struct Reservation {
    pub(super) size: u32,
    pub(super) block: Option<Block>,
}

impl Reservation {
    /// The chunk to write the body into, or `None`: the body is handed to the commit and goes into the slot.
    pub fn block(&self) -> Option<Block> {
        self.block
    }

    /// Bytes of the body.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// Makes the sample shorter than it was reserved; a longer `size` changes nothing.
    pub fn shrink(&mut self, size: usize) {
        self.size = self.size.min(u32::try_from(size).unwrap_or(u32::MAX));
    }
}

/// The slots of a ring.
#[derive(Copy, Clone, Debug)]
pub(super) struct Region {
    pub block: Block,
    pub log2_capacity: u32,
}

/// The owner's state of one ring. The caller locks; readers never look in here.
#[derive(Debug)]
pub struct Writer<S = Full> {
    pub(super) owner_ctx: u16,
    pub(super) stride: usize,
    pub(super) window: u32,
    pub(super) head: u64,
    pub(super) generation: u64,
    pub(super) region: Option<Region>,
    /// The chunks of the retained sequence numbers; the last one is `head`'s.
    pub(super) chunks: VecDeque<Option<Block>>,
    /// Chunks of retired slots that a hazard still holds.
    pub(super) limbo: Vec<Block>,
    strength: PhantomData<S>,
}

impl Writer {
    /// A ring without memory: that comes with the first commit. `owner_ctx` is the index of the owner's context;
    /// `stride`, the bytes of a slot, is rounded up to whole lines and cut to [`MAX_STRIDE`]; `window` is how many
    /// samples are kept, at least one.
    pub fn new(owner_ctx: u16, stride: usize, window: u32) -> Writer {
        Writer::with_strength(owner_ctx, stride, window)
    }
}

impl<S: Strength> Writer<S> {
    pub(super) fn with_strength(owner_ctx: u16, stride: usize, window: u32) -> Writer<S> {
        Writer {
            owner_ctx,
            stride: stride.clamp(LINE as usize, MAX_STRIDE).next_multiple_of(LINE as usize),
            window: window.clamp(1, MAX_WINDOW),
            head: 0,
            generation: 0,
            region: None,
            chunks: VecDeque::new(),
            limbo: Vec::new(),
            strength: PhantomData,
        }
    }

    /// Keeps `window` samples from the next commit on. Widening brings nothing back that is retired already.
    pub fn set_window(&mut self, window: u32) {
        self.window = window.clamp(1, MAX_WINDOW);
    }

    /// How many samples are kept.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// The last committed sequence number; 0 before the first one.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Longest body that goes into the slot, in bytes.
    pub fn inline_capacity(&self) -> usize {
        self.stride - HEADER
    }

    /// Room for one sample of `size` body bytes: inline when it fits into a slot, else a chunk of exactly that size.
    #[inline]
    pub fn reserve(&mut self, arena: &mut impl Memory, size: usize) -> Result<Reservation, AllocError> {
        if size <= self.inline_capacity() {
            return Ok(Reservation { size: size as u32, block: None });
        }
        self.reserve_chunk(arena, size)
    }

    /// Like [`reserve`](Writer::reserve), but never inline: for a body that is written in place before the commit.
    pub fn reserve_chunk(&mut self, arena: &mut impl Memory, size: usize) -> Result<Reservation, AllocError> {
        let Ok(short) = u32::try_from(size) else {
            return Err(too_large(size, u64::from(u32::MAX)));
        };
        let block = arena.alloc(size.max(1))?;
        if chunk_ref(block).is_none() {
            arena.free(block);
            return Err(too_large(size, u64::from(u32::MAX)));
        }
        Ok(Reservation { size: short, block: Some(block) })
    }

    /// Publishes a reserved sample and returns its sequence number. `inline` is the body of an inline reservation, and
    /// unused for a chunk, which must be written before. `head` and `desc` are the ring's words in its hot cell.
    /// `hazard_held` says whether any matched reader's context announces a chunk, named by [`ChunkRef::id`].
    ///
    /// On an error nothing has changed but that the reservation is abandoned: no sequence number is used up.
    ///
    /// # Panics
    /// When `inline` is shorter than an inline reservation's size.
    #[expect(clippy::too_many_arguments, reason = "the hot cell's words and the hazards belong to the layer above")]
    pub fn commit(
        &mut self,
        arena: &mut impl Memory,
        reservation: Reservation,
        meta: SlotMeta,
        inline: &[u8],
        head: &AtomicU64,
        desc: &AtomicU64,
        hazard_held: &mut dyn FnMut(u64) -> bool,
    ) -> Result<u64, AllocError> {
        self.retire_surplus(arena, hazard_held);
        let seq = self.head + 1;
        if let Err(why) = self.make_room(arena, desc).and_then(|()| self.fill(arena, seq, &reservation, meta, inline)) {
            self.abandon(arena, reservation);
            return Err(why);
        }
        crash_point!("ring.slot_committed");
        self.head = seq;
        self.chunks.push_back(reservation.block);
        head.store(seq, S::HEAD);
        crash_point!("ring.head_moved");
        self.retire_surplus(arena, hazard_held);
        Ok(seq)
    }

    #[inline]
    fn fill(
        &self,
        arena: &impl Memory,
        seq: u64,
        reservation: &Reservation,
        meta: SlotMeta,
        inline: &[u8],
    ) -> Result<(), AllocError> {
        let (chunk, body) = match reservation.block.and_then(chunk_ref) {
            Some(chunk) => (chunk.word(), &[][..]),
            None => (0, &inline[..reservation.size()]),
        };
        let header = Header { meta, size: reservation.size, chunk };
        // Room was made, so only an arena that is closed has no words for us.
        let slot = self.slot(arena, seq).ok_or(AllocError::Closed)?;
        slot.write::<S>(seq, &header, body);
        Ok(())
    }

    /// The slot of a sequence number; `None` before the first commit.
    #[inline]
    pub(super) fn slot<'m>(&self, arena: &'m impl Memory, seq: u64) -> Option<Slot<'m>> {
        let region = self.region?;
        slot_at(arena.words(region.block), region.log2_capacity, self.stride, seq)
    }

    /// Gives a reservation back. No sequence number is used up.
    pub fn abandon(&mut self, arena: &mut impl Memory, reservation: Reservation) {
        if let Some(block) = reservation.block {
            arena.free(block);
        }
    }
}

/// The slot of a sequence number in a region's words.
#[inline]
pub(super) fn slot_at(words: &[AtomicU64], log2_capacity: u32, stride: usize, seq: u64) -> Option<Slot<'_>> {
    let index = (seq & ((1 << log2_capacity) - 1)) as usize;
    Slot::new(words.get(index * (stride / 8)..)?.get(..stride / 8)?)
}

/// The block as a slot names it.
#[inline]
pub(super) fn chunk_ref(block: Block) -> Option<ChunkRef> {
    ChunkRef::pack(block.segment, block.offset)
}

#[cold]
pub(super) fn too_large(asked: usize, most: u64) -> AllocError {
    AllocError::TooLarge { asked: asked as u64, most }
}
