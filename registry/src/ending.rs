//! How a publisher's stream ended: finished by itself, or broken by the death of its process.

use crate::context::Registry;
use crate::ident::{Kind, SlotId};
use crate::layout::{HotCell, SlotState, Word, DAYS, DIED};
use shoal_shm::ending;
use shoal_shm::sync::{fence, AtomicU64, Ordering};

/// A stream to which nothing is added any more.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Ending {
    /// The publisher said so; the last sequence number.
    Finished(u64),
    /// The publisher's process died without saying so; the last sequence number that it committed.
    Broken(u64),
}

/// How many days of a publisher have ended, and behind which sequence numbers the newest of them did.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Days {
    /// How many have ended since the publisher was created.
    pub count: u64,
    ends: [u64; ending::MARKS],
}

impl Days {
    /// The last sequence number of a day (from 1) that has ended; where it ended too long ago, that of the oldest day whose
    /// end is known.
    pub fn end_of(&self, day: u64) -> u64 {
        let day = day.max(self.count.saturating_sub(ending::MARKS as u64 - 1));
        self.ends[(day % ending::MARKS as u64) as usize]
    }
}

impl Registry {
    /// Says that an own publisher's stream ends with what it has committed. The caller tells the readers after this, as
    /// after a commit. Anything but an own slot is left alone.
    pub fn finish(&self, s: SlotId) {
        // Held throughout: while this context has not left, an own slot stays its own.
        let left = self.left.read();
        let held = !*left && self.slot_state(s).is_some() && self.owns(s.index);
        if let Some(hot) = self.map.hot(s.index).filter(|_| held) {
            hot.finish();
        }
    }

    /// How the stream of this publisher ended. `None`: it goes on, its publisher was deleted without finishing it, or that
    /// is not known any more, because the slot has another tenant.
    pub fn ending(&self, s: SlotId, ctx_id: u64) -> Option<Ending> {
        let (word, hot) = (self.word(s.index)?, self.map.hot(s.index)?);
        let ending = ending_of(hot).filter(|_| hot.ctx_id() == ctx_id);
        // ORDERING(registry.slot): Acquire fence; meets `fill`: what the next tenant wrote shows the word changed.
        fence(Ordering::Acquire);
        let still = |word: Word| is_or_was(word, s);
        ending.filter(|_| still(word) && self.word(s.index).is_some_and(still))
    }

    /// Says that `day`, from 1, of an own publisher ends behind its sample `last`. The caller, which is the only one to do so for this
    /// publisher, tells the readers after this, as after a commit. Anything but an own slot is left alone.
    pub fn end_day(&self, s: SlotId, day: u64, last: u64) {
        // As in `finish`.
        let left = self.left.read();
        let held = !*left && self.slot_state(s).is_some() && self.owns(s.index);
        if let Some(words) = self.day_words(s.index).filter(|_| held) {
            ending::end_day(words, day, last);
        }
    }

    /// The ends of days of this publisher beyond the first `known`; `None` where there are none, or the slot has another
    /// tenant.
    pub fn days_after(&self, s: SlotId, ctx_id: u64, known: u64) -> Option<Days> {
        let still = |word: Word| is_or_was(word, s);
        let (word, hot) = (self.word(s.index).filter(|word| still(*word))?, self.map.hot(s.index)?);
        let words = self.day_words(s.index).filter(|_| word.kind() == Some(Kind::Publisher))?;
        let count = ending::days(words);
        if count <= known || hot.ctx_id() != ctx_id {
            return None;
        }
        let mut ends = [0; ending::MARKS];
        for (day, end) in (0..).zip(&mut ends) {
            *end = ending::end_of(words, day);
        }
        // ORDERING(registry.slot): Acquire fence; meets `fill`: what the next tenant wrote shows the word changed.
        fence(Ordering::Acquire);
        self.word(s.index).is_some_and(still).then_some(Days { count, ends })
    }

    /// The words in which a publisher's days are.
    pub(crate) fn day_words(&self, index: u32) -> Option<&[AtomicU64; ending::WORDS]> {
        self.map.detail(index)?.get(DAYS)?.try_into().ok()
    }

    /// Whether this slot is a publisher whose stream has ended, or had a day that did: readers may want to know.
    pub(crate) fn has_ended(&self, index: u32, word: Word, hot: &HotCell) -> bool {
        let any_day = || self.day_words(index).is_some_and(|words| ending::days(words) > 0);
        word.kind() == Some(Kind::Publisher) && (ending_of(hot).is_some() || any_day())
    }
}

/// What a publisher's cell says.
fn ending_of(hot: &HotCell) -> Option<Ending> {
    if let Some(last) = hot.last_of_finished() {
        return Some(Ending::Finished(last));
    }
    let died = hot.asserted().load(Ordering::Relaxed) == DIED;
    died.then(|| Ending::Broken(hot.head().load(Ordering::Acquire)))
}

/// Whether the slot has this tenant, or nobody came after it.
fn is_or_was(word: Word, s: SlotId) -> bool {
    match word.state() {
        Some(SlotState::Free) => word.incarnation() == s.incarnation.wrapping_add(1),
        Some(SlotState::Claimed) | None => false,
        Some(SlotState::Joining | SlotState::Live | SlotState::Closed | SlotState::Dying) => {
            word.incarnation() == s.incarnation
        }
    }
}
