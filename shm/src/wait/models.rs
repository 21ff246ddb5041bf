//! Nobody sleeps through an interruption, and nobody touches a doorbell that was taken out. Under loom every
//! interleaving; under std a stress test.

use super::Bells;
use crate::doorbell::Doorbell;
use crate::model;
use crate::sync::{fence, thread, Arc, AtomicU32, AtomicU64, Ordering};

const TICKET: u64 = 7;
const ASLEEP: &str = "the waiter sleeps through the interruption";
const UNMAPPED: &str = "the word may be unmapped";

struct Scene {
    bells: Bells,
    word: AtomicU32,
    /// 1 while the word may be touched.
    mapped: AtomicU64,
}

impl Scene {
    fn new() -> Arc<Scene> {
        Arc::new(Scene { bells: Bells::new(1), word: AtomicU32::new(0), mapped: AtomicU64::new(1) })
    }

    /// Interrupts; answers whether it woke the sleepers.
    fn interrupt(&self, fence: fn(), pin_fence: fn()) -> bool {
        let mut rang = false;
        self.bells.interrupt_with(fence, pin_fence, |ticket| {
            assert_eq!((ticket, self.mapped.load(Ordering::Relaxed)), (TICKET, 1), "{UNMAPPED}");
            if let Some(rung) = Doorbell(&self.word).announce_with(|| ()) {
                Doorbell(&self.word).settle(rung);
                rang = true;
            }
        });
        rang
    }
}

fn seq_cst() {
    fence(Ordering::SeqCst);
}

fn nothing() {}

/// A thread enlists its doorbell, parks and looks at the flag, while another interrupts.
fn park_against_interrupt(park_fence: fn(), interrupt_fence: fn(), pin_fence: fn()) {
    let scene = Scene::new();
    let interrupter = {
        let scene = scene.clone();
        thread::spawn(move || scene.interrupt(interrupt_fence, pin_fence))
    };
    let _slot = scene.bells.enter(TICKET);
    let armed = Doorbell(&scene.word).arm_with(park_fence);
    let sleeps = !scene.bells.interruption().raised && scene.word.fetch_or(0, Ordering::Relaxed) == armed;
    let rang = interrupter.join().unwrap();
    assert!(!sleeps || rang, "{ASLEEP}");
}

model! {
    no_waiter_sleeps_through_an_interruption {
        edges: ["interrupt.enlist"],
        claim: "a waiter that sleeps is woken by an interruption, or finds it raised before it sleeps",
        scenes: [|| park_against_interrupt(seq_cst, seq_cst, seq_cst)],
        twins: [
            "the waiter's fence": || park_against_interrupt(nothing, seq_cst, seq_cst) => ASLEEP,
            "the interrupter's fences": || park_against_interrupt(seq_cst, nothing, nothing) => ASLEEP,
        ],
    }
}

/// A context ends while somebody interrupts.
fn leave_against_interrupt(leave_fence: fn(), pin_fence: fn()) {
    let scene = Scene::new();
    let slot = scene.bells.enter(TICKET).unwrap();
    let interrupter = {
        let scene = scene.clone();
        thread::spawn(move || scene.interrupt(nothing, pin_fence))
    };
    scene.bells.leave_with(slot, leave_fence);
    scene.mapped.store(0, Ordering::Relaxed);
    let _rang = interrupter.join().unwrap();
}

model! {
    a_doorbell_that_was_taken_out_is_never_touched {
        edges: ["interrupt.visit"],
        claim: "who interrupts touches no doorbell after its context took it out",
        scenes: [|| leave_against_interrupt(seq_cst, seq_cst)],
        twins: [
            "the leaver's fence": || leave_against_interrupt(nothing, seq_cst) => UNMAPPED,
            "the visitor's fence": || leave_against_interrupt(seq_cst, nothing) => UNMAPPED,
        ],
    }
}
