//! What readers have taken: flush and lag; and where they joined.

mod common;

use std::time::Duration;

use common::*;
use shoal_rmw::{Error, History, Interrupt, Outcome, Publisher, Qos, Reliability};

const LONG: Option<Duration> = Some(Duration::from_secs(20));
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

/// Samples and bytes that each reader has not taken.
fn behind(publisher: &Publisher) -> Vec<(Option<u64>, u64)> {
    publisher.lag().expect("the context lives").iter().map(|lag| (lag.messages, lag.bytes)).collect()
}

fn flush(publisher: &Publisher, budget: Option<Duration>) -> (Outcome, usize) {
    let (outcome, late) = publisher.flush(budget).expect("the context lives");
    (outcome, late.len())
}

#[test]
fn lag_counts_what_was_not_taken_in_samples_and_bytes() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    assert_eq!(behind(&publisher), []);
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    assert_eq!(behind(&publisher), [(Some(0), 0)]);
    (1..=5u8).for_each(|length| assert!(send(&publisher, vec![0; length.into()]) > 0));
    assert!(subscription.has_data(), "a look");
    assert_eq!(behind(&publisher), [(Some(5), 15)]);
    assert!(take(&subscription).is_some());
    assert_eq!(behind(&publisher), [(Some(4), 14)]);
    let reader = publisher.lag().expect("the context lives")[0];
    assert_eq!((reader.gid, reader.reliable), (subscription.gid(), true));
    take_all(&subscription);
    assert_eq!(behind(&publisher), [(Some(0), 0)]);
}

#[test]
fn a_flush_ends_when_every_reliable_reader_has_taken_everything() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let best_effort = Qos { reliability: Reliability::BestEffort, ..depth(10) };
    let reader = node(&b, "s");
    let all = Qos { history: History::KeepAll, ..Qos::default() };
    let readers = [subscription(&reader, "/t", depth(10)), subscription(&reader, "/t", all)];
    let _ignored = subscription(&reader, "/t", best_effort);
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::Ready, 0), "nothing was sent");
    (0..5).for_each(|number| assert!(send(&publisher, [number]) > 0));
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::TimedOut, 2));
    take_all(&readers[0]);
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::TimedOut, 1));
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(take_all(&readers[1]).len(), 5));
        assert_eq!(flush(&publisher, LONG), (Outcome::Ready, 0));
    });
}

#[test]
fn what_keep_last_skips_counts_as_taken() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let subscription = subscription(&node(&b, "s"), "/t", depth(2));
    (0..8).for_each(|number| assert!(send(&publisher, [number]) > 0));
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::TimedOut, 1));
    assert_eq!(take_all(&subscription), [[6], [7]]);
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::Ready, 0));
}

#[test]
fn an_interruption_ends_a_flush() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let _reader = subscription(&node(&b, "s"), "/t", depth(10));
    send(&publisher, [1]);
    let interrupt = Interrupt::new(&[]).expect("a plain handle");
    std::thread::scope(|scope| {
        let flushing = scope.spawn(|| flush(&publisher, None));
        interrupt.interrupt();
        assert_eq!(flushing.join().expect("it ends"), (Outcome::Interrupted, 1));
    });
    interrupt.resume();
}

#[test]
fn the_join_bound_parts_history_from_what_comes_live() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", latched(3));
    (1..=5).for_each(|number| assert!(send(&publisher, [number]) > 0));
    let early = subscription(&node(&b, "s"), "/t", latched(10));
    send(&publisher, [6]);
    assert_eq!(early.join_bound(&publisher.gid()).expect("it is known"), 5);
    let sequences: Vec<_> = std::iter::from_fn(|| take(&early)).map(|(_, info)| info.publication_sequence).collect();
    assert_eq!(sequences, [3, 4, 5, 6], "three of history, then what came after it");
    let later = common::publisher(&node(&a, "q"), "/t", latched(3));
    send(&later, [1]);
    assert_eq!(early.join_bound(&later.gid()).expect("it is known"), 0, "all of it comes live");
    assert!(matches!(early.join_bound(&[7; 16]), Err(Error::InvalidArgument(_))));
}

#[test]
fn counters_belong_to_the_domain() {
    let domain = domain();
    let (a, b, elsewhere) = (context(domain), context(domain), context(common::domain()));
    assert_eq!(a.tick(1023, 5).expect("the last one"), 5);
    assert_eq!(b.tick(1023, u64::MAX).expect("the same one"), 4, "it wraps around");
    assert_eq!(b.tock(1023, 100).expect("set"), 4);
    assert_eq!(a.tick(1023, 1).expect("the same one"), 101);
    assert_eq!(elsewhere.tick(1023, 1).expect("another domain's"), 1);
    assert!(a.tick(1024, 1).is_err() && a.tock(1024, 1).is_err());
}
