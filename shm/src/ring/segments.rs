//! What a ring's reader asks of the memory of another process.

use crate::sync::AtomicU64;

/// The segments of one owner, as a reader sees them: checked access to memory that the owner may write, shrink or
/// unlink at any time.
pub trait Segments {
    /// `n` words from byte `offset` of a segment, for loads only; `None` when they are not all mapped and aligned.
    fn words(&self, segment: u16, offset: u64, n: usize) -> Option<&[AtomicU64]>;
    /// The address of byte `offset` of a segment; `None` when not all of the `len` bytes from there are mapped. The
    /// mapping stays for as long as the borrow of `self`, and for a loan as long as the caller keeps it.
    fn bytes(&self, segment: u16, offset: u64, len: usize) -> Option<*const u8>;
}
