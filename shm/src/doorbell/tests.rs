use super::{Doorbell, Parking, PARKED};
use crate::futex::{Deadline, WaitEnd};
use crate::sync::{AtomicU32, Ordering};
use crate::testing::watched;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn ringing_where_nobody_is_parked_changes_nothing() {
    let word = AtomicU32::new(6);
    assert!(!Doorbell(&word).ring());
    assert_eq!(word.load(Ordering::Relaxed), 6);
}

#[test]
fn a_ring_clears_parked_and_moves_the_word() {
    let word = AtomicU32::new(0);
    let bell = Doorbell(&word);
    let armed = bell.arm();
    assert_eq!(armed, PARKED);
    assert!(bell.ring());
    assert!(!bell.ring(), "the second ring finds nobody");
    assert_eq!(word.load(Ordering::Relaxed), 2);
    assert_eq!(crate::futex::wait(&word, armed, None), WaitEnd::Changed);
}

#[test]
fn the_count_of_rings_wraps_without_touching_parked() {
    let word = AtomicU32::new(u32::MAX);
    assert!(Doorbell(&word).ring());
    assert_eq!(word.load(Ordering::Relaxed), 0);
}

#[test]
fn only_the_last_thread_to_leave_clears_parked() {
    let word = AtomicU32::new(0);
    let (bell, parking) = (Doorbell(&word), Parking::new());
    let first = parking.park(bell);
    let second = parking.park(bell);
    drop(first);
    assert!(bell.is_parked());
    drop(second);
    assert!(!bell.is_parked());
    assert_eq!(parking.threads(), 0);
}

#[test]
fn every_parked_thread_wakes_and_sees_the_work() {
    watched(|| {
        let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0), Parking::new()));
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let shared = shared.clone();
                std::thread::spawn(move || {
                    let (word, work, parking) = &*shared;
                    let mut parked = parking.park(Doorbell(word));
                    while work.load(Ordering::Relaxed) < 1000 {
                        let end = parked.sleep(Some(Deadline::after(Duration::from_secs(20))));
                        assert_ne!(end, WaitEnd::TimedOut, "a wake-up was lost");
                        parked.rearm();
                    }
                })
            })
            .collect();
        for _ in 0..1000 {
            shared.1.fetch_add(1, Ordering::Relaxed);
            Doorbell(&shared.0).ring();
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(!Doorbell(&shared.0).is_parked());
    });
}

#[test]
fn ring_always_wakes_a_sleeper_whose_parked_bit_a_dying_ringer_cleared() {
    watched(|| {
        let shared = Arc::new((AtomicU32::new(0), Parking::new()));
        let sleeper = {
            let shared = shared.clone();
            std::thread::spawn(move || {
                let parked = shared.1.park(Doorbell(&shared.0));
                while shared.0.load(Ordering::Relaxed) < 4 {
                    assert_ne!(parked.sleep(Some(Deadline::after(Duration::from_secs(20)))), WaitEnd::TimedOut);
                }
            })
        };
        while !Doorbell(&shared.0).is_parked() {
            std::thread::yield_now();
        }
        // The dying ringer: its compare-and-swap without its system call.
        assert!(Doorbell(&shared.0).ring_word_with(|| ()));
        Doorbell(&shared.0).ring_always();
        sleeper.join().unwrap();
    });
}
