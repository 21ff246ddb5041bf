//! Filtered subscriptions: what is taken, what a wait says, and what KEEP_LAST counts.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::*;
use shoal_rmw::filter::SampleFilter;
use shoal_rmw::{
    wait, Callback, Context, ErrorKind, History, Incoming, Node, Outcome, Publisher, Qos, Reliability, Subscription,
    SubscriptionOptions, Waitable,
};

/// Passes bodies whose first byte is a multiple of a number, and counts how often it was asked.
#[derive(Debug)]
struct Multiples {
    of: u8,
    asked: AtomicUsize,
}

impl Multiples {
    fn of(of: u8) -> Arc<Multiples> {
        Arc::new(Multiples { of, asked: AtomicUsize::new(0) })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

impl SampleFilter for Multiples {
    fn accepts(&self, sample: Incoming) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        bytes(sample)[0] % self.of == 0
    }
}

fn filtered(node: &Arc<Node>, qos: Qos, filter: &Arc<Multiples>) -> Arc<Subscription> {
    let options = SubscriptionOptions { filter: Some(filter.clone()), ..SubscriptionOptions::default() };
    Subscription::new(node, "/t", bytes_type(), qos, options).expect("a subscription")
}

fn is_ready(context: &Arc<Context>, subscription: &Subscription, timeout: Duration) -> bool {
    let mut ready = [false];
    let outcome = wait(context, &[Waitable::Subscription(subscription)], &mut ready, Some(timeout)).expect("waits");
    assert_eq!(outcome == Outcome::Ready, ready[0]);
    ready[0]
}

#[test]
fn only_what_passes_is_ready_and_taken_and_each_sample_is_asked_once() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let filter = Multiples::of(3);
    let (publisher, reader) =
        (publisher(&node(&a, "p"), "/t", depth(20)), filtered(&node(&b, "r"), depth(20), &filter));
    for number in [1, 2] {
        send(&publisher, [number]);
        assert!(!is_ready(&b, &reader, Duration::ZERO), "{number}");
        assert!(take(&reader).is_none());
    }
    (3..8).for_each(|number| {
        send(&publisher, [number]);
    });
    assert!(is_ready(&b, &reader, Duration::ZERO));
    assert!(reader.has_data());
    let (body, info) = take(&reader).expect("a sample");
    assert_eq!((body, info.publication_sequence, info.reception_sequence), (vec![3], 3, 1));
    assert!(is_ready(&b, &reader, Duration::ZERO));
    assert_eq!(take_all(&reader), [[6]]);
    assert!(!is_ready(&b, &reader, Duration::from_millis(20)));
    assert_eq!(filter.asked(), 7);
}

#[test]
fn a_waiting_reader_sleeps_through_what_does_not_pass_and_wakes_for_what_does() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let reader = filtered(&node(&b, "r"), depth(5), &Multiples::of(10));
    let sender = std::thread::spawn(move || {
        let publisher = publisher(&node(&a, "p"), "/t", depth(5));
        (1..=10).for_each(|number| {
            send(&publisher, [number]);
            std::thread::yield_now();
        });
        publisher
    });
    assert!(is_ready(&b, &reader, Duration::from_secs(30)));
    assert_eq!(take_all(&reader), [[10]]);
    drop(sender.join());
    assert!(!reader.has_data());
}

#[test]
fn a_flood_that_does_not_pass_neither_ends_a_wait_nor_makes_it_late() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let reader = filtered(&node(&b, "r"), depth(1000), &Multiples::of(2));
    let running = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let senders: Vec<_> = (0..2)
        .map(|_| {
            let (node, running) = (node(&a, "p"), running.clone());
            std::thread::spawn(move || {
                let publisher = publisher(&node, "/t", depth(1000));
                while running.load(Ordering::Relaxed) {
                    send(&publisher, [1]);
                }
                send(&publisher, [2]);
                publisher
            })
        })
        .collect();
    let start = Instant::now();
    let ready = is_ready(&b, &reader, Duration::from_millis(300));
    let lasted = start.elapsed();
    running.store(false, Ordering::Relaxed);
    assert!(!ready);
    assert!(lasted < Duration::from_secs(10), "{lasted:?}");
    assert!(is_ready(&b, &reader, Duration::from_secs(30)), "what passes after the flood is found");
    let publishers: Vec<_> = senders.into_iter().map(|sender| sender.join().expect("no panic")).collect();
    assert_eq!(take_all(&reader), [[2], [2]]);
    drop(publishers);
}

/// Sends the next sample while it is asked about one, as a publisher that is always a little faster; passes the last.
struct Chain {
    publisher: Arc<Publisher>,
    length: u8,
}

impl std::fmt::Debug for Chain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a chain of {}", self.length)
    }
}

impl SampleFilter for Chain {
    fn accepts(&self, sample: Incoming) -> bool {
        let number = bytes(sample)[0];
        if number < self.length {
            send(&self.publisher, [number + 1]);
        }
        number == self.length
    }
}

#[test]
fn a_wait_does_not_sleep_on_what_came_while_it_looked() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(5));
    let reader = subscription(&node(&b, "r"), "/t", depth(5));
    for length in 1..20 {
        reader.set_filter(Some(Arc::new(Chain { publisher: publisher.clone(), length })));
        send(&publisher, [0]);
        assert!(!reader.has_data(), "one look sees what was there when it began");
        assert!(length == 1 || !reader.has_data());
        assert!(is_ready(&b, &reader, Duration::from_secs(30)), "{length}");
        assert_eq!(take_all(&reader), [[length]]);
    }
}

#[test]
fn a_sample_that_waits_is_not_acknowledged() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let all = Qos { history: History::KeepAll, reliability: Reliability::Reliable, ..Qos::default() };
    let publisher = publisher(&node(&a, "p"), "/t", all);
    let reader = filtered(&node(&b, "r"), all, &Multiples::of(2));
    send(&publisher, [2]);
    let refused = (0..70_000_u32).find_map(|number| {
        assert!(number % 1000 != 0 || reader.has_data(), "the first one passes, the others are looked at and do not");
        publisher.publish(&Bytes(vec![1])).err()
    });
    let refused = refused.expect("the sample that waits holds the publisher back");
    assert_eq!(refused.kind(), ErrorKind::Timeout, "{refused}");
    assert_eq!(take_all(&reader), [[2]]);
    send(&publisher, [4]);
    assert_eq!(take_all(&reader), [[4]]);
}

#[test]
fn keep_last_counts_what_passes() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let filter = Multiples::of(10);
    let node_b = node(&b, "r");
    let (publisher, reader) = (publisher(&node(&a, "p"), "/t", latched(30)), filtered(&node_b, depth(1), &filter));
    (1..25).for_each(|number| {
        send(&publisher, [number]);
    });
    assert_eq!(take_all(&reader), [[20]], "live");
    let late = filtered(&node_b, latched(1), &filter);
    assert_eq!(take_all(&late), [[20]], "history");
    assert!(!late.has_data());
    let deeper = filtered(&node_b, latched(2), &filter);
    assert_eq!(take_all(&deeper), [[10], [20]], "history, of several");
}

#[test]
fn several_publishers_come_in_the_order_of_their_source_times() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let node = node(&a, "p");
    let publishers = [publisher(&node, "/t", depth(50)), publisher(&node, "/t", depth(50))];
    let reader = filtered(&self::node(&b, "r"), depth(4), &Multiples::of(2));
    (0..20).for_each(|number| {
        send(&publishers[usize::from(number / 3 % 2)], [number]);
    });
    assert_eq!(take_all(&reader), [[12], [14], [16], [18]]);
}

#[test]
fn a_filter_changed_at_run_time_decides_about_what_was_not_taken() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(50));
    let reader = subscription(&node(&b, "r"), "/t", depth(50));
    let publish = |numbers: std::ops::Range<u8>| {
        numbers.for_each(|number| {
            send(&publisher, [number]);
        });
    };
    publish(1..7);
    reader.set_filter(Some(Multiples::of(2)));
    assert_eq!(take(&reader).expect("one").0, [2], "published before the filter, not taken");
    reader.set_filter(Some(Multiples::of(3)));
    assert_eq!(take_all(&reader), [[6]], "4 and 6 had passed the first filter");
    publish(7..10);
    assert!(reader.has_data(), "9 passes");
    reader.set_filter(Some(Multiples::of(4)));
    assert!(!reader.has_data(), "9 does not pass the new filter, 8 is gone");
    publish(10..13);
    assert!(reader.has_data());
    reader.set_filter(None);
    publish(13..15);
    assert_eq!(take_all(&reader), [[12], [13], [14]], "no filter: the rest of the old one, then everything");
    publish(15..17);
    assert_eq!(take_all(&reader), [[15], [16]]);
}

#[test]
fn a_sample_that_passed_is_kept_after_its_publisher_went() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(5));
    let reader = filtered(&node(&b, "r"), depth(5), &Multiples::of(2));
    let large = [&[4_u8][..], &[7; 100_000]].concat();
    send(&publisher, large.clone());
    send(&publisher, [5]);
    assert!(reader.has_data());
    drop(publisher);
    a.shutdown().expect("shuts down");
    assert!(reader.has_data());
    assert_eq!(take_all(&reader), [large]);
    assert!(!reader.has_data());
}

/// Reliable on both sides: what passes is all there, in order, however far the reader is behind.
#[test]
fn lossless_readers_get_all_that_passes_of_several_writers() {
    // More than may be in flight.
    const SENT: u32 = 150_000;
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let all = Qos { history: History::KeepAll, reliability: Reliability::Reliable, ..Qos::default() };
    let reader = filtered(&node(&b, "r"), all, &Multiples::of(7));
    let senders: Vec<_> = (0..2_u8)
        .map(|writer| {
            let node = node(&a, "p");
            std::thread::spawn(move || {
                let publisher = publisher(&node, "/t", all);
                (0..SENT).for_each(|number| {
                    let [low, middle, high, _] = number.to_le_bytes();
                    let sample = Bytes(vec![(number % 251) as u8, writer, low, middle, high]);
                    while let Err(error) = publisher.publish(&sample) {
                        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
                    }
                });
                publisher
            })
        })
        .collect();
    let mut got = [Vec::new(), Vec::new()];
    let wanted: Vec<u32> = (0..SENT).filter(|number| number % 251 % 7 == 0).collect();
    while got.iter().any(|got| got.len() < wanted.len()) {
        assert!(is_ready(&b, &reader, Duration::from_secs(30)), "{} and {} came", got[0].len(), got[1].len());
        let (body, _) = take(&reader).expect("what was reported ready can be taken");
        got[usize::from(body[1])].push(u32::from_le_bytes([body[2], body[3], body[4], 0]));
    }
    let publishers: Vec<_> = senders.into_iter().map(|sender| sender.join().expect("no panic")).collect();
    assert!(!reader.has_data());
    assert!(got.iter().all(|got| *got == wanted));
    drop(publishers);
}

#[test]
fn samples_past_their_lifespan_are_neither_ready_nor_taken() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let short = Qos { lifespan: 50_000_000, ..depth(5) };
    let publisher = publisher(&node(&a, "p"), "/t", short);
    let reader = filtered(&node(&b, "r"), depth(5), &Multiples::of(2));
    send(&publisher, [2]);
    assert!(reader.has_data(), "it has passed and waits");
    let start = Instant::now();
    while reader.has_data() {
        assert!(start.elapsed() < Duration::from_secs(30));
    }
    assert!(start.elapsed() > Duration::from_millis(20), "not at once");
    assert!(take(&reader).is_none());
    send(&publisher, [4]);
    assert_eq!(take_all(&reader), [[4]]);
}

#[test]
fn callbacks_count_what_passes() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(50));
    let reader = filtered(&node(&b, "r"), depth(50), &Multiples::of(10));
    let (count, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let callback: Callback = {
        let (count, calls) = (count.clone(), calls.clone());
        Arc::new(move |news| {
            count.fetch_add(news, Ordering::Relaxed);
            calls.fetch_add(1, Ordering::Release);
        })
    };
    reader.on_new_message(Some(callback)).expect("a callback can be set");
    (1..35).for_each(|number| {
        send(&publisher, [number]);
    });
    let start = Instant::now();
    while count.load(Ordering::Relaxed) < 3 {
        assert!(start.elapsed() < Duration::from_secs(30), "{} reported", count.load(Ordering::Relaxed));
        std::thread::yield_now();
    }
    assert_eq!(take_all(&reader), [[10], [20], [30]]);
    reader.on_new_message(None).expect("a callback can be removed");
    assert_eq!(count.load(Ordering::Relaxed), 3);
    assert!(calls.load(Ordering::Acquire) <= 3);
}
