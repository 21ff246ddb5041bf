//! The ring of an outlet: live delivery and history in the same slots.
//!
//! # Words
//! In the outlet's hot cell (owner writes, everyone reads): `head`, the last committed sequence number, and the
//! descriptor ([`RingDesc`], 0 = no ring yet). Sequence numbers start at 1. Sample n lies in slot `n & (capacity - 1)`.
//!
//! A slot is `stride` bytes, a multiple of 64, all of it relaxed atomic words under the slot's own seqlock:
//!
//! | byte | word |
//! |---|---|
//! | 0 | state: 0 never used; `n<<1 \| 1` being written; `n<<1` committed; `1<<63 \| n<<1` retired, n was the last one |
//! | 8 | source timestamp, i64 nanoseconds |
//! | 16 | size of the body u32 (low), encapsulation header u32 (high) |
//! | 24 | 0: the body is inline; else [`ChunkRef`] `{0:16 \| segment:16 \| valid:1 \| offset/64:31}` |
//! | 32 | related: the request a response answers |
//! | 40 | aux |
//! | 48 | inline body, the last word padded with zeros |
//!
//! # Who may touch what when
//! 1. Slots, regions, chunks, `head` and descriptor are written by their owner alone, under the lock it keeps its
//!    [`Writer`] in. What is kept where, the owner knows from its own memory; it never reads it back from the slots,
//!    except to copy them whole when the ring grows.
//! 2. Commit n: state odd; fence; header and body words; state even; head = n. A sequence number exists when `head`
//!    says so, and only a successful commit uses one up.
//! 3. After commit n the owner retires sample n - window: state retired, so that the slot that commit n + 1 will take is
//!    always one that nobody is owed. Capacity is at least window + 1, so a sample inside the window is never overwritten.
//! 4. A reader reads sample n only up to a `head` it has loaded (Acquire). Look: descriptor; state is n committed; copy
//!    words; fence; descriptor and state unchanged. A state above n, or retired at n, says Lapped for good; anything else
//!    says NotYet, and the reader keeps its place.
//! 5. The body of a chunk is read only under a hazard ([`crate::hazard`]): announce; fence; descriptor and state
//!    unchanged. It is then neither changed nor freed until the hazard is cleared.
//! 6. A chunk is freed when its slot is retired and, after a fence, no hazard names it. Until then it waits in the
//!    owner's limbo list; nobody can validate it any more.
//! 7. Growth: the new region is prepared in full (retained slots copied, others as retired or never used), then the
//!    descriptor is stored, then, after a fence, the old region is freed. A reader that was in the old one finds the
//!    descriptor changed and looks again.
//!
//! # If the owner dies right here
//! Before the state is even: the slot is odd for ever, `head` says n - 1, nobody asks for n. After it, before `head`:
//! the same for readers, the sample was never published. After `head`: it is published. Between `head` and the retiring,
//! or before a chunk is freed: memory is kept a little longer, until the context is reaped. While growing: see `grow`.
//!
//! # Models
//! `models/` has one per edge: `slots` (`ring.slot`, `ring.head`, `ring.join`, `ring.move`), `delivery` (all of them, from
//! the publication to the pull) and `memory` (`hazard.reuse`, `hazard.clear`, and an arena that grows and gives back).

mod body;
mod desc;
mod edge;
mod grow;
mod memory;
mod payload;
mod reader;
mod retire;
mod segments;
mod slot;
mod strength;
mod writer;

pub use body::Body;
pub use desc::{ChunkRef, RingDesc, MAX_STRIDE};
pub use edge::{generation_after_commit, head_after_registering, heads_at_once, newest};
pub use memory::Memory;
pub use payload::{InlineBuf, Loan, Payload};
pub use reader::{read, read_loan, read_meta, read_size, ReadError};
pub use segments::Segments;
pub use slot::{SlotMeta, HEADER, MAX_SEQUENCE};
pub use strength::{Full, Strength};
pub use writer::{Reservation, Writer, MAX_WINDOW};

#[cfg(test)]
mod models;
#[cfg(test)]
#[cfg_attr(loom, expect(dead_code, reason = "models use half of it"))]
pub(crate) mod testing;
#[cfg(all(test, not(loom)))]
mod tests;
