//! Ends come behind the last sample and are not missed. Under loom every interleaving; under std a stress test.

use super::day::{end_day_with, Full, Strength};
use super::{days, end_of, finish, last, WORDS};
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

const SHORT: &str = "the day ended before its last sample";

#[derive(Default)]
struct Session {
    head: AtomicU64,
    days: [AtomicU64; WORDS],
    pending: AtomicU64,
    draining: AtomicU64,
}

/// How many days have ended, and where the first one did.
type Look = fn(&[AtomicU64; WORDS]) -> (u64, u64);

/// A producer sends one sample and ends the day; a reader looks twice, the second time after everything.
fn look_against_end_of_day<S: Strength>(look: Look) {
    let scene = Arc::new(Session::default());
    let producer = {
        let scene = scene.clone();
        thread::spawn(move || {
            scene.head.store(1, Ordering::Release);
            end_day_with::<S>(&scene.days, 1, 1);
            fence(Ordering::SeqCst);
            mark(&scene.pending, 1);
        })
    };
    let (early, end) = look(&scene.days);
    assert!(early == 0 || end == 1 && scene.head.load(Ordering::Relaxed) == 1, "{SHORT}: {early} {end}");
    let looked = take_pending(&scene.pending, &scene.draining) != 0;
    assert!(!looked || look(&scene.days) == (1, 1), "the mark came before the end that it tells of");
    producer.join().unwrap();
    let marked = looked || take_pending(&scene.pending, &scene.draining) != 0;
    assert!(marked && look(&scene.days) == (1, 1), "the end of the day was missed");
}

fn count_then_end(words: &[AtomicU64; WORDS]) -> (u64, u64) {
    (days(words), end_of(words, 1))
}

fn end_then_count(words: &[AtomicU64; WORDS]) -> (u64, u64) {
    let end = end_of(words, 1);
    (days(words), end)
}

struct Uncounted;
impl Strength for Uncounted {
    const COUNTED: Ordering = Ordering::Relaxed;
}

model! {
    a_day_ends_behind_its_last_sample_and_its_end_is_not_missed {
        edges: ["ending.day"],
        claim: "a reader finds the end of a day only behind the last sample sent in it, and does not miss it",
        scenes: [|| look_against_end_of_day::<Full>(count_then_end)],
        twins: [
            "the look at the count before the end": || look_against_end_of_day::<Full>(end_then_count) => SHORT,
            "the Release of the count": || look_against_end_of_day::<Uncounted>(count_then_end) => SHORT,
        ],
    }
}
