//! Claims one after the other.

use super::{Cell, Claim, Clock, Member, Seen, CELL_WORDS};
use crate::sync::AtomicU64;

const ITEMS: u64 = 16;

struct Table(Vec<AtomicU64>);

impl Table {
    fn new() -> Self {
        Self((0..ITEMS as usize * CELL_WORDS).map(|_| AtomicU64::new(0)).collect())
    }

    fn cell(&self, item: u64) -> Cell<'_> {
        Cell::of(&self.0, item).expect("a cell")
    }

    fn look(&self, item: u64, now: u64) -> Seen {
        self.cell(item).look(item, at(now), |_| true)
    }

    fn claim(&self, item: u64, me: u32, now: u64) -> Claim {
        let Seen::Open(seen) = self.look(item, now) else { panic!("{item} is not for the taking") };
        self.cell(item).take(seen, item, Member::new(me), at(now)).expect("nobody else is there")
    }
}

fn at(now: u64) -> Clock {
    Clock { now, lease: 10 }
}

#[test]
fn a_claim_holds_for_its_lease_whatever_the_cell_held_before() {
    let table = Table::new();
    // In the same cell, with equal low bits.
    for (round, item) in (1..=20 * ITEMS).step_by(ITEMS as usize).enumerate() {
        let now = round as u64 * 1000;
        table.cell(item).open(item);
        let claim = table.claim(item, 1, now);
        assert_eq!(table.look(item, now + 9), Seen::Busy(now + 10), "round {round}");
        assert!(table.cell(item).ack(claim));
        assert_eq!(table.look(item, now + 9), Seen::Done);
        assert!(!table.cell(item).ack(claim) && !table.cell(item).give_back(claim));
    }
}

#[test]
fn a_claim_that_ran_out_may_still_be_acknowledged_until_somebody_else_claims() {
    let table = Table::new();
    (1..=2).for_each(|item| table.cell(item).open(item));
    let late = table.claim(1, 1, 0);
    assert!(matches!(table.look(1, 10), Seen::Open(_)));
    assert!(table.cell(1).ack(late));
    let lost = table.claim(2, 1, 0);
    let next = table.claim(2, 2, 10);
    assert!(!table.cell(2).ack(lost) && !table.cell(2).give_back(lost));
    assert_eq!(next.member(), Member::new(2));
    assert!(table.cell(2).give_back(next));
    let again = table.claim(2, 1, 10);
    assert!(again != lost && table.cell(2).ack(again));
}

#[test]
fn the_claim_of_the_dead_is_for_the_taking_and_one_without_a_lease_gets_one() {
    let table = Table::new();
    table.cell(1).open(1);
    let claim = table.claim(1, 7, 0);
    assert!(matches!(table.cell(1).look(1, at(1), |who| who != Member::new(7)), Seen::Open(_)));
    // It stood still before it wrote its lease.
    table.cell(1).lease.store(0, crate::sync::Ordering::Relaxed);
    assert_eq!(table.look(1, 50), Seen::Busy(60));
    assert_eq!(table.look(1, 55), Seen::Busy(60));
    assert!(table.cell(1).ack(claim));
}

proptest::proptest! {
    #[test]
    fn words_of_a_hostile_peer_are_some_answer(words: [u64; 2], item in 1..u64::MAX, now: u64) {
        let table = words.map(AtomicU64::new);
        let cell = Cell::of(&table, item).expect("a cell");
        let clock = Clock { now, lease: u64::MAX };
        if let Seen::Open(seen) = cell.look(item, clock, |_| false) {
            let claim = cell.take(seen, item, Member::new(u32::MAX), clock).expect("nobody else is there");
            proptest::prop_assert!(cell.ack(claim) && cell.is_done(item));
        }
        proptest::prop_assert!(Cell::of(&table, 0).is_none() && Cell::of(&[], 1).is_none());
    }
}
