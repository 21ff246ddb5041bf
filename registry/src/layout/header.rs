//! The header: magic last, so that a file without it is one whose maker died.
//!
//! ```text
//! words   0  magic   1  layout version   2  file length   3  slots | contexts << 32
//!         8  graph generation
//!        16  slots committed    17  contexts high   (both only grow)
//!        24  time of the domain's last sweep, ms
//!        64..128  watch bitmap: bit i % 64 of word i / 64 is context i
//!       128..192  the contexts that left while their process goes on, in the same way: they may still read
//! ```

use crate::layout::{HEADER_LEN, LAYOUT_VERSION, MAGIC, MAX_CONTEXTS, MAX_SLOTS, REGISTRY_LEN, SLOT_BATCH};
use shoal_shm::sync::{AtomicU64, Ordering};

const WATCH: usize = 64;
const LEAVERS: usize = 128;
const SIZES: u64 = MAX_SLOTS as u64 | (MAX_CONTEXTS as u64) << 32;

/// The first page of the registry file.
#[derive(Copy, Clone)]
pub(crate) struct Header<'a>(&'a [AtomicU64; HEADER_LEN / 8]);

/// What a registry file says about itself.
pub(crate) enum Identity {
    Ours,
    /// No magic: whoever created it died on the way.
    Unfinished,
    OtherVersion(u64),
    /// The right version, but sizes that this version never writes.
    Damaged,
}

impl<'a> Header<'a> {
    pub(crate) fn of(words: &'a [AtomicU64]) -> Option<Header<'a>> {
        Some(Header(words.get(..HEADER_LEN / 8)?.try_into().ok()?))
    }

    pub(crate) fn seal(&self) {
        self.0[1].store(LAYOUT_VERSION, Ordering::Relaxed);
        self.0[2].store(REGISTRY_LEN as u64, Ordering::Relaxed);
        self.0[3].store(SIZES, Ordering::Relaxed);
        // ORDERING(registry.seal): Release; meets `identity`: who sees the magic sees the rest.
        self.0[0].store(MAGIC, Ordering::Release);
    }

    pub(crate) fn identity(&self) -> Identity {
        // ORDERING(registry.seal): Acquire; meets `seal`.
        if self.0[0].load(Ordering::Acquire) != MAGIC {
            return Identity::Unfinished;
        }
        let version = self.0[1].load(Ordering::Relaxed);
        let sizes = (self.0[2].load(Ordering::Relaxed), self.0[3].load(Ordering::Relaxed));
        match version {
            LAYOUT_VERSION if sizes == (REGISTRY_LEN as u64, SIZES) => Identity::Ours,
            LAYOUT_VERSION => Identity::Damaged,
            other => Identity::OtherVersion(other),
        }
    }

    pub(crate) fn graph_generation(&self) -> &'a AtomicU64 {
        &self.0[8]
    }

    /// Slots whose pages are reserved, whatever the word says a possible count.
    pub(crate) fn slots_committed(&self) -> usize {
        // ORDERING(registry.commit): Acquire; meets `raise_slots`: the pages are there.
        let n = usize::try_from(self.0[16].load(Ordering::Acquire)).unwrap_or(MAX_SLOTS).min(MAX_SLOTS);
        n - n % SLOT_BATCH
    }

    pub(crate) fn raise_slots(&self, n: usize) {
        // ORDERING(registry.commit): Release; meets `slots_committed`.
        self.0[16].fetch_max(n as u64, Ordering::Release);
    }

    /// Context entries in use now or earlier.
    pub(crate) fn contexts_high(&self) -> usize {
        // ORDERING(registry.commit): Acquire; meets `raise_contexts`.
        usize::try_from(self.0[17].load(Ordering::Acquire)).unwrap_or(MAX_CONTEXTS).min(MAX_CONTEXTS)
    }

    pub(crate) fn raise_contexts(&self, n: usize) {
        // ORDERING(registry.commit): Release; meets `contexts_high`.
        self.0[17].fetch_max(n as u64, Ordering::Release);
    }

    pub(crate) fn last_sweep(&self) -> &'a AtomicU64 {
        &self.0[24]
    }

    pub(crate) fn watch(&self) -> &'a [AtomicU64] {
        &self.0[WATCH..WATCH + MAX_CONTEXTS / 64]
    }

    pub(crate) fn leavers(&self) -> &'a [AtomicU64] {
        &self.0[LEAVERS..LEAVERS + MAX_CONTEXTS / 64]
    }
}
