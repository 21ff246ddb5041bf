//! Items that several consumers share: each is claimed by one of them, and acknowledged once.
//!
//! A cell of two words stands for one item at a time, the ring's sequence number. Any consumer may change it, by
//! compare-and-swap only.
//!
//! - `claim`: `{item:28 | attempt:12 | member:22 | state:2}` from the high bit down. The item's low bits and the attempt
//!   make every claim of a cell a word of its own, so whoever has lost his claim fails with it from then on.
//! - `lease`: `{tag:16 | end:48}`: when the claim of this tag runs out, in µs of CLOCK_MONOTONIC; 0: no claim has one.
//!
//! Rules.
//! 1. The producer [`open`](Cell::open)s a cell for item n before it commits sample n, and only once the cell's last item
//!    has been acknowledged. So who sees the head at n finds the cell open for n, or later.
//! 2. A consumer [`look`](Cell::look)s: an item is for the taking when it is free, or its claimer is dead, or its lease has
//!    run out. It [`take`](Cell::take)s it from the very word that it saw, and then writes the lease.
//! 3. It [`ack`](Cell::ack)nowledges with the word of its claim, or [`give_back`](Cell::give_back)s the item. Either fails
//!    when the claim is not the current one any more.
//! 4. Who has acknowledged an item fences, and then looks whether it was the last one of a stream that has ended: of two
//!    that acknowledge the last two, one sees both, and tells the others.
//!
//! Death: after a claim, before its lease is written, the claimer is dead, which its life byte says; one that merely stands
//! still there is given a lease by the next who looks. After an acknowledgement, before anybody was told: the producer and
//! the other consumers find it at their next look for the dead.

use crate::crash_point;
use crate::sync::{fence, AtomicU64, Ordering};

#[cfg(test)]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

/// Words of a cell.
pub const CELL_WORDS: usize = 2;

const ITEM_BITS: u32 = 28;
const ATTEMPT_BITS: u32 = 12;
const MEMBER_BITS: u32 = 22;
const STATE_BITS: u32 = 2;
const MEMBER_AT: u32 = STATE_BITS;
const ATTEMPT_AT: u32 = MEMBER_AT + MEMBER_BITS;
const ITEM_AT: u32 = ATTEMPT_AT + ATTEMPT_BITS;
const END_BITS: u32 = 48;

const FREE: u64 = 0;
const CLAIMED: u64 = 1;
const ACKED: u64 = 2;

const fn low(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// Whose a claim is: a number that the living can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Member(u32);

impl Member {
    /// A member by its number, of which 22 bits count.
    pub fn new(number: u32) -> Member {
        Member(number & low(MEMBER_BITS) as u32)
    }

    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// What a `claim` word says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim(u64);

impl Claim {
    fn new(item: u64, attempt: u64, member: Member, state: u64) -> Claim {
        let member = u64::from(member.0) << MEMBER_AT;
        Claim((item & low(ITEM_BITS)) << ITEM_AT | (attempt & low(ATTEMPT_BITS)) << ATTEMPT_AT | member | state)
    }

    /// As it stands in the cell.
    pub fn word(self) -> u64 {
        self.0
    }

    /// The claim of this word.
    pub fn from_word(word: u64) -> Claim {
        Claim(word)
    }

    fn state(self) -> u64 {
        self.0 & low(STATE_BITS)
    }

    fn attempt(self) -> u64 {
        self.0 >> ATTEMPT_AT & low(ATTEMPT_BITS)
    }

    fn is_of(self, item: u64) -> bool {
        self.0 >> ITEM_AT == item & low(ITEM_BITS)
    }

    /// Whose it is.
    pub fn member(self) -> Member {
        Member((self.0 >> MEMBER_AT & low(MEMBER_BITS)) as u32)
    }

    fn with_state(self, state: u64) -> Claim {
        Claim(self.0 & !low(STATE_BITS) | state)
    }

    /// What its lease is known by, among those of the same item: the attempt, and some bits of the item.
    fn tag(self) -> u64 {
        self.attempt() << 4 | self.0 >> ITEM_AT & 0xf
    }
}

/// The time, and how long a claim holds, in µs.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Of CLOCK_MONOTONIC.
    pub now: u64,
    /// From a claim on.
    pub lease: u64,
}

impl Clock {
    fn end(self) -> u64 {
        self.now.saturating_add(self.lease).min(low(END_BITS))
    }
}

/// What a look at an item found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// It is for the taking.
    Open(Claim),
    /// A living consumer has it until this time.
    Busy(u64),
    /// It was acknowledged.
    Done,
}

/// What the models weaken.
trait Strength {
    // ORDERING(claim.done): Release: what the consumer read of the sample comes before its memory is used again; meets
    // `is_done`.
    const DONE: Ordering = Ordering::Release;

    /// Whether claims are compared with what stands in the cell.
    const COMPARED: bool = true;

    // ORDERING(claim.last): the acknowledgement before the look at the other items and at the stream's end; meets the same
    // fence of whoever acknowledges another item, and that of the producer which ends the stream.
    #[inline(always)]
    fn acked() {
        fence(Ordering::SeqCst);
    }
}

struct Full;
impl Strength for Full {}

/// The cell of an item.
#[derive(Clone, Copy)]
pub struct Cell<'a> {
    claim: &'a AtomicU64,
    lease: &'a AtomicU64,
}

impl<'a> Cell<'a> {
    /// The cell of item `item` (from 1) among `words`; `None` where there are none.
    pub fn of(words: &'a [AtomicU64], item: u64) -> Option<Cell<'a>> {
        let count = (words.len() / CELL_WORDS) as u64;
        let at = (item.checked_sub(1)?.checked_rem(count)?) as usize * CELL_WORDS;
        Some(Cell { claim: words.get(at)?, lease: words.get(at + 1)? })
    }

    /// Makes the cell stand for `item`, which nobody has claimed. Only the producer does, before it commits the sample, which
    /// publishes this, and after the cell's last item is done.
    pub fn open(&self, item: u64) {
        // The last item's: of its time, and its tag may be one of this item's.
        self.lease.store(0, Ordering::Relaxed);
        self.claim.store(Claim::new(item, 0, Member(0), FREE).0, Ordering::Relaxed);
        crash_point!("claim.opened");
    }

    /// Whether `item`, which was sent, was acknowledged.
    pub fn is_done(&self, item: u64) -> bool {
        // ORDERING(claim.done): Acquire: the consumer's reads come before what the producer does with the memory.
        // ORDERING(claim.last): after the fence of an acknowledgement: so one of two sees both.
        let found = Claim(self.claim.load(Ordering::Acquire));
        // Another item is a later one: the cell is opened for it after this one was done.
        !found.is_of(item) || found.state() == ACKED
    }

    /// Looks at `item`, which was sent. `lives` says whether a member does.
    pub fn look(&self, item: u64, clock: Clock, lives: impl FnOnce(Member) -> bool) -> Seen {
        if self.is_done(item) {
            return Seen::Done;
        }
        let found = Claim(self.claim.load(Ordering::Acquire));
        match (found.is_of(item), found.state()) {
            (false, _) | (_, ACKED) => Seen::Done,
            (true, CLAIMED) if lives(found.member()) => match self.end_of(found, clock) {
                end if end <= clock.now => Seen::Open(found),
                end => Seen::Busy(end),
            },
            // A state that is none is as good as free.
            (true, _) => Seen::Open(found),
        }
    }

    /// When this claim runs out. One without a lease gets it here: its claimer may stand still.
    fn end_of(&self, claim: Claim, clock: Clock) -> u64 {
        let lease = self.lease.load(Ordering::Relaxed);
        if lease != 0 && lease >> END_BITS == claim.tag() {
            return lease & low(END_BITS);
        }
        // Where it fails, somebody else has just written one.
        let new = claim.tag() << END_BITS | clock.end();
        let _ = self.lease.compare_exchange(lease, new, Ordering::Relaxed, Ordering::Relaxed);
        clock.end()
    }

    /// Claims what [`look`](Self::look) found for the taking; `None`: somebody else was faster.
    pub fn take(&self, seen: Claim, item: u64, me: Member, clock: Clock) -> Option<Claim> {
        self.take_with::<Full>(seen, item, me, clock)
    }

    fn take_with<S: Strength>(&self, seen: Claim, item: u64, me: Member, clock: Clock) -> Option<Claim> {
        let claim = Claim::new(item, seen.attempt().wrapping_add(1), me, CLAIMED);
        let taken = self.swap::<S>(seen, claim, Ordering::Relaxed);
        crash_point!("claim.claimed");
        if taken {
            self.end_of(claim, clock);
        }
        taken.then_some(claim)
    }

    /// Acknowledges the item of this claim. True: it is done, by this claim; ask then whether it was the last one, for which
    /// the fence has been executed. False: the claim is not the current one any more.
    #[must_use = "the item may have been given to another consumer"]
    pub fn ack(&self, claim: Claim) -> bool {
        self.ack_with::<Full>(claim)
    }

    fn ack_with<S: Strength>(&self, claim: Claim) -> bool {
        let acked = self.swap::<S>(claim, claim.with_state(ACKED), S::DONE);
        crash_point!("claim.acked");
        S::acked();
        acked
    }

    /// Gives the item of this claim back, for anybody to take. False as for [`ack`](Self::ack).
    #[must_use = "the item may have been given to another consumer"]
    pub fn give_back(&self, claim: Claim) -> bool {
        self.swap::<Full>(claim, claim.with_state(FREE), Ordering::Relaxed)
    }

    fn swap<S: Strength>(&self, from: Claim, to: Claim, success: Ordering) -> bool {
        if !S::COMPARED {
            self.claim.store(to.0, success);
            return true;
        }
        self.claim.compare_exchange(from.0, to.0, success, Ordering::Relaxed).is_ok()
    }
}
