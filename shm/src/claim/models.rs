//! One claim, one acknowledgement, and somebody who tells of the last one.

use super::{Cell, Claim, Clock, Full, Member, Seen, Strength, CELL_WORDS};
use crate::model;
use crate::sync::{thread, Arc, AtomicU64, Ordering, Witness};

const ITEMS: usize = 2;

struct Scene {
    words: Vec<AtomicU64>,
    sample: Witness,
}

impl Scene {
    fn new() -> Arc<Scene> {
        let words = (0..ITEMS * CELL_WORDS).map(|_| AtomicU64::new(0)).collect();
        let scene = Scene { words, sample: Witness::default() };
        (1..=ITEMS as u64).for_each(|item| scene.cell(item).open(item));
        Arc::new(scene)
    }

    fn cell(&self, item: u64) -> Cell<'_> {
        Cell::of(&self.words, item).expect("a cell for each")
    }

    /// Claims an item that is for the taking, at this time.
    fn claim<S: Strength>(&self, item: u64, me: u32, now: u64) -> Option<Claim> {
        let clock = Clock { now, lease: 10 };
        match self.cell(item).look(item, clock, |_| true) {
            Seen::Open(seen) => self.cell(item).take_with::<S>(seen, item, Member::new(me), clock),
            Seen::Busy(_) | Seen::Done => None,
        }
    }
}

const TWICE: &str = "two have it";

fn two_claim<S: Strength + 'static>() {
    let scene = Scene::new();
    let theirs = scene.clone();
    let other = thread::spawn(move || theirs.claim::<S>(1, 2, 0).is_some());
    let mine = scene.claim::<S>(1, 1, 0).is_some();
    let their = other.join().expect("the other consumer");
    assert!(!(mine && their), "{TWICE}");
    assert!(mine || their, "nobody has it");
}

/// One claims, and is so slow that another one does after it; both acknowledge.
fn slow_against_next<S: Strength + 'static>() {
    let scene = Scene::new();
    let slow = scene.claim::<Full>(1, 1, 0).expect("it is free");
    let theirs = scene.clone();
    let next =
        thread::spawn(move || theirs.claim::<Full>(1, 2, 20).is_some_and(|claim| theirs.cell(1).ack_with::<S>(claim)));
    let mine = scene.cell(1).ack_with::<S>(slow);
    let their = next.join().expect("the other consumer");
    assert!(!(mine && their), "{TWICE}");
    assert!((mine || their) && scene.cell(1).is_done(1), "nobody has acknowledged it");
}

/// A consumer reads a sample and acknowledges it; its producer uses the memory again.
fn reuse<S: Strength + 'static>() {
    let scene = Scene::new();
    let claim = scene.claim::<Full>(1, 1, 0).expect("it is free");
    let theirs = scene.clone();
    let consumer = thread::spawn(move || {
        theirs.sample.read();
        assert!(theirs.cell(1).ack_with::<S>(claim));
    });
    if scene.cell(1).is_done(1) {
        scene.sample.write();
    }
    consumer.join().expect("the consumer");
}

const UNTOLD: &str = "nobody tells of the last one";

/// Two acknowledge the last two items, and then look whether all are done.
fn last_two<S: Strength + 'static>() {
    let scene = Scene::new();
    let claims = [1, 2].map(|item| scene.claim::<Full>(item, item as u32, 0).expect("it is free"));
    let finish = |scene: &Scene, item: u64, claim| {
        assert!(scene.cell(item).ack_with::<S>(claim));
        (1..=2).all(|item| scene.cell(item).is_done(item))
    };
    let theirs = scene.clone();
    let other = thread::spawn(move || finish(&theirs, 2, claims[1]));
    let mine = finish(&scene, 1, claims[0]);
    assert!(other.join().expect("the other consumer") || mine, "{UNTOLD}");
}

struct NotCompared;
impl Strength for NotCompared {
    const COMPARED: bool = false;
}

struct Relaxed;
impl Strength for Relaxed {
    const DONE: Ordering = Ordering::Relaxed;
}

struct NoFence;
impl Strength for NoFence {
    fn acked() {}
}

model! {
    an_item_is_claimed_by_one_and_acknowledged_once {
        edges: ["claim.done"],
        claim: "of those that claim an item one gets it, and of its claims one is acknowledged",
        scenes: [two_claim::<Full>, slow_against_next::<Full>],
        twins: [
            "the comparison of a claim": two_claim::<NotCompared> => TWICE,
            "the comparison of an acknowledgement": slow_against_next::<NotCompared> => TWICE,
        ],
    }
}

model! {
    memory_of_an_item_is_used_again_after_its_consumer_is_done {
        edges: ["claim.done"],
        claim: "what a producer does after an acknowledgement comes after the consumer's reads",
        scenes: [reuse::<Full>],
        twins: ["the Release of the acknowledgement": reuse::<Relaxed> => Witness::RACE],
    }
}

model! {
    somebody_sees_the_last_acknowledgement {
        edges: ["claim.last"],
        claim: "of two that acknowledge the last two items one sees that all are done",
        scenes: [last_two::<Full>],
        twins: ["the fence after an acknowledgement": last_two::<NoFence> => UNTOLD],
    }
}
