//! shoal.h: what there is beyond the RMW API.

pub(super) mod bounds;
pub(super) mod counters;
pub(super) mod credit;
pub(super) mod interrupt;
pub(super) mod progress;
pub(super) mod streams;
pub(super) mod wait;
pub(super) mod work;

use shoal_rmw::Outcome;

use crate::sys;

/// An outcome as C spells it.
fn code(outcome: Outcome) -> sys::shoal_outcome_t {
    match outcome {
        Outcome::Ready => sys::SHOAL_READY,
        Outcome::EndOfStream => sys::SHOAL_END_OF_STREAM,
        Outcome::TimedOut => sys::SHOAL_TIMED_OUT,
        Outcome::Interrupted => sys::SHOAL_INTERRUPTED,
        Outcome::Broken => sys::SHOAL_BROKEN,
        Outcome::EndOfDay => sys::SHOAL_END_OF_DAY,
        Outcome::Shed => sys::SHOAL_SHED,
    }
}
