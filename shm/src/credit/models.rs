//! A blocked writer is rung by the reader that frees it, and uses memory again only after its reader's last look.

use super::{acked, acknowledge_with, ask, Full, Strength};
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

/// A writer that waits for the reader of its one sample.
fn writer_against_reader<S: Strength>() {
    let scene = Arc::new(Scene::default());
    let reader = {
        let scene = scene.clone();
        thread::spawn(move || {
            scene.sample.read();
            let ring = acknowledge_with::<S>(&scene.acked, 1, &scene.wanted);
            ring && Doorbell(&scene.bell).ring_after_fence()
        })
    };
    ask(&scene.wanted, 1);
    let armed = Doorbell(&scene.bell).arm();
    let read = acked(&scene.acked) == 1;
    if read {
        scene.sample.write();
    }
    let sleeps = !read && scene.bell.fetch_or(0, Ordering::Relaxed) == armed;
    let rang = reader.join().expect("the reader");
    assert!(!sleeps || rang, "the writer sleeps and nobody wakes it");
}

struct NoFence;
impl Strength for NoFence {
    fn acknowledged() {}
}

struct Relaxed;
impl Strength for Relaxed {
    const READ: Ordering = Ordering::Relaxed;
}

model! {
    a_blocked_writer_is_never_missed {
        edges: ["credit.ask"],
        claim: "a writer that sleeps for room is rung by the reader that makes it",
        scenes: [writer_against_reader::<Full>],
        twins: ["the reader's fence": writer_against_reader::<NoFence> => "nobody wakes it"],
    }
}

model! {
    memory_is_used_again_after_its_reader_is_done {
        edges: ["credit.read"],
        claim: "what a writer does after an acknowledgement comes after the reader's reads",
        scenes: [writer_against_reader::<Full>],
        twins: ["the Release of the acknowledgement": writer_against_reader::<Relaxed> => Witness::RACE],
    }
}
