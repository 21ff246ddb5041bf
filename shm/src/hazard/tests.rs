use super::*;

fn words(n: usize) -> Vec<AtomicU64> {
    (0..n).map(|_| AtomicU64::new(0)).collect()
}

#[test]
fn sixty_two_slots_and_no_more() {
    let words = words(64);
    let table = HazardTable::new(&words);
    let mut slots: Vec<_> = (0..62).map(|_| table.acquire().expect("a free word")).collect();
    assert!(table.acquire().is_none());
    drop(slots.swap_remove(17));
    assert!(table.acquire().is_some());
    drop(slots);
    assert_eq!(table.taken.load(Ordering::Relaxed), 1);
}

#[test]
fn a_short_table_gives_what_it_has() {
    for (len, usable) in [(0, 0), (1, 0), (2, 1), (5, 4)] {
        let words = words(len);
        let table = HazardTable::new(&words);
        let slots: Vec<_> = std::iter::from_fn(|| table.acquire()).collect();
        assert_eq!(slots.len(), usable);
    }
}

#[test]
fn an_announcement_is_found_until_it_is_dropped() {
    let words = words(64);
    let table = HazardTable::new(&words);
    let slots: Vec<_> = (0..10).map(|_| table.acquire().unwrap()).collect();
    for (n, slot) in slots.iter().enumerate() {
        let id = (1 << 48) + n as u64 + 1;
        let held = slot.announce(id).unwrap();
        assert!(scan(&words, id) && !scan(&words, id + 1));
        assert!(slot.announce(99).is_none(), "one at a time");
        drop(held);
        assert!(!scan(&words, id));
    }
}

#[test]
fn the_scan_is_as_short_as_the_table_was_ever_used() {
    let words = words(64);
    let table = HazardTable::new(&words);
    for _ in 0..5 {
        drop((table.acquire().unwrap(), table.acquire().unwrap()));
    }
    assert_eq!(words[0].load(Ordering::Relaxed), 2);
    words[3].store(77, Ordering::Relaxed);
    assert!(!scan(&words, 77), "beyond the high-water mark");
}

#[test]
fn a_slot_of_a_table_that_a_dead_context_left_is_usable() {
    let words = words(64);
    words[1].store(5, Ordering::Relaxed);
    let slot = HazardTable::new(&words).acquire().unwrap();
    assert!(!scan(&words, 5));
    assert!(slot.announce(6).is_some());
}

#[test]
fn hostile_tables_are_scanned_within_bounds() {
    for high in [0, 3, 64, u64::MAX] {
        let words = words(4);
        words[0].store(high, Ordering::Relaxed);
        words[3].store(9, Ordering::Relaxed);
        assert_eq!(scan(&words, 9), high >= 3);
    }
    assert!(!scan(&[], 9));
}

#[test]
fn loans_leave_words_to_reads() {
    let words = words(64);
    let table = HazardTable::new(&words);
    let loans: Vec<_> = std::iter::from_fn(|| table.acquire_for_loan()).collect();
    assert_eq!(loans.len(), 56);
    let reads: Vec<_> = std::iter::from_fn(|| table.acquire()).collect();
    assert_eq!(reads.len(), 6);
    drop(loans);
    assert!(table.acquire_for_loan().is_some(), "what is given back can be lent again");
    drop(reads);
    assert_eq!(table.taken.load(Ordering::Relaxed), 1);
}

#[test]
fn a_ticket_announces_until_it_is_ended() {
    let words = words(64);
    let table = HazardTable::new(&words);
    let slot = table.acquire_for_loan().unwrap();
    std::mem::forget(slot.announce(77).unwrap());
    let ticket = slot.into_ticket();
    assert!(scan(&words, 77));
    let other = table.acquire().unwrap();
    std::mem::forget(other.announce(78).unwrap());
    assert!(scan(&words, 77) && scan(&words, 78), "the word is not given to anybody else");
    table.end(ticket);
    assert!(!scan(&words, 77) && scan(&words, 78));
    drop(other);
    assert_eq!(table.taken.load(Ordering::Relaxed), 1);
}
