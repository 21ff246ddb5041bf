//! What a reader gets: a payload by address, and the buffer or the hazard that keeps it still.

use super::slot::{SlotMeta, MAX_INLINE_WORDS};
use crate::hazard::{HazardSlot, HazardTicket};

/// Room for any inline payload, outside of shared memory. Keep one and reuse it: it is two kilobytes.
#[derive(Clone)]
pub struct InlineBuf {
    pub(super) words: [u64; MAX_INLINE_WORDS],
}

impl InlineBuf {
    /// An empty buffer.
    pub fn new() -> InlineBuf {
        InlineBuf { words: [0; MAX_INLINE_WORDS] }
    }
}

impl Default for InlineBuf {
    fn default() -> InlineBuf {
        InlineBuf::new()
    }
}

/// The body of a sample, by address: 8-aligned when it was inline, 64-aligned when it lies in a chunk.
///
/// A chunk lies in memory that another process may write. An honest owner does not while the hazard stands; a hostile
/// one may change any byte at any time, so form no reference to it, and check what is read where it is used.
#[derive(Copy, Clone, Debug)]
pub struct Payload {
    /// First byte. Never null; for an empty payload, nothing may be read.
    pub ptr: *const u8,
    /// Bytes.
    pub len: usize,
}

/// A sample that stays readable until this is dropped. The caller keeps the mapping it lies in for at least as long.
pub struct Loan<'a> {
    meta: SlotMeta,
    payload: Payload,
    keep: Keep<'a>,
}

/// What keeps a loan's payload still.
pub(super) enum Keep<'a> {
    Hazard(HazardSlot<'a>),
    Copy(#[expect(dead_code)] Vec<u64>),
}

// SAFETY: the payload's address is that of a mapping any thread may read, or of the copy that moves along; the
// hazard slot is Send.
unsafe impl Send for Loan<'_> {}

impl<'a> Loan<'a> {
    pub(super) fn new(meta: SlotMeta, payload: Payload, keep: Keep<'a>) -> Loan<'a> {
        Loan { meta, payload, keep }
    }

    /// What travels with the sample.
    pub fn meta(&self) -> SlotMeta {
        self.meta
    }

    /// The sample's body: in the owner's chunk, or a copy if it was small enough to be inline.
    pub fn payload(&self) -> Payload {
        self.payload
    }
    /// Whether the payload lies in its owner's memory, and is not a copy.
    pub fn is_in_place(&self) -> bool {
        matches!(self.keep, Keep::Hazard(_))
    }

    /// Keeps a payload that lies in its owner's memory beyond the borrow of the hazard table; `None` for a copy, which
    /// is dropped. The payload's address stays good until the ticket is ended.
    pub fn into_ticket(self) -> Option<HazardTicket> {
        match self.keep {
            Keep::Hazard(slot) => Some(slot.into_ticket()),
            Keep::Copy(_) => None,
        }
    }
}
