//! Asking to be told, and telling who asked: bits on one side, a generation on the other, a fence on each.
//!
//! Who asks sets its bit, fences, and then looks at the generation. Who changes something moves the generation, fences,
//! and then looks at the bits. Of two fences one comes first, so the change is seen by the look, or the bit by the
//! changer, who then rings.

use shoal_shm::sync::{fence, AtomicU64, Ordering};

/// What the models weaken.
pub(crate) trait Strength {
    // ORDERING(registry.generation): Release; meets the Acquire loads of whoever compares a generation: it finds the
    // directory as it was changed before.
    const GENERATION: Ordering = Ordering::AcqRel;

    /// Between the bit and the look at the generation.
    #[inline(always)]
    fn asked() {
        // ORDERING(registry.watch): meets `moved`: the generation is seen moved, or the bit is seen set.
        // ORDERING(registry.interest): as above.
        fence(Ordering::SeqCst);
    }

    /// Between the generation and the look at the bits.
    #[inline(always)]
    fn moved() {
        // ORDERING(registry.watch): meets `asked`.
        // ORDERING(registry.interest): meets `asked`.
        fence(Ordering::SeqCst);
    }
}

pub(crate) struct Full;
impl Strength for Full {}

/// Sets bits in a word that those who change something look at. Look for changes after this.
#[inline]
pub(crate) fn ask(word: &AtomicU64, bits: u64) {
    ask_with::<Full>(word, bits);
}

fn ask_with<S: Strength>(word: &AtomicU64, bits: u64) {
    word.fetch_or(bits, Ordering::Relaxed);
    S::asked();
}

/// Moves the generations of what changed. Look at the bits, with relaxed loads, after this.
#[inline]
pub(crate) fn tell<'a>(generations: impl IntoIterator<Item = &'a AtomicU64>) {
    tell_with::<Full>(generations);
}

fn tell_with<'a, S: Strength>(generations: impl IntoIterator<Item = &'a AtomicU64>) {
    for generation in generations {
        generation.fetch_add(1, S::GENERATION);
    }
    S::moved();
}

#[cfg(test)]
mod models {
    use super::*;
    use shoal_shm::model;
    use shoal_shm::sync::{thread, Arc};

    const UNCHANGED: &str = "a generation without its change";
    const MISSED: &str = "the change is neither seen nor told";

    #[derive(Default)]
    struct Scene {
        wishes: AtomicU64,
        generation: AtomicU64,
        /// What the generation tells of.
        change: AtomicU64,
    }

    fn one_asks_while_one_changes<S: Strength + 'static>() {
        let scene = Arc::new(Scene::default());
        let theirs = scene.clone();
        let changer = thread::spawn(move || {
            theirs.change.store(1, Ordering::Relaxed);
            tell_with::<S>([&theirs.generation]);
            theirs.wishes.load(Ordering::Relaxed) != 0
        });
        ask_with::<S>(&scene.wishes, 4);
        let seen = scene.generation.load(Ordering::Acquire) != 0;
        if seen {
            assert_eq!(scene.change.load(Ordering::Relaxed), 1, "{UNCHANGED}");
        }
        let rung = changer.join().expect("the changer");
        assert!(seen || rung, "{MISSED}");
    }

    struct NoFenceAfterAsking;
    impl Strength for NoFenceAfterAsking {
        fn asked() {}
    }

    struct NoFenceAfterMoving;
    impl Strength for NoFenceAfterMoving {
        fn moved() {}
    }

    struct WeakGeneration;
    impl Strength for WeakGeneration {
        const GENERATION: Ordering = Ordering::Relaxed;
    }

    model! {
        who_asks_sees_the_change_or_is_told {
            edges: ["registry.watch", "registry.interest"],
            claim: "who asks to be told of changes sees a change in its look, or is rung for it",
            scenes: [one_asks_while_one_changes::<Full>],
            twins: [
                "the fence after asking": one_asks_while_one_changes::<NoFenceAfterAsking> => MISSED,
                "the fence after moving": one_asks_while_one_changes::<NoFenceAfterMoving> => MISSED,
            ],
        }
    }

    model! {
        a_generation_comes_with_its_change {
            edges: ["registry.generation"],
            claim: "who sees a generation moved finds the directory as it was changed",
            scenes: [one_asks_while_one_changes::<Full>],
            twins: ["the Release of the generation": one_asks_while_one_changes::<WeakGeneration> => UNCHANGED],
        }
    }
}
