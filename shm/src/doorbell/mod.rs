//! One futex word per context, on which its threads sleep and which any peer may ring.
//!
//! The word: bit 0 is PARKED ("somebody sleeps here, or is about to"), bit 1 is RUNG ("a ring is under way"), the rest
//! counts rings.
//!
//! Rules.
//! 1. A thread that wants to sleep *arms*: it sets PARKED and clears RUNG, then fences, then looks for work (pending
//!    marks, guard conditions, the interrupt flag), and only then sleeps, and only while the word is still the armed value.
//! 2. Who has made work *rings*: it makes the work visible, then fences, then looks at the word. PARKED clear: nobody
//!    sleeps, no system call. PARKED set: it *announces* (counts the ring and sets RUNG), wakes all sleepers, and only
//!    then *settles*: it clears PARKED and RUNG if the word is still what it announced. Ringers that come in between
//!    announce and wake as well; later ones need not.
//! 3. Only threads of the owning process set PARKED; anybody may clear it, by a ring. A woken thread that goes back to
//!    sleep arms again. A thread that leaves clears PARKED only if no other thread of its process is parked, which the
//!    process counts ([`Parking`]); else the others would sleep through the next ring.
//!
//! Why no wake-up is lost: the fences of rules 1 and 2 are totally ordered. If the ringer's comes first, the waiter's
//! look finds the work. If the waiter's comes first, the ringer's look finds PARKED and moves the word, so the sleep
//! either does not begin (the word is not the armed value) or is woken. Settling cannot hit a thread that armed after
//! the announcement: arming cleared RUNG, and no later announcement has the same count.
//!
//! Arming changes the word at most once after each ring. Threads that arm side by side find the same value and do not
//! keep each other from sleeping, however long their looks for work take.
//!
//! Death: PARKED is cleared after the wake, never before, so a ringer that dies anywhere before its wake leaves the word
//! saying PARKED, and the next ringer wakes. (Its own work may then stay unseen until that: it had not returned from its
//! call.) One that dies after it, and a dead waiter, leave PARKED set, which costs later ringers a system call each.
//!
//! The count has 30 bits. A sleep could only be missed by a thread that is preempted between its look and its sleep for
//! exactly 2^30 rings, each of which needs another thread of its process to arm in between.

#[cfg(test)]
mod models;
mod parking;
#[cfg(test)]
mod tests;

use crate::crash_point;
use crate::futex;
use crate::sync::{fence, AtomicU32, Ordering};

pub use parking::{Parked, Parking};

/// Bit 0 of a doorbell word.
pub const PARKED: u32 = 1;

/// Bit 1: announced and not yet settled.
const RUNG: u32 = 2;

const ONE_RING: u32 = 4;

/// A doorbell word, wherever it lives. Zero is its initial state.
#[derive(Clone, Copy, Debug)]
pub struct Doorbell<'a>(pub &'a AtomicU32);

impl<'a> Doorbell<'a> {
    /// Says that this thread is about to sleep, and answers the value to sleep on. After it, look for work; then sleep
    /// with [`futex::wait`] on [`word`](Self::word); at the end [`disarm`](Self::disarm).
    ///
    /// For a process that parks one thread at a time; several threads go through [`Parking`].
    #[must_use = "the armed value is what futex::wait must expect"]
    pub fn arm(&self) -> u32 {
        self.arm_with(|| fence(Ordering::SeqCst))
    }

    /// Says that nobody sleeps here any more. Wrong while another thread of the process is armed: see [`Parking`].
    pub fn disarm(&self) {
        self.0.fetch_and(!PARKED, Ordering::Relaxed);
    }

    /// Wakes the threads parked here, if there are any, after the caller has made its work visible. Lock-free and
    /// async-signal-safe. Answers whether it woke someone.
    pub fn ring(&self) -> bool {
        self.ring_with(|| fence(Ordering::SeqCst))
    }

    /// [`ring`](Self::ring) for a caller that has executed `fence(SeqCst)` since its work became visible, so that one
    /// fence serves many doorbells.
    pub fn ring_after_fence(&self) -> bool {
        self.ring_with(|| ())
    }

    /// Whether somebody is parked, at this moment.
    pub fn is_parked(&self) -> bool {
        self.0.load(Ordering::Relaxed) & PARKED != 0
    }

    /// How often somebody was woken here, wrapping at 2^30.
    pub fn rings(&self) -> u32 {
        self.0.load(Ordering::Relaxed) / ONE_RING
    }

    /// The word to sleep on.
    pub fn word(&self) -> &'a AtomicU32 {
        self.0
    }

    pub(crate) fn arm_with(&self, fence: impl FnOnce()) -> u32 {
        let mut word = self.0.load(Ordering::Relaxed);
        let armed = loop {
            let armed = (word & !RUNG) | PARKED;
            match self.0.compare_exchange_weak(word, armed, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => break armed,
                Err(now) => word = now,
            }
        };
        // ORDERING(park.ring): PARKED before the look for work; meets the fence of ring(), which stands between the
        // ringer's work and its look at PARKED. Model: doorbell::models.
        fence();
        crash_point!("doorbell.armed");
        armed
    }

    fn ring_with(&self, fence: impl FnOnce()) -> bool {
        let Some(rung) = self.announce_with(fence) else { return false };
        crash_point!("doorbell.announced");
        futex::wake_all(self.0);
        self.settle(rung);
        true
    }

    /// The first half of a ring: answers the moved word if the caller must wake the sleepers.
    pub(crate) fn announce_with(&self, fence: impl FnOnce()) -> Option<u32> {
        // ORDERING(park.ring): the work before the look at PARKED; meets the fence of arm(). Model: doorbell::models.
        fence();
        let mut word = self.0.load(Ordering::Relaxed);
        while word & PARKED != 0 {
            let rung = word.wrapping_add(ONE_RING) | RUNG;
            match self.0.compare_exchange_weak(word, rung, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(rung),
                Err(now) => word = now,
            }
        }
        None
    }

    /// The second half, after the wake: nobody sleeps any more, unless somebody has moved the word since.
    pub(crate) fn settle(&self, rung: u32) {
        // A failure means that a thread has armed or left, or that another ringer has announced: then that one settles.
        let _ = self.0.compare_exchange(rung, rung & !(PARKED | RUNG), Ordering::Relaxed, Ordering::Relaxed);
    }
}
