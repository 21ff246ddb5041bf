//! Giving memory back to the file system, with hysteresis.

use super::Arena;

/// Idle bytes that are never worth giving back.
const KEEP: u64 = 1 << 20;

/// From this segment number on, segments are punched but no longer unlinked, so that the numbers, which are never used
/// twice, cannot run out in a process that allocates and frees for years.
pub(super) const THRIFT: u32 = 1 << 15;

impl Arena {
    /// Gives back when more is idle than is in use (and than [`KEEP`]), down to half of that: so a load that comes and
    /// goes does not make a system call each time.
    pub(super) fn give_back_with_hysteresis(&mut self) {
        let most = self.pool.in_use().max(KEEP);
        let idle = self.pool.idle();
        if idle <= most {
            self.patience = 0;
        } else if idle > self.patience {
            self.give_back(most / 2);
            // Fragments smaller than a page cannot be given back: look again only when much more has come.
            let left = self.pool.idle();
            self.patience = if left > most { left + KEEP } else { 0 };
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
