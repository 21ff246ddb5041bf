//! Who claims the items of a queue, and telling the others.

use crate::context::Registry;
use crate::ident::SlotId;
use crate::layout::ContextState;
use shoal_shm::claim::Member;

const INDEX_BITS: u32 = 12;

impl Registry {
    /// This context, as the claims of items name it: its index and the low bits of its incarnation.
    pub fn member(&self) -> Member {
        member(self.context_index(), self.incarnation)
    }

    /// Whether this member's context lives and has not left. By the table alone: one that was just killed still counts,
    /// until somebody has looked for the dead.
    pub fn is_member(&self, who: Member) -> bool {
        let index = who.number() & ((1 << INDEX_BITS) - 1);
        let entry = self.map.context(index as usize).map(|entry| entry.word());
        entry.is_some_and(|word| {
            word.state() == Some(ContextState::Live) && member(index as u16, word.incarnation()) == who
        })
    }

    /// Marks an outlet at all of its readers, and wakes them, for somebody who has changed what they find there.
    pub fn mark_readers(&self, s: SlotId) {
        if let Some(word) = self.word(s.index).filter(|word| word.incarnation() == s.incarnation) {
            self.mark_for(s.index, word);
        }
    }
}

fn member(index: u16, incarnation: u16) -> Member {
    Member::new(u32::from(index) | u32::from(incarnation) << INDEX_BITS)
}
