//! Counters that a whole domain shares: one atomic word each, in the registry file.
//!
//! An exception to "one writer per byte", as the marks are: any member may add to a counter or set it. A process that dies
//! has added or has not. They start at 0 with the domain, that is when the first process joins it.

use crate::context::Registry;
use crate::layout::COUNTERS;
use shoal_shm::sync::{AtomicU64, Ordering};

/// How many counters a domain has.
pub const COUNTER_COUNT: usize = COUNTERS;

impl Registry {
    /// Adds to a counter, wrapping around, and answers its value after that. `None` for an index of 1,024 or more, and in
    /// a forked child.
    pub fn tick(&self, index: usize, inc: u64) -> Option<u64> {
        let counter = self.counter(index)?;
        // ORDERING(counter.add): what its caller did before is seen by whoever gets a later value of this counter.
        Some(counter.fetch_add(inc, Ordering::AcqRel).wrapping_add(inc))
    }

    /// Sets a counter, and answers its value before that. `None` as for [`tick`](Self::tick).
    pub fn tock(&self, index: usize, value: u64) -> Option<u64> {
        // ORDERING(counter.add): as in `tick`.
        Some(self.counter(index)?.swap(value, Ordering::AcqRel))
    }

    fn counter(&self, index: usize) -> Option<&AtomicU64> {
        self.map.counters().get(index).filter(|_| !self.is_forked())
    }
}
