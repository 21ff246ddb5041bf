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

const SLOTS: usize = 16;
const CONTEXTS: usize = 17;
const WATCH: usize = 64;
const LEAVERS: usize = 128;
const SIZES: u64 = MAX_SLOTS as u64 | (MAX_CONTEXTS as u64) << 32;

/// What the models weaken.
trait Strength {
    // ORDERING(registry.seal): Release; meets `identity`: who sees the magic sees the rest.
    const SEALED: Ordering = Ordering::Release;
    // ORDERING(registry.commit): Release; meets `slots_committed` and `contexts_high`: the pages are there.
    const RAISED: Ordering = Ordering::Release;
}

struct Full;
impl Strength for Full {}

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
        self.seal_with::<Full>();
    }

    fn seal_with<S: Strength>(&self) {
        self.0[1].store(LAYOUT_VERSION, Ordering::Relaxed);
        self.0[2].store(REGISTRY_LEN as u64, Ordering::Relaxed);
        self.0[3].store(SIZES, Ordering::Relaxed);
        self.0[0].store(MAGIC, S::SEALED);
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
        // ORDERING(registry.commit): Acquire; meets `raise`: the pages are there.
        let n = usize::try_from(self.0[SLOTS].load(Ordering::Acquire)).unwrap_or(MAX_SLOTS).min(MAX_SLOTS);
        n - n % SLOT_BATCH
    }

    pub(crate) fn raise_slots(&self, n: usize) {
        self.raise::<Full>(SLOTS, n);
    }

    /// Context entries in use now or earlier.
    pub(crate) fn contexts_high(&self) -> usize {
        // ORDERING(registry.commit): Acquire; meets `raise`.
        usize::try_from(self.0[CONTEXTS].load(Ordering::Acquire)).unwrap_or(MAX_CONTEXTS).min(MAX_CONTEXTS)
    }

    pub(crate) fn raise_contexts(&self, n: usize) {
        self.raise::<Full>(CONTEXTS, n);
    }

    fn raise<S: Strength>(&self, count: usize, n: usize) {
        self.0[count].fetch_max(n as u64, S::RAISED);
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

#[cfg(test)]
mod models {
    use super::*;
    use shoal_shm::model;
    use shoal_shm::sync::{thread, Arc, Witness};

    struct Page {
        words: Vec<AtomicU64>,
        grown: Witness,
    }

    impl Page {
        fn new() -> Arc<Page> {
            let words = (0..HEADER_LEN / 8).map(|_| AtomicU64::new(0)).collect();
            Arc::new(Page { words, grown: Witness::default() })
        }

        fn header(&self) -> Header<'_> {
            Header::of(&self.words).expect("a whole page")
        }
    }

    /// A creator seals a registry that another context opens.
    fn sealing<S: Strength + 'static>() {
        let page = Page::new();
        let theirs = page.clone();
        let creator = thread::spawn(move || theirs.header().seal_with::<S>());
        let found = page.header().identity();
        assert!(matches!(found, Identity::Unfinished | Identity::Ours), "{HALF}");
        creator.join().expect("the creator");
    }

    const HALF: &str = "a seal without its header";

    /// A context reserves pages that another one finds counted.
    fn growing<S: Strength + 'static>(count: usize) {
        let page = Page::new();
        let theirs = page.clone();
        let grower = thread::spawn(move || {
            theirs.grown.write();
            theirs.header().raise::<S>(count, SLOT_BATCH);
        });
        let found = if count == SLOTS { page.header().slots_committed() } else { page.header().contexts_high() };
        if found != 0 {
            page.grown.read();
        }
        grower.join().expect("the grower");
    }

    struct Unordered;
    impl Strength for Unordered {
        const SEALED: Ordering = Ordering::Relaxed;
        const RAISED: Ordering = Ordering::Relaxed;
    }

    model! {
        a_sealed_header_is_whole {
            edges: ["registry.seal"],
            claim: "who sees a registry's seal sees its version and its sizes",
            scenes: [sealing::<Full>],
            twins: ["the Release of the seal": sealing::<Unordered> => HALF],
        }
    }

    model! {
        counted_pages_are_reserved {
            edges: ["registry.commit"],
            claim: "slots and contexts that are counted have their pages",
            scenes: [|| growing::<Full>(SLOTS), || growing::<Full>(CONTEXTS)],
            twins: ["the Release of the count": || growing::<Unordered>(SLOTS) => Witness::RACE],
        }
    }
}
