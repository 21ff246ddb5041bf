//! The fences of the ring's protocols, by name.
//!
//! Protocol code asks a [`Strength`] for its fences, so that a model can run the same code with one of them missing and
//! show that it is needed. Everything outside of the models uses [`Full`].

use crate::sync::{fence, Ordering};

/// Where protocol code gets its fences from. The defaults are what the protocols need.
pub trait Strength {
    /// After a slot's state went odd, before its words change.
    // ORDERING(ring.slot): meets `slot_read`: a reader that saw one of the words also sees the odd state or a later one.
    #[inline(always)]
    fn slot_opened() {
        fence(Ordering::Release);
    }

    /// With which a slot's state goes even.
    // ORDERING(ring.slot): Release: the words come before the even state. Meets `reader::Look::open`.
    const COMMITTED: Ordering = Ordering::Release;

    /// With which the head moves.
    // ORDERING(ring.cut): Release: what the writer committed elsewhere before is seen with this head. Meets `heads_at_once`.
    // ORDERING(ring.head): Release: the committed slot, and the region it is in, come before the head. Meets whoever
    // loads the head to know what to read.
    const HEAD: Ordering = Ordering::Release;

    /// With which heads are loaded first that are to be of one instant, and whether they are looked at again.
    const FIRST_ROUND: Ordering = Ordering::Acquire;
    /// See [`FIRST_ROUND`](Self::FIRST_ROUND).
    const SECOND_ROUND: bool = true;

    /// After a slot's words were read, before its state and the descriptor are looked at again.
    // ORDERING(ring.slot): meets `slot_opened`. ORDERING(ring.move): meets `moved`.
    #[inline(always)]
    fn slot_read() {
        fence(Ordering::Acquire);
    }

    /// After a new descriptor was stored, before the old region is used for anything else.
    // ORDERING(ring.move): meets `slot_read`: a reader that saw a foreign word in the old region sees the new descriptor.
    #[inline(always)]
    fn moved() {
        fence(Ordering::SeqCst);
    }

    /// After a commit, before the generation of the readers is looked at.
    // ORDERING(ring.join): store-buffering pair with `registered`: the writer sees the joiner, or the joiner sees the head.
    #[inline(always)]
    fn published() {
        fence(Ordering::SeqCst);
    }

    /// After a reader registered, before it looks at heads.
    // ORDERING(ring.join): meets `published`.
    #[inline(always)]
    fn registered() {
        fence(Ordering::SeqCst);
    }

    /// After a hazard was stored, before the slot is validated.
    // ORDERING(hazard.reuse): store-buffering pair with `retired`: the reader sees the retired slot, or the writer sees
    // the hazard, or both.
    #[inline(always)]
    fn announced() {
        fence(Ordering::SeqCst);
    }

    /// After a slot was retired, before hazards are scanned.
    // ORDERING(hazard.reuse): meets `announced`.
    #[inline(always)]
    fn retired() {
        fence(Ordering::SeqCst);
    }
}

/// The fences as the protocols need them.
#[derive(Copy, Clone, Debug, Default)]
pub struct Full;

impl Strength for Full {}
