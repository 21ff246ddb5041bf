//! Counters that a whole domain shares: one atomic word each, in the registry file.
//!
//! An exception to "one writer per byte", as the marks are: any member may add to a counter or set it. A process that dies
//! has added or has not. They start at 0 with the domain, that is when the first process joins it.

use crate::context::Registry;
use crate::layout::COUNTERS;
use shoal_shm::sync::{AtomicU64, Ordering};

/// How many counters a domain has.
pub const COUNTER_COUNT: usize = COUNTERS;

// ORDERING(counter.add): Release and Acquire: what its caller did before is seen by whoever gets a later value.
const ADDED: Ordering = Ordering::AcqRel;

fn add_with(counter: &AtomicU64, inc: u64, order: Ordering) -> u64 {
    counter.fetch_add(inc, order).wrapping_add(inc)
}

impl Registry {
    /// Adds to a counter, wrapping around, and answers its value after that. `None` for an index of 1,024 or more, and in
    /// a forked child.
    pub fn tick(&self, index: usize, inc: u64) -> Option<u64> {
        Some(add_with(self.counter(index)?, inc, ADDED))
    }

    /// Sets a counter, and answers its value before that. `None` as for [`tick`](Self::tick).
    pub fn tock(&self, index: usize, value: u64) -> Option<u64> {
        // ORDERING(counter.add): as in `tick`.
        Some(self.counter(index)?.swap(value, ADDED))
    }

    fn counter(&self, index: usize) -> Option<&AtomicU64> {
        self.map.counters().get(index).filter(|_| !self.is_forked())
    }
}

#[cfg(test)]
mod models {
    use super::*;
    use shoal_shm::model;
    use shoal_shm::sync::{thread, Arc, Witness};

    /// One does something and counts it; another finds it counted.
    fn two_count(order: Ordering) {
        let scene = Arc::new((AtomicU64::new(0), Witness::default()));
        let theirs = scene.clone();
        let first = thread::spawn(move || {
            theirs.1.write();
            add_with(&theirs.0, 1, order);
        });
        if add_with(&scene.0, 1, order) == 2 {
            scene.1.read();
        }
        first.join().expect("the first");
    }

    model! {
        a_value_shows_what_was_done_before_it {
            edges: ["counter.add"],
            claim: "who gets a later value of a counter sees what was done before the earlier ones",
            scenes: [|| two_count(ADDED)],
            twins: ["the Release and Acquire of the addition": || two_count(Ordering::Relaxed) => Witness::RACE],
        }
    }
}
