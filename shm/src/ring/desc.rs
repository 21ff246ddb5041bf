//! The two packed words that name memory of another process: where a ring lies, and where a payload lies.

/// Regions and payloads start on cache lines.
pub const LINE: u64 = 64;

/// Longest slot the descriptor can name, in bytes.
pub const MAX_STRIDE: usize = 31 * LINE as usize;

/// Where a ring lies in its owner's arena and how it is shaped:
/// `{segment:16 | offset/64:28 | log2 capacity:5 | stride/64:5 | generation:10}`, the segment in the highest bits.
///
/// The word 0 is "no ring yet"; it is never a descriptor, because a stride is at least one line.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct RingDesc(u64);

impl RingDesc {
    /// Describes a region at `offset` of `segment` with `2^log2_capacity` slots of `stride` bytes.
    /// `None` when a field does not fit. Of `generation`, the low ten bits count.
    pub fn pack(segment: u16, offset: u64, log2_capacity: u32, stride: usize, generation: u64) -> Option<RingDesc> {
        let (line, lines) = (offset / LINE, stride as u64 / LINE);
        let aligned = offset % LINE == 0 && stride as u64 % LINE == 0;
        if !aligned || line >= 1 << 28 || log2_capacity > 31 || !(1..=31).contains(&lines) {
            return None;
        }
        let shape = u64::from(log2_capacity) << 15 | lines << 10 | generation & 0x3ff;
        Some(RingDesc(u64::from(segment) << 48 | line << 20 | shape))
    }

    /// The descriptor a peer wrote, or `None` when the word says "no ring" or names slots of no size.
    #[inline]
    pub fn checked(word: u64) -> Option<RingDesc> {
        let desc = RingDesc(word);
        (desc.stride() != 0).then_some(desc)
    }

    /// The word as it stands in the hot cell.
    #[inline]
    pub fn word(self) -> u64 {
        self.0
    }

    /// Segment of the owner's arena.
    #[inline]
    pub fn segment(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// Start of the region in its segment, in bytes; less than 2^34.
    #[inline]
    pub fn offset(self) -> u64 {
        (self.0 >> 20 & 0xfff_ffff) * LINE
    }

    /// Number of slots, a power of two of at most 2^31.
    #[inline]
    pub fn capacity(self) -> u64 {
        1 << (self.0 >> 15 & 0x1f)
    }

    /// Bytes from slot to slot, at most [`MAX_STRIDE`].
    #[inline]
    pub fn stride(self) -> usize {
        ((self.0 >> 10 & 0x1f) * LINE) as usize
    }

    /// Distinguishes this region from one that stood in the same place before.
    pub fn generation(self) -> u64 {
        self.0 & 0x3ff
    }

    /// Where the slot of sequence number `seq` starts in the segment, in bytes. Cannot overflow; may lie outside of
    /// the segment when the word is hostile, which the segment's own check finds.
    #[inline]
    pub fn slot_offset(self, seq: u64) -> u64 {
        self.offset() + (seq & (self.capacity() - 1)) * self.stride() as u64
    }
}

/// Where an out-of-line payload lies in its owner's arena: `{0:16 | segment:16 | valid:1 | offset/64:31}`.
///
/// The valid bit is always set, so neither this word nor a hazard made of it is ever 0.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct ChunkRef(u64);

const CHUNK_VALID: u64 = 1 << 31;

impl ChunkRef {
    /// Names the chunk that starts at `offset` of `segment`; `None` when that is off a line or beyond 128 GiB.
    #[inline]
    pub fn pack(segment: u16, offset: u64) -> Option<ChunkRef> {
        let line = offset / LINE;
        let fits = offset % LINE == 0 && line < CHUNK_VALID;
        fits.then_some(ChunkRef(u64::from(segment) << 32 | CHUNK_VALID | line))
    }

    /// The reference a peer wrote, or `None` when the word is none.
    #[inline]
    pub fn checked(word: u64) -> Option<ChunkRef> {
        (word & CHUNK_VALID != 0 && word >> 48 == 0).then_some(ChunkRef(word))
    }

    /// The word as it stands in the slot.
    #[inline]
    pub fn word(self) -> u64 {
        self.0
    }

    /// Segment of the owner's arena.
    #[inline]
    pub fn segment(self) -> u16 {
        (self.0 >> 32) as u16
    }

    /// Start of the payload in its segment, in bytes.
    #[inline]
    pub fn offset(self) -> u64 {
        (self.0 & (CHUNK_VALID - 1)) * LINE
    }

    /// What a reader announces: this chunk of the context with index `owner_ctx`. Unique in the domain, never 0.
    #[inline]
    pub fn id(self, owner_ctx: u16) -> u64 {
        u64::from(owner_ctx) << 48 | self.0
    }
}
