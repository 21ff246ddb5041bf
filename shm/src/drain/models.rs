//! Claim (drain.cover, drain.finish, drain.mark): a closer never frees what a reader has not read, and no commit is missed.

use super::{drained_with, finish_with, mark, take_with, Full, Strength};
use crate::model;
use crate::sync::{fence, thread, AtomicU64, Ordering, Witness};
use std::sync::Arc;

/// Two outlets of one class and one reader. A witness is 1 when written, and 9 once its memory is given back.
struct World {
    pending: AtomicU64,
    draining: AtomicU64,
    heads: [AtomicU64; 2],
    witnesses: [AtomicU64; 2],
    memory: [Witness; 2],
}

impl World {
    fn new() -> Arc<World> {
        let word = || AtomicU64::new(0);
        let (pending, draining) = (word(), word());
        Arc::new(World {
            pending,
            draining,
            heads: [word(), word()],
            witnesses: [word(), word()],
            memory: Default::default(),
        })
    }

    fn publish(&self, outlet: usize) {
        self.memory[outlet].write();
        self.witnesses[outlet].store(1, Ordering::Relaxed);
        self.heads[outlet].store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        mark(&self.pending, 1);
    }

    fn close<S: Strength>(&self, outlet: usize) {
        if drained_with::<S>(&self.pending, &self.draining, 1) {
            self.memory[outlet].write();
            self.witnesses[outlet].store(9, Ordering::Relaxed);
        }
    }

    /// One round of the reader; `seen` is what it has read of each outlet.
    fn take<S: Strength>(&self, seen: &mut [u64; 2]) {
        let bits = take_with::<S>(&self.pending, &self.draining);
        if bits == 0 {
            return;
        }
        for (outlet, seen) in seen.iter_mut().enumerate() {
            let head = self.heads[outlet].load(Ordering::Acquire);
            if head > *seen {
                let witness = self.witnesses[outlet].load(Ordering::Relaxed);
                assert_eq!(witness, 1, "read what was given back");
                self.memory[outlet].read();
                *seen = head;
            }
        }
        finish_with::<S>(&self.draining, bits);
    }
}

/// Runs a reader for one round beside `peer`, then for a last one alone; it must have read both outlets, and nothing that was given back.
fn beside<S: Strength + 'static>(world: &Arc<World>, peer: impl FnOnce(&World) + 'static + Send) {
    let (at_peer, at_reader) = (world.clone(), world.clone());
    let peer = thread::spawn(move || peer(&at_peer));
    let reader = thread::spawn(move || {
        let mut seen = [0; 2];
        at_reader.take::<S>(&mut seen);
        seen
    });
    let mut seen = reader.join().expect("the reader");
    peer.join().expect("the peer");
    world.take::<S>(&mut seen);
    assert_eq!(seen, [1, 1], "a commit was missed");
}

/// An outlet commits and closes beside a reader; it may find the class drained only after its sample was read.
fn closing<S: Strength + 'static>() {
    let world = World::new();
    world.publish(1);
    beside::<S>(&world, |world| {
        world.publish(0);
        world.close::<S>(0);
    });
}

/// An outlet commits whose class is marked already.
fn marking<S: Strength + 'static>() {
    let world = World::new();
    world.publish(1);
    beside::<S>(&world, |world| world.publish(0));
}

/// Two outlets of a class commit, one of them closes, while the reader takes.
fn crowd() {
    let world = World::new();
    let other = world.clone();
    let marker = thread::spawn(move || other.publish(1));
    beside::<Full>(&world, move |world| {
        world.publish(0);
        world.close::<Full>(0);
        marker.join().expect("the marker");
    });
}

struct Uncovered;
impl Strength for Uncovered {
    const COVERED: bool = false;
}

struct WeakTaken;
impl Strength for WeakTaken {
    fn taken() {
        fence(Ordering::AcqRel);
    }
}

struct Unordered;
impl Strength for Unordered {
    const FINISHED: Ordering = Ordering::Relaxed;
}

model! {
    a_closer_frees_only_what_was_read {
        edges: ["drain.cover"],
        claim: "an outlet that closes finds its class drained only after its last sample was read",
        scenes: [closing::<Full>, crowd],
        twins: ["the bits in draining before they leave pending": closing::<Uncovered> => Witness::RACE],
    }
}

model! {
    reads_end_before_memory_is_given_back {
        edges: ["drain.finish"],
        claim: "a reader's last look at a sample comes before what a closer does with its memory",
        scenes: [closing::<Full>],
        twins: ["the Release at the end of the reads": closing::<Unordered> => Witness::RACE],
    }
}

model! {
    marking_a_marked_class_loses_nothing {
        edges: ["drain.mark"],
        claim: "a sample whose mark was skipped, or whose outlet the pull had passed while it was empty, is read",
        scenes: [marking::<Full>],
        twins: ["the fence after taking": marking::<WeakTaken> => "a commit was missed"],
    }
}
