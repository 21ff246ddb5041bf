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
use shoal_shm::sync::{fence, low_half, AtomicU32, AtomicU64, Ordering};

const WORDS: usize = CONTEXT_LEN / 8;
const BELL: usize = 8;
const HAZARD: usize = 16;
const ENCLAVE: usize = HAZARD + HAZARDS;
const ENCLAVE_WORDS: usize = 32;

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
        // ORDERING(registry.context): Release; meets `word`.
        self.0[0].store(CtxWord::new(state, incarnation).0, Ordering::Release);
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
        let mut text = [0; ENCLAVE_WORDS];
        if !write_text(&mut text, enclave) {
            return false;
        }
        // ORDERING(registry.context): meets the fence in `enclave`: who sees a word written here sees CLAIMED.
        fence(Ordering::Release);
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
        (self.word().state() == Some(ContextState::Live)).then(|| self.enclave_of_any()).flatten()
    }

    /// As [`enclave`](Self::enclave), in whatever state the context is.
    pub(crate) fn enclave_of_any(&self) -> Option<String> {
        let before = self.word();
        let words: Vec<u64> =
            self.0[ENCLAVE..ENCLAVE + ENCLAVE_WORDS].iter().map(|w| w.load(Ordering::Relaxed)).collect();
        fence(Ordering::Acquire);
        (self.word() == before).then(|| read_text(&words)).flatten()
    }
}
