//! A flag that one thread at a time holds: for a lock that must work in a fork handler, where mutexes do not.

use super::{thread, Ordering};

/// The word of such a flag. Both of std's atomics and the facade's have it, because the flags are statics, which loom's
/// atomics cannot be.
pub(crate) trait Flag {
    /// Sets the flag; whether it was clear.
    fn try_set(&self, order: Ordering) -> bool;
    /// Clears the flag.
    fn clear(&self, order: Ordering);
}

impl Flag for std::sync::atomic::AtomicBool {
    fn try_set(&self, order: Ordering) -> bool {
        !self.swap(true, order)
    }

    fn clear(&self, order: Ordering) {
        self.store(false, order);
    }
}

/// Takes the flag, waiting for its holder.
pub(crate) fn take(flag: &impl Flag) {
    while !try_take(flag) {
        thread::yield_now();
    }
}

fn try_take(flag: &impl Flag) -> bool {
    // ORDERING(fork.busy): Acquire: what the last holder did comes before what we do; meets `give`.
    flag.try_set(Ordering::Acquire)
}

/// Gives the flag back.
pub(crate) fn give(flag: &impl Flag) {
    // ORDERING(fork.busy): Release: what we did comes before what the next holder does; meets `take`.
    give_with(flag, Ordering::Release);
}

fn give_with(flag: &impl Flag, order: Ordering) {
    flag.clear(order);
}

#[cfg(test)]
mod models {
    use super::*;
    use crate::model;
    use crate::sync::{Arc, AtomicBool, Witness};

    fn two_holders(order: Ordering) {
        let scene = Arc::new((AtomicBool::new(false), Witness::default()));
        let hold = move |(flag, table): &(AtomicBool, Witness)| {
            if try_take(flag) {
                table.write();
                give_with(flag, order);
            }
        };
        let other = scene.clone();
        let second = thread::spawn(move || hold(&other));
        hold(&scene);
        second.join().expect("the second holder");
    }

    model! {
        one_thread_at_a_time_holds_the_table {
            edges: ["fork.busy"],
            claim: "the table of descriptors to close in a forked child is changed by one thread at a time",
            scenes: [|| two_holders(Ordering::Release)],
            twins: ["the Release of the lock": || two_holders(Ordering::Relaxed) => Witness::RACE],
        }
    }
}
