//! A context entry: who joined, its doorbell, its hazards.
//!
//! ```text
//! words   0        state:8 | incarnation:16
//!         1        ctx_id        2   pid | uid << 32 (for people; nothing is decided by them)
//!         8        doorbell (low half; any peer may ring)
//!        16..80    hazard words (the context's own)
//!        80..112   enclave, NUL-padded
//! ```
//! Byte `1 + index` of the lock file is held exclusively by the context, or by whoever reaps it; only the holder
//! changes the entry.

use crate::layout::{read_text, write_text, CONTEXT_LEN, HAZARDS};
use shoal_shm::sync::{fence, low_half, AtomicU32, AtomicU64, Ordering, EXHAUSTIVE};

const WORDS: usize = CONTEXT_LEN / 8;
const BELL: usize = 8;
const HAZARD: usize = 16;
const ENCLAVE: usize = HAZARD + HAZARDS;
/// Models keep it short.
const ENCLAVE_WORDS: usize = if EXHAUSTIVE { 3 } else { 32 };

/// Where a context is in its life.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[repr(u8)]
pub(crate) enum ContextState {
    Free = 0,
    Claimed = 1,
    Live = 2,
    Left = 3,
    Dead = 4,
}

/// The first word of an entry.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) struct CtxWord(u64);

impl CtxWord {
    pub(crate) fn new(state: ContextState, incarnation: u16) -> CtxWord {
        CtxWord(state as u64 | u64::from(incarnation) << 8)
    }

    /// `None` for a value outside the layout.
    pub(crate) fn state(self) -> Option<ContextState> {
        use ContextState::*;
        [Free, Claimed, Live, Left, Dead].get((self.0 & 0xff) as usize).copied()
    }

    pub(crate) fn incarnation(self) -> u16 {
        (self.0 >> 8) as u16
    }
}

/// What the models weaken.
trait Strength {
    // ORDERING(registry.context): Release; meets `word`.
    const STATE: Ordering = Ordering::Release;

    /// Between CLAIMED and what the newcomer writes.
    // ORDERING(registry.context): meets the fence in `enclave`: who sees a word written after it sees CLAIMED.
    #[inline(always)]
    fn claimed() {
        fence(Ordering::Release);
    }
}

struct Full;
impl Strength for Full {}

/// One entry of the context table.
#[derive(Copy, Clone)]
pub(crate) struct ContextEntry<'a>(&'a [AtomicU64; WORDS]);

impl<'a> ContextEntry<'a> {
    pub(crate) fn of(words: &'a [AtomicU64]) -> Option<ContextEntry<'a>> {
        Some(ContextEntry(words.get(..WORDS)?.try_into().ok()?))
    }

    pub(crate) fn word(&self) -> CtxWord {
        // ORDERING(registry.context): Acquire; meets `set`, so id and enclave are those of this state.
        CtxWord(self.0[0].load(Ordering::Acquire))
    }

    pub(crate) fn set(&self, state: ContextState, incarnation: u16) {
        self.set_with::<Full>(state, incarnation);
    }

    fn set_with<S: Strength>(&self, state: ContextState, incarnation: u16) {
        self.0[0].store(CtxWord::new(state, incarnation).0, S::STATE);
    }

    pub(crate) fn id(&self) -> u64 {
        self.0[1].load(Ordering::Relaxed)
    }

    /// Process id and user id, as its own namespaces number them.
    pub(crate) fn process(&self) -> (u32, u32) {
        let word = self.0[2].load(Ordering::Relaxed);
        (word as u32, (word >> 32) as u32)
    }

    /// Fills everything but the state. The caller has set CLAIMED.
    pub(crate) fn fill(&self, id: u64, pid: u32, uid: u32, enclave: &str) -> bool {
        self.fill_with::<Full>(id, pid, uid, enclave)
    }

    fn fill_with<S: Strength>(&self, id: u64, pid: u32, uid: u32, enclave: &str) -> bool {
        let mut text = [0; ENCLAVE_WORDS];
        if !write_text(&mut text, enclave) {
            return false;
        }
        S::claimed();
        self.0[1].store(id, Ordering::Relaxed);
        self.0[2].store(u64::from(pid) | u64::from(uid) << 32, Ordering::Relaxed);
        for (word, value) in self.0[ENCLAVE..].iter().zip(text) {
            word.store(value, Ordering::Relaxed);
        }
        self.clear_hazards();
        true
    }

    /// Nobody of this context reads any payload (any more).
    pub(crate) fn clear_hazards(&self) {
        self.hazards().iter().for_each(|w| w.store(0, Ordering::Relaxed));
    }

    /// `None` where words cannot be split (models).
    pub(crate) fn bell(&self) -> Option<&'a AtomicU32> {
        low_half(&self.0[BELL])
    }

    pub(crate) fn hazards(&self) -> &'a [AtomicU64] {
        &self.0[HAZARD..HAZARD + HAZARDS]
    }

    /// The enclave of a living context; `None` when the entry changed hands meanwhile or is no text.
    pub(crate) fn enclave(&self) -> Option<String> {
        self.enclave_if(|state| state == ContextState::Live)
    }

    /// As [`enclave`](Self::enclave), in whatever state the context is, but while it enters.
    pub(crate) fn enclave_of_any(&self) -> Option<String> {
        self.enclave_if(|state| state != ContextState::Claimed)
    }

    fn enclave_if(&self, is_filled: impl FnOnce(ContextState) -> bool) -> Option<String> {
        let before = self.word();
        if !before.state().is_some_and(is_filled) {
            return None;
        }
        let words: Vec<u64> =
            self.0[ENCLAVE..ENCLAVE + ENCLAVE_WORDS].iter().map(|w| w.load(Ordering::Relaxed)).collect();
        // ORDERING(registry.context): meets `claimed`.
        fence(Ordering::Acquire);
        (self.word() == before).then(|| read_text(&words)).flatten()
    }
}

#[cfg(test)]
mod models {
    use super::*;
    use shoal_shm::model;
    use shoal_shm::sync::{thread, Arc};

    const OLD: &str = "/a/a/a/a/a";
    const NEW: &str = "/b/b/b/b/b";

    /// A context leaves, and another takes its entry, while a third looks at it.
    fn next_context<S: Strength + 'static>(look: fn(ContextEntry<'_>)) {
        let words: Arc<Vec<AtomicU64>> = Arc::new((0..WORDS).map(|_| AtomicU64::new(0)).collect());
        let entry = ContextEntry::of(&words).expect("a whole entry");
        entry.fill(1, 0, 0, OLD);
        entry.set(ContextState::Live, 0);
        let theirs = words.clone();
        let newcomer = thread::spawn(move || {
            let entry = ContextEntry::of(&theirs).expect("a whole entry");
            entry.set_with::<S>(ContextState::Free, 1);
            entry.set_with::<S>(ContextState::Claimed, 1);
            entry.fill_with::<S>(2, 0, 0, NEW);
            entry.set_with::<S>(ContextState::Live, 1);
        });
        look(entry);
        newcomer.join().expect("the newcomer");
    }

    fn look_at_id(entry: ContextEntry<'_>) {
        if entry.word() == CtxWord::new(ContextState::Live, 1) {
            assert_eq!(entry.id(), 2, "{EARLY}");
        }
    }

    fn look_at_enclave(entry: ContextEntry<'_>) {
        is_whole(entry.enclave());
    }

    fn look_at_any_enclave(entry: ContextEntry<'_>) {
        is_whole(entry.enclave_of_any());
    }

    fn is_whole(enclave: Option<String>) {
        assert!(enclave.as_deref().is_none_or(|text| [OLD, NEW].contains(&text)), "{MIXED}");
    }

    const EARLY: &str = "a living context without its id";
    const MIXED: &str = "a mixture of two enclaves";

    struct WeakState;
    impl Strength for WeakState {
        const STATE: Ordering = Ordering::Relaxed;
    }

    struct NoFence;
    impl Strength for NoFence {
        fn claimed() {}
    }

    model! {
        an_entry_belongs_to_one_context {
            edges: ["registry.context"],
            claim: "who sees a context live sees its id, and an enclave of one context or none",
            scenes: [
                || next_context::<Full>(look_at_id),
                || next_context::<Full>(look_at_enclave),
                || next_context::<Full>(look_at_any_enclave),
            ],
            twins: [
                "the Release of the state": || next_context::<WeakState>(look_at_id) => EARLY,
                "the fence after CLAIMED": || next_context::<NoFence>(look_at_enclave) => MIXED,
            ],
        }
    }
}
