//! The interrupt flag of the process, and the words on which its threads sleep.
//!
//! Rules.
//! 1. The state word: bit 0 says "interrupted", the rest counts interruptions, so that whoever wants to can be told of
//!    each once. It is raised by anyone, also in a signal handler, and lowered by [`Bells::resume`].
//! 2. A doorbell is *enlisted* before any thread parks there: its ticket (what finds the word) is put into a free slot.
//! 3. Who interrupts raises the flag, fences, and visits every slot that holds a ticket; a waiter parks (which fences)
//!    and then looks at the flag. So the waiter sees the flag, or the visitor sees the ticket and rings, and the
//!    doorbell's own rules do the rest.
//! 4. A visit pins its slot, fences, and only then reads the ticket. Who takes a ticket out clears it, fences, and waits
//!    until nobody pins the slot: from then on nobody touches the word, which may be unmapped.
//! 5. A visit is short and never waits, so it may stand in a signal handler of the very thread that waits in rule 4: it
//!    is over before that thread goes on.
//!
//! A forked child has none of its parent's waiters: it starts with an empty table and a lowered flag.

use std::sync::OnceLock;

use crate::doorbell::Doorbell;
use crate::lock::fork_generation;
use crate::sync::{fence, AtomicU32, AtomicU64, Ordering};

/// Doorbells that one process may have: one for each context, which has at least one of its 1,024 lock files.
const MOST: usize = 1024;

const RAISED: u64 = 1;
const ONE: u64 = 2;

/// The process's interrupt flag, as of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interruption {
    /// Whether it is raised.
    pub raised: bool,
    /// How often the process has been interrupted.
    pub count: u64,
}

#[derive(Debug)]
struct Slot {
    /// 0 for none.
    ticket: AtomicU64,
    /// Visits under way.
    pins: AtomicU32,
}

/// The flag and the table. There is one per process; models make their own.
#[derive(Debug)]
pub struct Bells {
    state: AtomicU64,
    slots: Box<[Slot]>,
}

impl Bells {
    /// A lowered flag and `n` empty slots.
    pub(crate) fn new(n: usize) -> Bells {
        let slot = |_| Slot { ticket: AtomicU64::new(0), pins: AtomicU32::new(0) };
        Bells { state: AtomicU64::new(0), slots: (0..n).map(slot).collect() }
    }

    /// Puts a ticket, which is not 0, into a free slot, and answers which. `None`: all are taken.
    pub(crate) fn enter(&self, ticket: u64) -> Option<usize> {
        let enter = |slot: &Slot| slot.ticket.compare_exchange(0, ticket, Ordering::Release, Ordering::Relaxed).is_ok();
        // ORDERING(interrupt.enlist): the ticket before the fence of the park that follows; meets `interrupt_with`.
        self.slots.iter().position(enter)
    }

    /// Takes a ticket out; when this returns nobody visits it.
    pub(crate) fn leave(&self, slot: usize) {
        self.leave_with(slot, seq_cst);
    }

    pub(crate) fn leave_with(&self, slot: usize, fence: impl FnOnce()) {
        let Some(slot) = self.slots.get(slot) else { return };
        slot.ticket.store(0, Ordering::Relaxed);
        // ORDERING(interrupt.visit): the ticket is gone before the look at the pins; meets the fence in `visit`.
        fence();
        // ORDERING(interrupt.visit): Acquire: a visitor's last touch of the word comes before what follows.
        while slot.pins.load(Ordering::Acquire) != 0 {
            crate::sync::thread::yield_now();
        }
    }

    /// Raises the flag and shows every ticket to `ring`. Lock-free; async-signal-safe if `ring` is.
    pub(crate) fn interrupt(&self, ring: impl FnMut(u64)) {
        self.interrupt_with(seq_cst, seq_cst, ring);
    }

    pub(crate) fn interrupt_with(&self, fence: impl FnOnce(), pin_fence: impl Fn(), mut ring: impl FnMut(u64)) {
        let mut state = self.state.load(Ordering::Relaxed);
        while let Err(now) = self.state.compare_exchange_weak(
            state,
            state.wrapping_add(ONE) | RAISED,
            Ordering::Release,
            Ordering::Relaxed,
        ) {
            state = now;
        }
        // ORDERING(interrupt.enlist): the flag before the look at tickets and at PARKED; meets the fence of the park.
        // ORDERING(park.ring): the flag is the work.
        fence();
        for slot in self.slots.iter().filter(|slot| slot.ticket.load(Ordering::Relaxed) != 0) {
            visit(slot, &pin_fence, &mut ring);
        }
    }

    /// Lowers the flag: waits wait again.
    pub(crate) fn resume(&self) {
        self.state.fetch_and(!RAISED, Ordering::Relaxed);
    }

    /// The flag now. After a park it is as new as the park's fence.
    pub(crate) fn interruption(&self) -> Interruption {
        let state = self.state.load(Ordering::Acquire);
        Interruption { raised: state & RAISED != 0, count: state / ONE }
    }

    fn start_anew(&self) {
        self.resume();
        for slot in &self.slots {
            slot.ticket.store(0, Ordering::Relaxed);
            slot.pins.store(0, Ordering::Relaxed);
        }
    }
}

fn visit(slot: &Slot, fence: &impl Fn(), ring: &mut impl FnMut(u64)) {
    slot.pins.fetch_add(1, Ordering::Relaxed);
    // ORDERING(interrupt.visit): pinned before the look at the ticket; meets the fence in `leave_with`.
    fence();
    // Acquire: the word was made before its ticket.
    let ticket = slot.ticket.load(Ordering::Acquire);
    if ticket != 0 {
        ring(ticket);
    }
    // ORDERING(interrupt.visit): Release: our touch of the word comes before its end; meets `leave_with`.
    slot.pins.fetch_sub(1, Ordering::Release);
}

fn seq_cst() {
    fence(Ordering::SeqCst);
}

static PROCESS: OnceLock<Bells> = OnceLock::new();

/// The process's table. Made by the first doorbell or guard; a signal handler finds it made.
pub(super) fn process() -> &'static Bells {
    PROCESS.get_or_init(|| {
        // SAFETY: a handler of the right type that lives as long as the code does.
        let failed = unsafe { libc::pthread_atfork(None, None, Some(start_child)) };
        // ENOMEM at most. Without it a forked child would ring its parent's waiters.
        assert!(failed == 0, "pthread_atfork failed with {failed}");
        Bells::new(MOST)
    })
}

extern "C" fn start_child() {
    if let Some(bells) = PROCESS.get() {
        bells.start_anew();
    }
}

/// The process's interrupt flag.
pub fn interruption() -> Interruption {
    process().interruption()
}

/// Raises the process's flag and wakes its parked threads. Async-signal-safe once [`process`] was called.
pub(super) fn interrupt_process() {
    process().interrupt(|ticket| {
        let word = std::ptr::with_exposed_provenance::<AtomicU32>(ticket as usize);
        // SAFETY: a ticket of this table is the address of a doorbell word that stays mapped while its slot is pinned
        // (`enlist`), and `interrupt` shows tickets of pinned slots only.
        Doorbell(unsafe { &*word }).ring_after_fence();
    });
}

/// A doorbell's place in the process's table.
#[derive(Debug)]
#[must_use = "dropping it takes the doorbell out"]
pub struct Enlisted {
    slot: Option<usize>,
    fork: u32,
}

/// Has interruptions ring this doorbell until the returned value is dropped. Before the first thread parks there.
///
/// # Safety
/// The word stays mapped until the returned value has been dropped.
pub unsafe fn enlist(bell: Doorbell<'_>) -> Enlisted {
    let ticket = std::ptr::from_ref(bell.word()).expose_provenance() as u64;
    Enlisted { slot: process().enter(ticket), fork: fork_generation() }
}

impl Drop for Enlisted {
    fn drop(&mut self) {
        // In a forked child the table is a new one, and the slot may be somebody else's.
        if self.fork == fork_generation() {
            self.slot.into_iter().for_each(|slot| process().leave(slot));
        }
    }
}
