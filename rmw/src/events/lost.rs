//! Losses: samples that a subscription should have got and did not.
//!
//! As in DDS, what the reader's own KEEP_LAST replaces is not lost: that is what its profile asks for. Lost is what a
//! KEEP_ALL reader was too slow for, and what was overwritten or unreadable although it was among the newest `depth`.

use parking_lot::Mutex;

use super::Totals;
use crate::inlet::Inlet;

/// How much of the loss was taken.
#[derive(Default)]
pub(super) struct Lost(Mutex<u64>);

impl Lost {
    pub(super) fn counts(&self, inlet: &Inlet) -> (u64, u64) {
        // In this order: what was taken is never more than what was lost.
        let taken = *self.0.lock();
        (inlet.lost(), taken)
    }

    pub(super) fn take(&self, inlet: &Inlet) -> Totals {
        let mut taken = self.0.lock();
        let total = inlet.lost();
        Totals { total, change: total - std::mem::replace(&mut *taken, total) }
    }
}
