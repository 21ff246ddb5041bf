//! A blocked writer is rung by the reader that frees it, and uses memory again only after its reader's last look.

use super::{acked, acknowledge_with, ask, ask_when_parked_with, Full, Strength};
use crate::doorbell::Doorbell;
use crate::model;
use crate::sync::{thread, Arc, AtomicU32, AtomicU64, Ordering, Witness};

#[derive(Default)]
struct Scene {
    acked: AtomicU64,
    wanted: AtomicU64,
    bell: AtomicU32,
    sample: Witness,
}

/// A writer that waits for the reader of its one sample; `park` answers what its doorbell says then.
fn writer_against_reader<S: Strength>(park: fn(&Scene) -> u32) {
    let scene = Arc::new(Scene::default());
    let reader = {
        let scene = scene.clone();
        thread::spawn(move || {
            scene.sample.read();
            let ring = acknowledge_with::<S>(&scene.acked, 1, &scene.wanted);
            ring && Doorbell(&scene.bell).ring_after_fence()
        })
    };
    let armed = park(&scene);
    let read = acked(&scene.acked) == 1;
    if read {
        scene.sample.write();
    }
    let sleeps = !read && scene.bell.fetch_or(0, Ordering::Relaxed) == armed;
    let rang = reader.join().expect("the reader");
    assert!(!sleeps || rang, "the writer sleeps and nobody wakes it");
}

fn ask_then_park(scene: &Scene) -> u32 {
    ask(&scene.wanted, 1);
    Doorbell(&scene.bell).arm()
}

fn park_then_ask<S: Strength>(scene: &Scene) -> u32 {
    let armed = Doorbell(&scene.bell).arm();
    ask_when_parked_with::<S>(&scene.wanted, 1);
    armed
}

fn asks_first<S: Strength>() {
    writer_against_reader::<S>(ask_then_park);
}

fn parks_first<S: Strength>() {
    writer_against_reader::<S>(park_then_ask::<S>);
}

struct NoFence;
impl Strength for NoFence {
    fn acknowledged() {}
}

struct NoFenceOfTheWriter;
impl Strength for NoFenceOfTheWriter {
    fn asked() {}
}

struct Relaxed;
impl Strength for Relaxed {
    const READ: Ordering = Ordering::Relaxed;
}

model! {
    a_blocked_writer_is_never_missed {
        edges: ["credit.ask"],
        claim: "a writer that sleeps for room is rung by the reader that makes it",
        scenes: [asks_first::<Full>, parks_first::<Full>],
        twins: [
            "the reader's fence": asks_first::<NoFence> => "nobody wakes it",
            "the fence of a writer that is parked": parks_first::<NoFenceOfTheWriter> => "nobody wakes it",
        ],
    }
}

model! {
    memory_is_used_again_after_its_reader_is_done {
        edges: ["credit.read"],
        claim: "what a writer does after an acknowledgement comes after the reader's reads",
        scenes: [asks_first::<Full>],
        twins: ["the Release of the acknowledgement": asks_first::<Relaxed> => Witness::RACE],
    }
}
