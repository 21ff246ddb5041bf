//! Nobody sleeps through a ring. Under loom every interleaving; under std a stress test.

use super::{Doorbell, Parking, PARKED};
use crate::model;
use crate::sync::{explore, fence, thread, Arc, AtomicU32, Ordering};

const ASLEEP: &str = "the waiter sleeps and nobody wakes it";

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
        match self.bell().announce_with(fence) {
            Some(rung) => {
                self.bell().settle(rung);
                true
            }
            None => false,
        }
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
    assert!(!sleeps || rang, "{ASLEEP}");
}

model! {
    a_parking_waiter_is_never_missed {
        edges: ["park.ring"],
        claim: "a waiter that sleeps is woken by the ring of whoever made work for it",
        scenes: [|| waiter_against_ringer(seq_cst, seq_cst)],
        twins: [
            "the waiter's fence": || waiter_against_ringer(nothing, seq_cst) => ASLEEP,
            "the ringer's fence": || waiter_against_ringer(seq_cst, nothing) => ASLEEP,
        ],
    }
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
    assert!(!sleeps || rang, "{ASLEEP}");
}

model! {
    a_thread_that_leaves_keeps_the_others_parked {
        edges: ["park.ring"],
        claim: "a thread that stops waiting takes no wake-up from the others of its process",
        scenes: [|| leaver_beside_waiter(|scene| drop(scene.parking.park(scene.bell())))],
        twins: ["the count of parked threads": || leaver_beside_waiter(leave_uncounted) => ASLEEP],
    }
}

fn leave_uncounted(scene: &Scene) {
    let _armed = scene.bell().arm();
    scene.bell().disarm();
}

/// A ring has been announced and its sleepers woken. While it settles, a woken thread arms again and another rings.
fn settling_beside_arming(arm: fn(&Scene) -> u32) {
    let scene = Scene::new();
    let _armed = scene.bell().arm();
    let rung = scene.bell().announce_with(seq_cst).unwrap();
    let settler = {
        let scene = scene.clone();
        thread::spawn(move || scene.bell().settle(rung))
    };
    let ringer = {
        let scene = scene.clone();
        thread::spawn(move || scene.work_and_ring(seq_cst))
    };
    let armed = arm(&scene);
    let sleeps = scene.work.load(Ordering::Relaxed) == 0 && scene.falls_asleep(armed);
    settler.join().unwrap();
    let rang = ringer.join().unwrap();
    assert!(!sleeps || rang, "{ASLEEP}");
}

fn arm_beside_a_ring(scene: &Scene) -> u32 {
    let before = scene.word.fetch_or(PARKED, Ordering::Relaxed);
    seq_cst();
    before | PARKED
}

model! {
    settling_spares_a_thread_that_armed_again {
        edges: ["park.ring"],
        claim: "the end of a ring does not unpark who parked after its begin",
        scenes: [|| settling_beside_arming(|scene| scene.bell().arm())],
        twins: ["the clearing of RUNG": || settling_beside_arming(arm_beside_a_ring) => ASLEEP],
    }
}

/// One ringer dies after its announcement, without its wake. `dying`: how far it gets.
fn ringer_after_a_dead_one(dying: fn(Doorbell<'_>)) {
    let scene = Scene::new();
    let dead = {
        let scene = scene.clone();
        thread::spawn(move || dying(scene.bell()))
    };
    let ringer = {
        let scene = scene.clone();
        thread::spawn(move || scene.work_and_ring(seq_cst))
    };
    let sleeps = scene.wait_once(seq_cst);
    dead.join().unwrap();
    let rang = ringer.join().unwrap();
    assert!(!sleeps || rang, "{ASLEEP}");
}

fn announce(bell: Doorbell<'_>) {
    let _rung = bell.announce_with(seq_cst);
}

fn announce_and_settle(bell: Doorbell<'_>) {
    if let Some(rung) = bell.announce_with(seq_cst) {
        bell.settle(rung);
    }
}

model! {
    the_next_ringer_wakes_whom_a_dead_one_left_asleep {
        edges: ["park.ring"],
        claim: "a ringer that dies before its wake leaves the sleeper to the next one",
        scenes: [|| ringer_after_a_dead_one(announce)],
        twins: ["the wake before PARKED is cleared": || ringer_after_a_dead_one(announce_and_settle) => ASLEEP],
    }
}

#[test]
fn two_ringers_leave_the_bell_settled() {
    explore(|| {
        let scene = Scene::new();
        let armed = scene.bell().arm();
        let other = {
            let scene = scene.clone();
            thread::spawn(move || scene.work_and_ring(seq_cst))
        };
        let here = scene.work_and_ring(seq_cst);
        let there = other.join().unwrap();
        assert!(here || there);
        assert!(!scene.falls_asleep(armed) && !scene.bell().is_parked());
    });
}
