//! A blocked writer is rung by the reader that frees it. Under loom every interleaving; under std a stress test.

use super::{acked, acknowledge_with, ask};
use crate::doorbell::Doorbell;
use crate::sync::{fence, model, model_must_fail, thread, Arc, AtomicU32, AtomicU64, Ordering};

struct Scene {
    acked: AtomicU64,
    wanted: AtomicU64,
    bell: AtomicU32,
}

fn seq_cst() {
    fence(Ordering::SeqCst);
}

/// Claim: when the writer sleeps, the reader has rung.
fn writer_against_reader(reader_fence: fn()) {
    let scene = Arc::new(Scene { acked: AtomicU64::new(0), wanted: AtomicU64::new(0), bell: AtomicU32::new(0) });
    let reader = {
        let scene = scene.clone();
        thread::spawn(move || {
            let ring = acknowledge_with(&scene.acked, 1, &scene.wanted, reader_fence);
            ring && Doorbell(&scene.bell).ring_after_fence()
        })
    };
    ask(&scene.wanted, 1);
    let armed = Doorbell(&scene.bell).arm();
    let sleeps = acked(&scene.acked) < 1 && scene.bell.fetch_or(0, Ordering::Relaxed) == armed;
    let rang = reader.join().unwrap();
    assert!(!sleeps || rang, "the writer sleeps and nobody wakes it");
}

#[test]
fn a_blocked_writer_is_never_missed() {
    model(|| writer_against_reader(seq_cst));
}

#[test]
fn without_the_fence_of_the_reader_a_writer_sleeps_on() {
    model_must_fail(|| writer_against_reader(|| ()));
}
