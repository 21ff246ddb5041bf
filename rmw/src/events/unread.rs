//! What happened that was not taken, as of a generation of the topic.
//!
//! Whoever finds the generation moved looks at the peers, under a lock, sets the kinds of which something happened, and
//! only then says which generation it has seen. Others that find it seen read the kinds without looking.

use shoal_shm::sync::{AtomicU32, AtomicU64, Ordering};

/// No generation: nobody has looked yet.
const NEVER: u64 = u64::MAX;

/// Kinds of events, as bits, and the generation of which they tell.
pub(super) struct Unread {
    seen: AtomicU64,
    kinds: AtomicU32,
}

impl Unread {
    pub(super) fn new() -> Self {
        Self { seen: AtomicU64::new(NEVER), kinds: AtomicU32::new(0) }
    }

    /// Whether something of these kinds happened, as of the last [`refresh`](Self::refresh).
    pub(super) fn has(&self, kinds: u32) -> bool {
        self.kinds.load(Ordering::Relaxed) & kinds != 0
    }

    /// To be called under the lock under which looks set the kinds.
    pub(super) fn take(&self, kinds: u32) {
        self.kinds.fetch_and(!kinds, Ordering::Relaxed);
    }

    /// Makes the kinds those of a generation, loaded before: `look` looks at the peers, and sets them.
    pub(super) fn refresh(&self, generation: u64, look: impl FnOnce(&AtomicU32)) {
        self.refresh_with(generation, look, Ordering::Release);
    }

    fn refresh_with(&self, generation: u64, look: impl FnOnce(&AtomicU32), seen: Ordering) {
        // ORDERING(events.seen): Acquire; meets the store below: the kinds are those of a look at least as new.
        if self.seen.load(Ordering::Acquire) != generation {
            look(&self.kinds);
            // ORDERING(events.seen): Release; after the kinds were set.
            self.seen.store(generation, seen);
        }
    }
}

#[cfg(test)]
mod models {
    use super::*;
    use shoal_shm::model;
    use shoal_shm::sync::{thread, Arc, Mutex};

    /// A peer came with generation 1. Two threads of the endpoint look whether something happened.
    fn two_that_look(seen: Ordering) {
        let scene = Arc::new((Unread::new(), Mutex::new(())));
        let is_ready = move |(unread, lock): &(Unread, Mutex<()>)| {
            let look = |kinds: &AtomicU32| {
                let _held = lock.lock();
                kinds.store(4, Ordering::Relaxed);
            };
            unread.refresh_with(1, look, seen);
            unread.has(4)
        };
        let theirs = scene.clone();
        let other = thread::spawn(move || is_ready(&theirs));
        assert!(is_ready(&scene) && other.join().expect("the other"), "{MISSED}");
    }

    const MISSED: &str = "a change is seen, and what it means is not";

    model! {
        what_is_said_to_be_unread_is_as_new_as_the_generation {
            edges: ["events.seen"],
            claim: "who finds a generation seen finds the events that it brought",
            scenes: [|| two_that_look(Ordering::Release)],
            twins: ["the Release of the generation": || two_that_look(Ordering::Relaxed) => MISSED],
        }
    }
}
