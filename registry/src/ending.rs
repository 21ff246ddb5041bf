//! How a publisher's stream ended: finished by itself, or broken by the death of its process.

use crate::context::Registry;
use crate::ident::{Kind, SlotId};
use crate::layout::{HotCell, SlotState, Word, DIED};
use shoal_shm::sync::{fence, Ordering};

/// A stream to which nothing is added any more.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Ending {
    /// The publisher said so; the last sequence number.
    Finished(u64),
    /// The publisher's process died without saying so; the last sequence number that it committed.
    Broken(u64),
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

    /// Whether this slot is a publisher whose stream has ended.
    pub(crate) fn has_ended(&self, word: Word, hot: &HotCell) -> bool {
        word.kind() == Some(Kind::Publisher) && ending_of(hot).is_some()
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
