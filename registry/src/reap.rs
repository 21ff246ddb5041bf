//! Cleaning up after the dead.
//!
//! A context whose entry is not FREE and whose life byte nobody holds is dead (or has left and been dropped). Whoever
//! notices takes that byte, so there is exactly one reaper at a time, and does the steps below. Each step may be
//! repeated: a reaper that dies leaves the byte free and the entry DEAD, and the next one starts from the first step.
//!
//! 1. Entry → DEAD, for all the dead, before any slot is looked at: readers of the dead keep nobody's samples.
//! 2. Watch bit, hazards and the mark of one that left cleared.
//! 3. Slots: CLAIMED ones are freed; outlets with samples that a living reader wants are closed and stay; everything
//!    else goes through DYING (generations moved, watchers rung) to FREE.
//! 4. No slot left: the segment files are unlinked, and the entry becomes FREE with the next incarnation.

use crate::context::{life_byte, Registry};
use crate::ident::{Kind, SlotId};
use crate::layout::{ContextEntry, ContextState, SlotState, Word, DIED};
use shoal_shm::crash_point;
use shoal_shm::lock::LockFile;
use shoal_shm::sync::{fence, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds between two sweeps of a domain, by whomever.
const SWEEP_INTERVAL: u64 = 100;

/// A life byte held for the length of a reaping.
struct LifeByte<'a>(&'a LockFile, u64);

impl<'a> LifeByte<'a> {
    fn try_take(lock: &'a LockFile, index: usize) -> Option<LifeByte<'a>> {
        let byte = life_byte(index);
        lock.try_exclusive(byte).unwrap_or(false).then_some(LifeByte(lock, byte))
    }
}

impl Drop for LifeByte<'_> {
    fn drop(&mut self) {
        self.0.unlock(self.1);
    }
}

impl Registry {
    /// Looks for dead contexts and reaps them, unless anyone in the domain did so within the last 100 ms. Never blocks
    /// on another process.
    pub fn sweep(&self) {
        // A clock that all processes share, whatever their time namespace; a jump costs or saves one look.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
        let stamp = self.map.header().last_sweep();
        let last = stamp.load(Ordering::Relaxed);
        let due = now.abs_diff(last) >= SWEEP_INTERVAL;
        if due && !self.is_forked() && stamp.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.sweep_now();
        }
    }

    /// As [`sweep`](Registry::sweep), but always looks: one system call per context.
    pub fn sweep_now(&self) {
        if self.is_forked() {
            return;
        }
        // Held throughout, so that the context does not leave in the middle.
        let left = self.left.read();
        if *left {
            return;
        }
        let _one = self.reaping.lock();
        let dead: Vec<usize> = (0..self.map.header().contexts_high()).filter(|&i| self.mark_if_dead(i)).collect();
        dead.into_iter().for_each(|i| self.reap(i));
    }

    /// Step 1; true when the entry is DEAD.
    fn mark_if_dead(&self, index: usize) -> bool {
        let Some(entry) = self.map.context(index) else { return false };
        let state = entry.word().state();
        if index == usize::from(self.index) || matches!(state, None | Some(ContextState::Free)) {
            return false;
        }
        // An error is no proof of death.
        if self.lock.is_held_by_another(life_byte(index)).unwrap_or(true) {
            return false;
        }
        let Some(_held) = LifeByte::try_take(&self.lock, index) else { return false };
        // Under the lock: somebody may have reaped it, or moved in, since we looked.
        let word = entry.word();
        match word.state() {
            None | Some(ContextState::Free) => false,
            Some(ContextState::Dead) => true,
            Some(ContextState::Claimed | ContextState::Live | ContextState::Left) => {
                entry.set(ContextState::Dead, word.incarnation());
                crash_point!("registry.reap.dead");
                true
            }
        }
    }

    /// Steps 2 to 4.
    fn reap(&self, index: usize) {
        let Some(_held) = LifeByte::try_take(&self.lock, index) else { return };
        let Some(entry) = self.map.context(index) else { return };
        let word = entry.word();
        if word.state() != Some(ContextState::Dead) {
            return;
        }
        self.unwatch(index);
        entry.clear_hazards();
        self.clear_leaver(index);
        crash_point!("registry.reap.cleared");
        if self.reap_slots(index, &entry) == 0 {
            self.unlink_files_of(entry.id());
            crash_point!("registry.reap.unlinked");
            entry.set(ContextState::Free, word.incarnation().wrapping_add(1));
        }
    }

    /// Step 3; the number of slots that stay.
    fn reap_slots(&self, ctx: usize, entry: &ContextEntry<'_>) -> usize {
        let id = entry.id();
        let mut kept = 0;
        for index in 0..self.map.directory().len() as u32 {
            let Some(word) = self.word(index) else { continue };
            match word.state() {
                None | Some(SlotState::Free) => {}
                Some(SlotState::Claimed) if word.claimer() == ctx as u64 => {
                    self.free_slot(index, word);
                }
                Some(SlotState::Claimed) => {}
                Some(state) if self.belongs_to(index, ctx as u16, id) => {
                    kept += usize::from(self.reap_slot(index, word, state));
                }
                Some(_) => {}
            }
        }
        kept
    }

    /// One slot of a dead context; whether it stays.
    fn reap_slot(&self, index: u32, word: Word, state: SlotState) -> bool {
        if state == SlotState::Dying {
            self.finish_dying(index, word);
            return false;
        }
        if state != SlotState::Closed {
            self.mark_died(index, word);
            self.mark_for(index, word);
        }
        if self.is_unwanted(index, word) {
            let dying = word.with_state(SlotState::Dying);
            self.set_word(index, dying);
            self.finish_dying(index, dying);
            return false;
        }
        let closed = word.with_state(SlotState::Closed);
        self.set_word(index, closed);
        crash_point!("registry.reap.closed");
        if self.closed_at(index).is_some_and(|stamp| stamp.load(Ordering::Relaxed) == 0) {
            self.finish_closing(index, closed);
        }
        true
    }

    /// Tells those who watch a publisher's liveliness that nobody deleted it.
    fn mark_died(&self, index: u32, word: Word) {
        if let Some(hot) = self.map.hot(index).filter(|_| word.kind() == Some(Kind::Publisher)) {
            // ORDERING(registry.slot): before the slot's next state, which `died` reads first.
            hot.asserted().store(DIED, Ordering::Relaxed);
        }
    }

    /// Whether this publisher, which is not in the graph any more, was not deleted but its process died. False when
    /// that is not known any more, because the slot has another tenant.
    pub fn died(&self, s: SlotId, ctx_id: u64) -> bool {
        let is_its_end = |word: Word| match word.state() {
            Some(SlotState::Closed | SlotState::Dying) => word.incarnation() == s.incarnation,
            Some(SlotState::Free) => word.incarnation() == s.incarnation.wrapping_add(1),
            _ => false,
        };
        let (Some(word), Some(hot)) = (self.word(s.index), self.map.hot(s.index)) else { return false };
        let died = hot.ctx_id() == ctx_id && hot.asserted().load(Ordering::Relaxed) == DIED;
        // ORDERING(registry.slot): Acquire fence; meets `fill`: what the next tenant wrote shows the word changed.
        fence(Ordering::Acquire);
        died && is_its_end(word) && self.word(s.index).is_some_and(is_its_end)
    }

    /// Withdraws every slot of this context, or closes it while somebody wants its samples; the number that stays.
    pub(crate) fn give_up_slots(&self) -> usize {
        let mut kept = 0;
        for index in 0..self.map.directory().len() as u32 {
            let Some(word) = self.word(index).filter(|w| w.is_readable()) else { continue };
            if !self.owns(index) {
                continue;
            }
            let slot = SlotId { index, incarnation: word.incarnation() };
            if self.is_unwanted(index, word) {
                self.withdraw(slot);
            } else {
                self.close(slot);
                kept += 1;
            }
        }
        kept
    }
}
