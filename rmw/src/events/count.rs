//! A count that only grows, and how far its reader has seen it.

use super::Totals;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    total: u64,
    taken: u64,
}

impl Count {
    pub(super) fn add(&mut self, n: u64) {
        self.total = self.total.saturating_add(n);
    }

    /// How often, and how much of that was taken.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.total, self.taken)
    }

    pub(super) fn take(&mut self) -> Totals {
        let change = self.total - std::mem::replace(&mut self.taken, self.total);
        Totals { total: self.total, change }
    }
}
