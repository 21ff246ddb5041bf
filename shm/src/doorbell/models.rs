//! Nobody sleeps through a ring. Under loom every interleaving; under std a stress test.

use super::{Doorbell, Parking};
use crate::sync::{fence, model, model_must_fail, thread, Arc, AtomicU32, Ordering};

struct Scene {
    word: AtomicU32,
    work: AtomicU32,
    parking: Parking,
}

impl Scene {
    fn new() -> Arc<Scene> {
        Arc::new(Scene { word: AtomicU32::new(0), work: AtomicU32::new(0), parking: Parking::new() })
    }

    fn bell(&self) -> Doorbell<'_> {
        Doorbell(&self.word)
    }

    /// What futex_wait does: the kernel compares with the newest value.
    fn falls_asleep(&self, armed: u32) -> bool {
        self.word.fetch_or(0, Ordering::Relaxed) == armed
    }

    /// Parks, looks, and answers whether the thread sleeps now. It stays parked.
    fn wait_once(&self, fence: impl FnOnce()) -> bool {
        let parked = self.parking.park_with(self.bell(), fence);
        let sleeps = self.work.load(Ordering::Relaxed) == 0 && self.falls_asleep(parked.armed());
        std::mem::forget(parked);
        sleeps
    }

    fn work_and_ring(&self, fence: impl FnOnce()) -> bool {
        self.work.store(1, Ordering::Relaxed);
        self.bell().ring_word_with(fence)
    }
}

fn seq_cst() {
    fence(Ordering::SeqCst);
}

fn nothing() {}

fn waiter_against_ringer(waiter_fence: fn(), ringer_fence: fn()) {
    let scene = Scene::new();
    let ringer = {
        let scene = scene.clone();
        thread::spawn(move || scene.work_and_ring(ringer_fence))
    };
    let sleeps = scene.wait_once(waiter_fence);
    let rang = ringer.join().unwrap();
    assert!(!sleeps || rang, "the waiter sleeps and nobody wakes it");
}

#[test]
fn a_parking_waiter_is_never_missed() {
    model(|| waiter_against_ringer(seq_cst, seq_cst));
}

#[test]
fn without_the_fence_of_the_waiter_a_wake_up_is_lost() {
    model_must_fail(|| waiter_against_ringer(nothing, seq_cst));
}

#[test]
fn without_the_fence_of_the_ringer_a_wake_up_is_lost() {
    model_must_fail(|| waiter_against_ringer(seq_cst, nothing));
}

fn leaver_beside_waiter(leave: fn(&Scene)) {
    let scene = Scene::new();
    let leaver = {
        let scene = scene.clone();
        thread::spawn(move || leave(&scene))
    };
    let ringer = {
        let scene = scene.clone();
        thread::spawn(move || scene.work_and_ring(seq_cst))
    };
    let sleeps = scene.wait_once(seq_cst);
    leaver.join().unwrap();
    let rang = ringer.join().unwrap();
    assert!(!sleeps || rang, "the waiter sleeps and nobody wakes it");
}

#[test]
fn a_thread_that_leaves_keeps_the_others_parked() {
    model(|| leaver_beside_waiter(|scene| drop(scene.parking.park(scene.bell()))));
}

#[test]
fn leaving_without_the_count_loses_a_wake_up() {
    model_must_fail(|| {
        leaver_beside_waiter(|scene| {
            let _armed = scene.bell().arm();
            scene.bell().disarm();
        });
    });
}

#[test]
fn of_two_ringers_one_wakes() {
    model(|| {
        let scene = Scene::new();
        let parked = scene.parking.park(scene.bell());
        let armed = parked.armed();
        let other = {
            let scene = scene.clone();
            thread::spawn(move || scene.work_and_ring(seq_cst))
        };
        let here = scene.work_and_ring(seq_cst);
        let there = other.join().unwrap();
        assert!(here ^ there, "one arm, one system call");
        assert!(!scene.falls_asleep(armed));
        drop(parked);
        assert!(!scene.bell().is_parked());
    });
}
