//! The end comes behind the last sample and is not missed. Under loom every interleaving; under std a stress test.

use super::{finish, last};
use crate::drain::{mark, take_pending};
use crate::model;
use crate::sync::{fence, thread, Arc, AtomicU64, Ordering};

const BIT: u64 = 4;
const EARLY: &str = "the end came before the last sample";

#[derive(Default)]
struct Scene {
    head: AtomicU64,
    word: AtomicU64,
    pending: AtomicU64,
    draining: AtomicU64,
}

fn tell(scene: &Scene) {
    fence(Ordering::SeqCst);
    mark(&scene.pending, 1);
}

/// A producer sends one sample and finishes; a reader looks twice, the second time after everything.
fn look_against_finish(finish: fn(&Scene), last: fn(&Scene) -> Option<u64>) {
    let scene = Arc::new(Scene::default());
    let producer = {
        let scene = scene.clone();
        thread::spawn(move || {
            scene.head.store(1, Ordering::Release);
            finish(&scene);
            tell(&scene);
        })
    };
    let early = last(&scene);
    assert!(matches!(early, None | Some(1)), "{EARLY}: {early:?}");
    let looked = take_pending(&scene.pending, &scene.draining) != 0;
    assert!(!looked || last(&scene) == Some(1), "the mark came before the end that it tells of");
    producer.join().unwrap();
    let marked = looked || take_pending(&scene.pending, &scene.draining) != 0;
    assert!(marked && last(&scene) == Some(1), "the end was missed");
}

fn finished(scene: &Scene) {
    finish(&scene.word, BIT);
}

fn last_of(scene: &Scene) -> Option<u64> {
    last(&scene.word, BIT, &scene.head)
}

fn finished_without_release(scene: &Scene) {
    scene.word.fetch_or(BIT, Ordering::Relaxed);
}

fn head_before_bit(scene: &Scene) -> Option<u64> {
    let head = scene.head.load(Ordering::Acquire);
    (scene.word.load(Ordering::Acquire) & BIT != 0).then_some(head)
}

model! {
    the_end_comes_behind_the_last_sample_and_is_not_missed {
        edges: ["ending.last"],
        claim: "a reader finds the end of a stream only behind its last sample, and does not miss it",
        scenes: [|| look_against_finish(finished, last_of)],
        twins: [
            "the look at the bit before the head": || look_against_finish(finished, head_before_bit) => EARLY,
            "the Release of the end": || look_against_finish(finished_without_release, last_of) => EARLY,
        ],
    }
}
