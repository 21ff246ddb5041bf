//! The life of a slot in its owner's hands: claim, publish, close, withdraw. The states are described in
//! `layout::word`.

use crate::context::Registry;
use crate::error::ClaimError;
use crate::hash::{match_key, TopicHash};
use crate::ident::{Kind, SlotId};
use crate::layout::{
    pack_detail, seqlock, DetailWords, SlotState, Word, CLOSED_AT, DETAIL_LEN, HOT_LEN, MAX_NAME, MAX_SLOTS, SLOT_BATCH,
};
use crate::qos::{HotQos, Qos};
use shoal_shm::crash_point;
use shoal_shm::sync::{AtomicU64, Ordering};

/// What a node or endpoint says about itself.
#[derive(Copy, Clone, Debug)]
pub struct Registration<'a> {
    /// What it is.
    pub kind: Kind,
    /// Topic, service or node name, at most 255 bytes.
    pub name: &'a str,
    /// Type name, or the namespace of a node, at most 255 bytes.
    pub type_name: &'a str,
    /// The node of an endpoint.
    pub node: Option<SlotId>,
    /// Version and value of the type hash.
    pub type_hash: (u8, [u8; 32]),
    /// The resolved profile.
    pub qos: Qos,
    /// Number within the context, part of the GID.
    pub endpoint: u32,
    /// Whatever the caller wants to find again in [`Detail`](crate::Detail).
    pub flags: u64,
}

impl Registry {
    /// Claims a slot, fills it and makes it visible to peers (JOINING: writers see it, graph queries do not show it).
    /// When this returns, the generations have moved, a `fence(SeqCst)` stands after that, and watchers are rung.
    ///
    /// # Errors
    /// See [`ClaimError`]; then no slot is taken.
    pub fn claim(&self, r: &Registration<'_>) -> Result<SlotId, ClaimError> {
        // First of all: a lock that another thread of the parent held at the fork is never released here.
        if self.is_forked() {
            return Err(ClaimError::Forked);
        }
        let left = self.left.read();
        if *left {
            return Err(ClaimError::Left);
        }
        let detail = checked(r)?;
        let (index, incarnation) = self.take_slot(r.kind)?;
        crash_point!("registry.claim.claimed");
        let topic = TopicHash::of(r.name);
        self.fill(index, r, &detail);
        crash_point!("registry.claim.filled");
        self.set_word(index, Word::of(SlotState::Joining, r.kind, incarnation, topic));
        crash_point!("registry.claim.joining");
        self.announce(r.kind, topic);
        Ok(SlotId { index, incarnation })
    }

    /// Enters the slot into the graph (JOINING → LIVE). Anything but an own JOINING slot is left alone.
    pub fn publish(&self, s: SlotId) {
        if let Some(word) = self.step(s, &[SlotState::Joining], SlotState::Live) {
            crash_point!("registry.publish.live");
            self.announce_slot(s.index, word);
        }
    }

    /// Takes an own outlet out of the graph but keeps it for readers that have not drained it (→ CLOSED). The owner
    /// asks [`is_drained`](Registry::is_drained) now and then, and then withdraws it.
    pub fn close(&self, s: SlotId) {
        if let Some(word) = self.step(s, &[SlotState::Joining, SlotState::Live], SlotState::Closed) {
            crash_point!("registry.close.closed");
            self.finish_closing(s.index, word);
        }
    }

    /// Gives an own slot back; it is free for anyone when this returns.
    pub fn withdraw(&self, s: SlotId) {
        let from = [SlotState::Joining, SlotState::Live, SlotState::Closed];
        if let Some(word) = self.step(s, &from, SlotState::Dying) {
            self.finish_dying(s.index, word);
        }
    }

    /// Whether this context holds the slot, whatever its state.
    pub(crate) fn owns(&self, index: u32) -> bool {
        self.belongs_to(index, self.index, self.id)
    }

    /// By the hot cell; meaningful in every state but FREE and CLAIMED.
    pub(crate) fn belongs_to(&self, index: u32, ctx: u16, id: u64) -> bool {
        self.map.hot(index).is_some_and(|hot| hot.ctx_id() == id && hot.owner().0 == ctx)
    }

    pub(crate) fn word(&self, index: u32) -> Option<Word> {
        self.map.directory().get(index as usize).map(seqlock::load)
    }

    pub(crate) fn set_word(&self, index: u32, word: Word) {
        if let Some(cell) = self.map.directory().get(index as usize) {
            seqlock::store(cell, word);
        }
    }

    /// What follows → CLOSED. The stamp comes last: a closed slot without one has not been announced yet, and a reaper
    /// does it again.
    pub(crate) fn finish_closing(&self, index: u32, word: Word) {
        self.announce_slot(index, word);
        crash_point!("registry.close.announced");
        if let Some(stamp) = self.closed_at(index) {
            stamp.store(self.graph_generation().max(1), Ordering::Relaxed);
        }
    }

    /// What follows → DYING; may be repeated from the start.
    pub(crate) fn finish_dying(&self, index: u32, word: Word) {
        crash_point!("registry.withdraw.dying");
        self.announce_slot(index, word);
        crash_point!("registry.withdraw.announced");
        self.free_slot(index, word);
        self.hint.store(index as usize, Ordering::Relaxed);
    }

    /// FREE, for the next tenant. `last` is what the slot's owner, or its reaper, found there.
    pub(crate) fn free_slot(&self, index: u32, last: Word) {
        if let Some(cell) = self.map.directory().get(index as usize) {
            seqlock::release(cell, last);
        }
    }

    /// When an outlet closed, as a graph generation; 0 before.
    pub(crate) fn closed_at(&self, index: u32) -> Option<&AtomicU64> {
        self.map.detail(index)?.get(CLOSED_AT)
    }

    /// Changes the state of an own slot, if it is one of `from`; the new word on success.
    fn step(&self, s: SlotId, from: &[SlotState], to: SlotState) -> Option<Word> {
        if self.is_forked() || !self.owns(s.index) {
            return None;
        }
        seqlock::advance(self.map.directory().get(s.index as usize)?, s.incarnation, from, to)
    }

    /// FREE → CLAIMED; reserves more slots when all are taken.
    fn take_slot(&self, kind: Kind) -> Result<(u32, u32), ClaimError> {
        for _ in 0..=MAX_SLOTS / SLOT_BATCH {
            let directory = self.map.directory();
            let n = directory.len();
            let start = self.hint.load(Ordering::Relaxed).min(n);
            let taken = self.take_in(start..n, kind).or_else(|| self.take_in(0..start, kind));
            if let Some((index, incarnation)) = taken {
                self.hint.store(index as usize + 1, Ordering::Relaxed);
                return Ok((index, incarnation));
            }
            if n >= MAX_SLOTS {
                break;
            }
            let needed = SLOT_BATCH * (8 + HOT_LEN + DETAIL_LEN);
            self.map.grow_slots(n).map_err(|source| ClaimError::NoSpace { needed, source })?;
            self.hint.store(n, Ordering::Relaxed);
        }
        Err(ClaimError::Full { what: "slots (nodes and endpoints)", limit: MAX_SLOTS })
    }

    fn take_in(&self, range: std::ops::Range<usize>, kind: Kind) -> Option<(u32, u32)> {
        let start = range.start;
        for (i, cell) in self.map.directory().get(range)?.iter().enumerate() {
            let seen = Word(cell.load(Ordering::Relaxed));
            if seen.state() != Some(SlotState::Free) {
                continue;
            }
            let claimed = Word::claimed(kind, seen.incarnation(), self.index);
            if seqlock::claim(cell, seen, claimed) {
                return Some(((start + i) as u32, seen.incarnation()));
            }
        }
        None
    }

    /// Writes hot cell and detail of a CLAIMED slot.
    fn fill(&self, index: u32, r: &Registration<'_>, detail: &DetailWords) {
        if let Some(hot) = self.map.hot(index) {
            let key = match_key(r.name, r.type_name, &r.type_hash);
            hot.reset(key, HotQos::pack(&r.qos), (self.index, r.endpoint), self.id);
        }
        for (word, value) in self.map.detail(index).unwrap_or(&[]).iter().zip(detail.0) {
            word.store(value, Ordering::Relaxed);
        }
        for word in self.day_words(index).into_iter().flatten() {
            word.store(0, Ordering::Relaxed);
        }
    }
}

fn checked(r: &Registration<'_>) -> Result<DetailWords, ClaimError> {
    let second = if r.kind == Kind::Node { "namespace" } else { "type name" };
    for (what, name) in [("name", r.name), (second, r.type_name)] {
        if name.len() > MAX_NAME || name.contains('\0') {
            let start = name.chars().take(40).collect();
            return Err(ClaimError::NameTooLong { what, len: name.len(), limit: MAX_NAME, start });
        }
    }
    let too_long =
        || ClaimError::NameTooLong { what: "name", len: r.name.len(), limit: MAX_NAME, start: String::new() };
    pack_detail(r).ok_or_else(too_long)
}
