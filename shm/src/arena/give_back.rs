//! Giving memory back to the file system, with hysteresis.

use super::Arena;
use std::time::Instant;

/// Idle bytes that are never worth giving back.
const KEEP: u64 = 1 << 20;

/// From this segment number on, segments are punched but no longer unlinked, so that the numbers, which are never used
/// twice, cannot run out in a process that allocates and frees for years.
pub(super) const THRIFT: u32 = 1 << 15;

impl Arena {
    /// Gives back what was not needed lately: a second after the last look, whatever is idle beyond the most that was
    /// in use since then (and beyond [`KEEP`]). A load that comes and goes, such as one large sample after the other,
    /// makes no system call for it; memory that a burst left is given back when the owner next publishes after it.
    /// Sooner only when idle memory piles up, as with samples that grow and fit into nothing that was freed.
    ///
    /// Cheap while little is idle: called after every commit.
    pub fn tidy(&mut self) {
        self.free_due();
        self.settle();
    }

    /// The same for what is free by now.
    pub(super) fn settle(&mut self) {
        let most = self.peak.max(KEEP);
        if self.pool.idle() <= most && self.peak == self.pool.in_use() || self.usable().is_err() {
            return;
        }
        if self.looked.elapsed() >= self.grace {
            self.looked = Instant::now();
            self.peak = self.pool.in_use();
            if self.pool.idle() > most {
                self.give_back(most / 2);
            }
        } else if self.pool.idle() > most * 2 {
            self.give_back(most);
        }
    }

    /// Gives back until at most `keep` bytes are idle: first whole segments, then the largest free extents.
    pub(super) fn give_back(&mut self, keep: u64) {
        for number in self.pool.empty_segments() {
            if self.pool.idle() <= keep || self.next_number > THRIFT {
                break;
            }
            if number != 0 {
                self.unlink(number);
            }
        }
        for (number, part) in self.pool.idle_pages() {
            if self.pool.idle() <= keep {
                break;
            }
            let Some(segment) = self.segments.get(&number) else { continue };
            if !self.backing.punch(segment, part) {
                break;
            }
            self.pool.punched(number, part);
        }
    }

    fn unlink(&mut self, number: u16) {
        self.backing.remove(number);
        crate::crash_point!("arena.unlinked");
        let reserved = self.pool.remove(number);
        self.backing.refund(reserved);
        self.segments.remove(&number);
    }
}
