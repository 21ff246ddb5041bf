//! Reliable KEEP_ALL loses nothing and bounds its memory; lifespans end.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::*;
use shoal_rmw::{wait, Durability, ErrorKind, History, Qos, Reliability, Waitable};

fn keep_all() -> Qos {
    Qos { history: History::KeepAll, ..Qos::default() }
}

/// Four of these may be in flight.
fn large() -> Bytes {
    Bytes(vec![5; 64 << 20])
}

#[test]
fn a_fast_writer_waits_for_its_reader_and_nothing_is_lost() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let reader = subscription(&node(&b, "r"), "/t", keep_all());
    let publishers: Vec<_> = (0..2).map(|_| publisher(&node(&a, "p"), "/t", keep_all())).collect();
    const COUNT: u32 = 150_000;
    std::thread::scope(|scope| {
        for (index, publisher) in publishers.iter().enumerate() {
            scope.spawn(move || {
                for number in 0..COUNT {
                    let body = [&(index as u32).to_le_bytes()[..], &number.to_le_bytes()].concat();
                    while let Err(error) = publisher.publish(&Bytes(body.clone())) {
                        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
                    }
                }
            });
        }
        let mut next = [0u32; 2];
        while next != [COUNT; 2] {
            let _ = wait(&b, &[Waitable::Subscription(&reader)], &mut [false], Some(Duration::from_secs(20)));
            let (body, _) = take(&reader).unwrap_or_else(|| panic!("lost after {next:?}"));
            let word = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().expect("4 bytes"));
            let index = word(0) as usize;
            assert_eq!(word(4), next[index], "publisher {index}");
            next[index] += 1;
        }
    });
}

#[test]
fn a_reader_that_stands_still_makes_the_writer_fail_in_time_and_then_go_on() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let reader = subscription(&node(&b, "r"), "/t", keep_all());
    let publisher = publisher(&node(&a, "p"), "/t", keep_all());
    (0..4).for_each(|_| assert!(publisher.publish(&large()).is_ok(), "there is room"));
    let start = Instant::now();
    let full = publisher.publish(&large()).expect_err("no room");
    assert_eq!(full.kind(), ErrorKind::Timeout, "{full}");
    assert!(start.elapsed() >= Duration::from_millis(100));
    assert!((0..4).all(|_| take(&reader).is_some()), "nothing was overwritten");
    assert!(take(&reader).is_none());
    publisher.publish(&large()).expect("there is room again");
}

#[test]
fn a_reader_that_is_gone_or_wants_less_holds_nobody() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", keep_all());
    let r = node(&b, "r");
    let _keep_last = subscription(&r, "/t", depth(1));
    let _best_effort = subscription(&r, "/t", Qos { reliability: Reliability::BestEffort, ..keep_all() });
    let lossless = subscription(&r, "/t", keep_all());
    drop(lossless);
    (0..6).for_each(|_| assert!(publisher.publish(&large()).is_ok(), "nobody holds the writer"));
}

#[test]
fn every_publisher_that_closed_is_read_whatever_depth_the_profile_names() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let reader = subscription(&node(&b, "r"), "/t", Qos { depth: 2, ..keep_all() });
    let p = node(&a, "p");
    for number in 0..20 {
        send(&publisher(&p, "/t", keep_all()), [number]);
    }
    assert_eq!(take_all(&reader), (0..20).map(|number| vec![number]).collect::<Vec<_>>());
}

#[test]
fn a_blocked_writer_is_freed_by_the_reader() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let reader = subscription(&node(&b, "r"), "/t", keep_all());
    let publisher = publisher(&node(&a, "p"), "/t", keep_all());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..40 {
                while publisher.publish(&Bytes(vec![1; 32 << 20])).is_err() {}
            }
            done.store(true, Ordering::Release);
        });
        let mut got = 0;
        while got < 40 {
            got += usize::from(take(&reader).is_some());
        }
    });
    assert!(done.load(Ordering::Acquire));
}

#[test]
fn samples_older_than_their_lifespan_are_not_delivered() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let lifespan = 300_000_000;
    let offered = Qos { durability: Durability::TransientLocal, lifespan, ..Qos::default() };
    let publisher = publisher(&node(&a, "p"), "/t", offered);
    let reader = subscription(&node(&b, "r"), "/t", Qos::default());
    send(&publisher, [1]);
    assert!(reader.has_data());
    std::thread::sleep(Duration::from_nanos(lifespan as u64 + 1_000_000));
    assert!(!reader.has_data());
    let late = subscription(&node(&b, "late"), "/t", latched(10));
    assert_eq!(take_all(&late), Vec::<Vec<u8>>::new());
    send(&publisher, [2]);
    assert_eq!((take_all(&reader), take_all(&late)), (vec![vec![2]], vec![vec![2]]));
}
