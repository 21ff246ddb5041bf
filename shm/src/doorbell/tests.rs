use super::{Doorbell, Parking, ONE_RING, PARKED, RUNG};
use crate::futex::{Deadline, WaitEnd};
use crate::sync::{AtomicU32, Ordering};
use crate::testing::watched;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn ringing_where_nobody_is_parked_changes_nothing() {
    let word = AtomicU32::new(8);
    assert!(!Doorbell(&word).ring());
    assert_eq!(word.load(Ordering::Relaxed), 8);
}

#[test]
fn a_ring_clears_parked_and_moves_the_word() {
    let word = AtomicU32::new(0);
    let bell = Doorbell(&word);
    let armed = bell.arm();
    assert_eq!(armed, PARKED);
    assert!(bell.ring());
    assert!(!bell.ring(), "the second ring finds nobody");
    assert_eq!(word.load(Ordering::Relaxed), ONE_RING);
    assert_eq!(crate::futex::wait(&word, armed, None), WaitEnd::Changed);
}

#[test]
fn the_count_of_rings_wraps_without_touching_parked() {
    let word = AtomicU32::new(!RUNG);
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
fn threads_that_arm_side_by_side_do_not_keep_each_other_awake() {
    let word = AtomicU32::new(0);
    let bell = Doorbell(&word);
    let first = bell.arm();
    assert_eq!(bell.arm(), first);
    let rung = bell.announce_with(|| ()).unwrap();
    let again = bell.arm();
    assert_ne!(again, rung, "settling must fail now");
    assert_eq!(bell.arm(), again);
    bell.settle(rung);
    assert_eq!(word.load(Ordering::Relaxed), again);
}

/// Parks a thread that sleeps until the word is another, and rings it in a way that must wake it.
fn wakes(ring: impl FnOnce(Doorbell<'_>)) {
    let shared = Arc::new((AtomicU32::new(0), Parking::new()));
    let sleeper = {
        let shared = shared.clone();
        std::thread::spawn(move || {
            let parked = shared.1.park(Doorbell(&shared.0));
            while shared.0.load(Ordering::Relaxed) < 2 * ONE_RING {
                assert_ne!(parked.sleep(Some(Deadline::after(Duration::from_secs(20)))), WaitEnd::TimedOut);
            }
        })
    };
    while !Doorbell(&shared.0).is_parked() {
        std::thread::yield_now();
    }
    ring(Doorbell(&shared.0));
    sleeper.join().unwrap();
}

#[test]
fn a_sleeper_is_woken_by_the_ringer_after_one_that_died() {
    watched(|| {
        wakes(|bell| {
            // The dying ringer: its announcement without its wake.
            assert!(bell.announce_with(|| ()).is_some());
            assert!(bell.ring());
        });
    });
}
