//! The mapped registry file, by entry instead of by offset.

use crate::hash::TopicHash;
use crate::layout::{
    ContextEntry, Header, HotCell, BUCKETS, BUCKETS_AT, BUCKET_LEN, CONTEXTS_AT, CONTEXT_LEN, COUNTERS, COUNTERS_AT,
    DETAILS_AT, DETAIL_LEN, DIRECTORY_AT, HOT_AT, HOT_LEN, MAX_CONTEXTS, MAX_SLOTS, REGISTRY_LEN, SLOT_BATCH,
};
use shoal_shm::doorbell::Doorbell;
use shoal_shm::segment::{CreateError, Segment, View};
use shoal_shm::sync::AtomicU64;
use shoal_shm::wait::{enlist, Enlisted};

/// The mapping. Its length is checked once, so only indices are checked later.
pub(crate) struct Map {
    memory: Memory,
}

enum Memory {
    Joined(Segment),
    /// Read-only: nothing may be stored through it.
    Observed(View),
}

impl Map {
    /// `None` when the mapping is shorter than the layout.
    pub(crate) fn new(segment: Segment) -> Option<Map> {
        Map::over(Memory::Joined(segment))
    }

    /// For who only looks; `None` as for [`new`](Map::new).
    pub(crate) fn read_only(view: View) -> Option<Map> {
        Map::over(Memory::Observed(view))
    }

    fn over(memory: Memory) -> Option<Map> {
        let map = Map { memory };
        (map.words(0, REGISTRY_LEN / 8).len() == REGISTRY_LEN / 8).then_some(map)
    }

    /// Whether no page of the file was found gone so far.
    pub(crate) fn is_whole(&self) -> bool {
        match &self.memory {
            Memory::Joined(segment) => segment.is_whole(),
            Memory::Observed(view) => view.is_whole(),
        }
    }

    fn words(&self, at: usize, n: usize) -> &[AtomicU64] {
        let words = match &self.memory {
            Memory::Joined(segment) => segment.words(at, n),
            Memory::Observed(view) => view.words(at, n),
        };
        words.unwrap_or(&[])
    }

    fn commit(&self, at: usize, len: usize) -> Result<(), CreateError> {
        match &self.memory {
            Memory::Joined(segment) => segment.commit(at, len),
            // Nobody asks for it: observers claim nothing.
            Memory::Observed(_) => Ok(()),
        }
    }

    pub(crate) fn header(&self) -> Header<'_> {
        Header::of(self.words(0, crate::layout::HEADER_LEN / 8)).expect("the mapping covers the header (Map::new)")
    }

    fn bucket(&self, topic: TopicHash, word: usize) -> &AtomicU64 {
        &self.words(BUCKETS_AT, BUCKETS * BUCKET_LEN / 8)[(topic.0 as usize % BUCKETS) * 2 + word]
    }

    pub(crate) fn outlets_gen(&self, topic: TopicHash) -> &AtomicU64 {
        self.bucket(topic, 0)
    }

    pub(crate) fn inlets_gen(&self, topic: TopicHash) -> &AtomicU64 {
        self.bucket(topic, 1)
    }

    /// An entry whose pages are reserved.
    pub(crate) fn context(&self, index: usize) -> Option<ContextEntry<'_>> {
        (index < self.header().contexts_high()).then(|| self.reserved_context(index)).flatten()
    }

    /// An entry whose pages the caller knows to be reserved, whatever the header says by now.
    pub(crate) fn reserved_context(&self, index: usize) -> Option<ContextEntry<'_>> {
        ContextEntry::of(self.words(CONTEXTS_AT + index * CONTEXT_LEN, CONTEXT_LEN / 8))
    }

    /// The directory words of all reserved slots.
    pub(crate) fn directory(&self) -> &[AtomicU64] {
        self.words(DIRECTORY_AT, self.header().slots_committed())
    }

    pub(crate) fn hot(&self, index: u32) -> Option<&HotCell> {
        let index = self.checked(index)?;
        HotCell::of(self.words(HOT_AT + index * HOT_LEN, HOT_LEN / 8))
    }

    /// The words of a detail slot.
    pub(crate) fn detail(&self, index: u32) -> Option<&[AtomicU64]> {
        let index = self.checked(index)?;
        Some(self.words(DETAILS_AT + index * DETAIL_LEN, DETAIL_LEN / 8))
    }

    fn checked(&self, index: u32) -> Option<usize> {
        let index = index as usize;
        (index < self.header().slots_committed()).then_some(index)
    }

    /// The counters of the domain.
    pub(crate) fn counters(&self) -> &[AtomicU64] {
        self.words(COUNTERS_AT, COUNTERS)
    }

    /// Reserves header, buckets, counters and the first slots.
    pub(crate) fn commit_base(&self) -> Result<(), CreateError> {
        self.commit(0, CONTEXTS_AT)?;
        self.commit(COUNTERS_AT, COUNTERS * 8)?;
        self.grow_slots(0)
    }

    /// Reserves the batch of slots that follows the first `from`. Safe to repeat and to race.
    pub(crate) fn grow_slots(&self, from: usize) -> Result<(), CreateError> {
        let to = (from + SLOT_BATCH).min(MAX_SLOTS);
        self.commit(DIRECTORY_AT + from * 8, (to - from) * 8)?;
        self.commit(HOT_AT + from * HOT_LEN, (to - from) * HOT_LEN)?;
        self.commit(DETAILS_AT + from * DETAIL_LEN, (to - from) * DETAIL_LEN)?;
        self.header().raise_slots(to);
        Ok(())
    }

    /// Reserves the context entries up to and with `index`.
    pub(crate) fn grow_contexts(&self, index: usize) -> Result<(), CreateError> {
        let high = self.header().contexts_high();
        if index < high || index >= MAX_CONTEXTS {
            return Ok(());
        }
        self.commit(CONTEXTS_AT + high * CONTEXT_LEN, (index + 1 - high) * CONTEXT_LEN)?;
        self.header().raise_contexts(index + 1);
        Ok(())
    }

    /// The hazard words of one context, for as long as the mapping lives.
    ///
    /// # Safety
    /// The caller must drop every copy of the slice before it drops this `Map`.
    pub(crate) unsafe fn hazards_unbounded(&self, index: usize) -> Option<&'static [AtomicU64]> {
        let words = self.context(index)?.hazards();
        // SAFETY: same pointer and length; the words stay mapped until the Map goes, which is after the slice by the
        // caller's promise. Moving the Map does not move the mapping.
        Some(unsafe { std::slice::from_raw_parts(words.as_ptr(), words.len()) })
    }

    /// Has interruptions of the process ring the doorbell of one context.
    ///
    /// # Safety
    /// The caller must drop the result before it drops this `Map`.
    pub(crate) unsafe fn enlist_doorbell(&self, index: usize) -> Option<Enlisted> {
        let bell = self.context(index)?.bell()?;
        // SAFETY: the word stays mapped until the Map goes, which is after the result by the caller's promise.
        Some(unsafe { enlist(Doorbell(bell)) })
    }
}
