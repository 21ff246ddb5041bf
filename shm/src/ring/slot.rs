//! One slot: its state word, its header, and the inline payload behind it.

use super::desc::{ChunkRef, MAX_STRIDE};
use super::strength::Strength;
use crate::crash_point;
use crate::sync::{AtomicU64, Ordering};

/// Bytes of a slot before its inline payload.
pub const HEADER: usize = 48;
/// Words of a slot before its inline payload.
pub(super) const HEADER_WORDS: usize = HEADER / 8;
/// Words of the longest inline payload.
pub(super) const MAX_INLINE_WORDS: usize = (MAX_STRIDE - HEADER) / 8;
/// Sequence numbers are below this, so that a state word holds one and its two flags.
pub const MAX_SEQUENCE: u64 = 1 << 62;

const WRITING: u64 = 1;
const RETIRED: u64 = 1 << 63;

/// What travels with a sample beside its body.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub struct SlotMeta {
    /// When the sample was published, in nanoseconds of the system clock.
    pub source_timestamp: i64,
    /// For a response: the sequence number of its request.
    pub related: u64,
    /// The four bytes of the CDR encapsulation header, as a little-endian word.
    pub encapsulation: u32,
    /// For the layer above; the ring only carries it.
    pub aux: u64,
}

/// State of a slot that holds sample `seq`.
#[inline]
pub(super) fn committed(seq: u64) -> u64 {
    seq << 1
}

/// State of a slot that `seq` is being written into.
#[inline]
fn writing(seq: u64) -> u64 {
    seq << 1 | WRITING
}

/// State of a slot whose last sample was `seq`, which is no longer to be had.
#[inline]
pub(super) fn retired(seq: u64) -> u64 {
    RETIRED | seq << 1
}

/// What a state word means to who looks for one sequence number.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Finding {
    /// The sample is there.
    Ready,
    /// The sample was there and is gone for good.
    Lapped,
    /// The sample has not been committed here.
    NotYet,
}

/// Total over all words, so no state a peer writes is an accident.
#[inline]
pub(super) fn classify(state: u64, seq: u64) -> Finding {
    let (of, gone) = ((state & !RETIRED) >> 1, state & RETIRED != 0);
    if state == committed(seq) {
        Finding::Ready
    } else if of > seq || of == seq && gone {
        Finding::Lapped
    } else {
        Finding::NotYet
    }
}

/// The header words of a slot, as they were read or are to be written.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) struct Header {
    pub meta: SlotMeta,
    pub size: u32,
    /// 0: the payload stands in the slot.
    pub chunk: u64,
}

/// Where a header says that the payload is.
pub(super) enum Place {
    Inline(usize),
    Chunk(ChunkRef, usize),
}

impl Header {
    /// One relaxed load per word; what they say is worth nothing until the slot is validated.
    #[inline]
    pub(super) fn load(slot: &[AtomicU64; HEADER_WORDS]) -> Header {
        let [_, stamp, size, chunk, related, aux] = slot;
        let size = size.load(Ordering::Relaxed);
        let meta = SlotMeta {
            source_timestamp: stamp.load(Ordering::Relaxed) as i64,
            related: related.load(Ordering::Relaxed),
            encapsulation: (size >> 32) as u32,
            aux: aux.load(Ordering::Relaxed),
        };
        Header { meta, size: size as u32, chunk: chunk.load(Ordering::Relaxed) }
    }

    #[inline]
    pub(super) fn store(&self, slot: &[AtomicU64; HEADER_WORDS]) {
        let [_, stamp, size, chunk, related, aux] = slot;
        stamp.store(self.meta.source_timestamp as u64, Ordering::Relaxed);
        size.store(u64::from(self.meta.encapsulation) << 32 | u64::from(self.size), Ordering::Relaxed);
        chunk.store(self.chunk, Ordering::Relaxed);
        related.store(self.meta.related, Ordering::Relaxed);
        aux.store(self.meta.aux, Ordering::Relaxed);
    }

    /// Checks the payload's place against the `inline` bytes a slot has room for.
    #[inline]
    pub(super) fn place(&self, inline: usize) -> Result<Place, &'static str> {
        let size = self.size as usize;
        if self.chunk == 0 {
            return if size <= inline { Ok(Place::Inline(size)) } else { Err("the size exceeds the slot") };
        }
        match ChunkRef::checked(self.chunk) {
            Some(chunk) => Ok(Place::Chunk(chunk, size)),
            None => Err("the chunk word is no reference"),
        }
    }
}

/// A slot split into its state, its header and its body.
#[derive(Copy, Clone)]
pub(super) struct Slot<'a> {
    pub header: &'a [AtomicU64; HEADER_WORDS],
    pub body: &'a [AtomicU64],
}

impl<'a> Slot<'a> {
    /// `None` when the words are too few for a header.
    #[inline]
    pub(super) fn new(words: &'a [AtomicU64]) -> Option<Slot<'a>> {
        let (header, body) = words.split_first_chunk::<HEADER_WORDS>()?;
        Some(Slot { header, body })
    }

    #[inline]
    pub(super) fn state(&self) -> &'a AtomicU64 {
        &self.header[0]
    }

    /// Writes sample `seq` into the slot, whose last sample is retired. Who dies in here leaves the state odd, and
    /// nobody reads the slot.
    #[inline]
    pub(super) fn write<S: Strength>(&self, seq: u64, header: &Header, inline: &[u8]) {
        self.state().store(writing(seq), Ordering::Relaxed);
        S::slot_opened();
        crash_point!("ring.slot_opened");
        header.store(self.header);
        store_bytes(self.body, inline);
        crash_point!("ring.slot_filled");
        self.state().store(committed(seq), S::COMMITTED);
    }

    /// Says that the slot's sample is gone. `seq` is the number it had.
    #[inline]
    pub(super) fn retire(&self, seq: u64) {
        self.state().store(retired(seq), Ordering::Relaxed);
    }

    /// Copies a whole slot within its owner's memory: nobody else looks at `to` yet.
    pub(super) fn copy_to(&self, to: Slot<'_>) {
        for (from, to) in self.header.iter().chain(self.body).zip(to.header.iter().chain(to.body)) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

/// Stores bytes as words, the last one padded with zeros. What exceeds the words is not stored.
#[inline]
fn store_bytes(words: &[AtomicU64], bytes: &[u8]) {
    let mut words = words.iter();
    let mut rest = bytes;
    while let Some((eight, tail)) = rest.split_first_chunk::<8>() {
        let Some(word) = words.next() else { return };
        word.store(u64::from_ne_bytes(*eight), Ordering::Relaxed);
        rest = tail;
    }
    if let (false, Some(word)) = (rest.is_empty(), words.next()) {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        word.store(u64::from_ne_bytes(last), Ordering::Relaxed);
    }
}
