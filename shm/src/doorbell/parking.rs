//! The threads of one process that are parked on one doorbell.

use super::Doorbell;
use crate::futex::{self, Deadline, WaitEnd};
use crate::sync::{fence, AtomicU32, Mutex, Ordering};

/// Counts the parked threads of this process, one per doorbell the process owns. The count and the change of PARKED
/// that goes with it are one step under its lock. Ringers never take it.
#[derive(Debug)]
pub struct Parking {
    threads: Mutex<u32>,
}

impl Parking {
    /// Nobody is parked.
    pub fn new() -> Parking {
        Parking { threads: Mutex::new(0) }
    }

    /// Parks the calling thread: arms the doorbell. Look for work after it, then [`Parked::sleep`].
    pub fn park<'a>(&'a self, bell: Doorbell<'a>) -> Parked<'a> {
        self.park_with(bell, || fence(Ordering::SeqCst))
    }

    pub(crate) fn park_with<'a>(&'a self, bell: Doorbell<'a>, fence: impl FnOnce()) -> Parked<'a> {
        let mut threads = self.threads.lock();
        *threads += 1;
        let armed = bell.arm_with(fence);
        drop(threads);
        Parked { parking: self, bell, armed }
    }

    /// How many threads are parked.
    pub fn threads(&self) -> u32 {
        *self.threads.lock()
    }
}

impl Default for Parking {
    fn default() -> Parking {
        Parking::new()
    }
}

/// A parked thread; unparks on drop.
#[must_use = "dropping it unparks the thread"]
#[derive(Debug)]
pub struct Parked<'a> {
    parking: &'a Parking,
    bell: Doorbell<'a>,
    armed: u32,
}

impl Parked<'_> {
    /// The value the word must have for the thread to sleep.
    pub fn armed(&self) -> u32 {
        self.armed
    }

    /// The word and the value, for [`futex::wait_any`].
    pub fn word(&self) -> (&AtomicU32, u32) {
        (self.bell.word(), self.armed)
    }

    /// Sleeps until rung, the deadline or a signal. Before another look for work, [`rearm`](Self::rearm).
    pub fn sleep(&self, deadline: Option<Deadline>) -> WaitEnd {
        futex::wait(self.bell.word(), self.armed, deadline)
    }

    /// Arms again after a sleep: a ring has cleared PARKED.
    pub fn rearm(&mut self) {
        self.armed = self.bell.arm();
    }
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        let mut threads = self.parking.threads.lock();
        *threads -= 1;
        if *threads == 0 {
            self.bell.disarm();
        }
    }
}
