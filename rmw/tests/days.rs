//! Ends of days: a session is over and the stream goes on; found in order, once for each call.

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::*;
use shoal_rmw::{wait_in, Context, Error, Manner, Outcome, Publisher, StreamEvent, Subscription, Waitable};

const LOST: Duration = Duration::from_secs(20);

fn waited(context: &Arc<Context>, subscription: &Subscription, manner: Manner, timeout: Duration) -> Outcome {
    let items = [Waitable::Subscription(subscription)];
    wait_in(manner, context, &items, &mut [false], Some(timeout)).expect("waiting works")
}

fn next(subscription: &Subscription) -> Option<StreamEvent> {
    subscription.take_stream_event().expect("the context lives")
}

fn day(publisher: &Publisher, last_sequence: u64) -> Option<StreamEvent> {
    Some(StreamEvent { outcome: Outcome::EndOfDay, publisher: Some(publisher.gid()), last_sequence })
}

/// What a reader that takes one thing for each wait finds: samples by their first byte, events as `None`.
fn told(context: &Arc<Context>, subscription: &Subscription) -> Vec<Option<u8>> {
    let mut told = Vec::new();
    loop {
        match waited(context, subscription, Manner::UntilResumed, Duration::ZERO) {
            Outcome::Ready => told.push(Some(take(subscription).expect("a sample").0[0])),
            Outcome::EndOfDay => {
                next(subscription).expect("an event");
                told.push(None);
            }
            Outcome::TimedOut => return told,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_day_ends_between_the_samples_that_were_sent_around_it() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    publisher.end_of_day().expect("a day without a sample is one");
    send(&publisher, [1]);
    send(&publisher, [2]);
    publisher.end_of_day().expect("it ends");
    publisher.end_of_day().expect("it ends again");
    send(&publisher, [3]);
    assert_eq!(told(&b, &subscription), [None, Some(1), Some(2), None, None, Some(3)]);
    assert_eq!(next(&subscription), None, "once for each call");
    publisher.end_of_day().expect("it ends");
    assert_eq!(next(&subscription), day(&publisher, 3));
}

#[test]
fn a_sleeping_reader_is_woken_by_the_end_of_a_day_in_1_000_races() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    for round in 0..1_000u64 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                send(&publisher, [1]);
                publisher.end_of_day().expect("it ends");
                send(&publisher, [2]);
            });
            let until = |outcome| assert_eq!(waited(&b, &subscription, Manner::UntilResumed, LOST), outcome, "{round}");
            until(Outcome::Ready);
            assert_eq!(take(&subscription).expect("the sample before").0, [1]);
            until(Outcome::EndOfDay);
            assert_eq!(next(&subscription), day(&publisher, 2 * round + 1));
            until(Outcome::Ready);
            assert_eq!(take(&subscription).expect("the sample behind").0, [2]);
        });
    }
}

#[test]
fn a_day_that_ended_before_a_reader_joined_is_not_told_to_it() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", latched(5));
    send(&publisher, [1]);
    publisher.end_of_day().expect("it ends");
    let subscription = subscription(&node(&b, "s"), "/t", latched(5));
    send(&publisher, [2]);
    publisher.end_of_day().expect("it ends");
    assert_eq!(told(&b, &subscription), [Some(1), Some(2), None]);
}

#[test]
fn each_call_of_a_context_is_told_by_each_of_its_publishers() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (writer, reader) = (node(&a, "p"), node(&b, "s"));
    let publishers = ["/t", "/t", "/u"].map(|topic| publisher(&writer, topic, depth(10)));
    let subscriptions = ["/t", "/u"].map(|topic| subscription(&reader, topic, depth(10)));
    publishers[0].finish().expect("it finishes");
    assert!(matches!(publishers[0].end_of_day(), Err(Error::Finished)));
    subscriptions.iter().for_each(|subscription| subscription.watch_streams());
    a.end_of_day().expect("what goes on is told");
    let of_t: Vec<_> = std::iter::from_fn(|| next(&subscriptions[0])).map(|event| event.outcome).collect();
    assert_eq!(of_t, [Outcome::EndOfStream, Outcome::EndOfDay]);
    assert_eq!(next(&subscriptions[1]), day(&publishers[2], 0));
}

#[test]
fn a_reader_that_is_many_days_behind_is_told_of_each_and_never_early() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(50));
    let subscription = subscription(&node(&b, "s"), "/t", depth(50));
    for number in 1..=20 {
        send(&publisher, [number]);
        publisher.end_of_day().expect("it ends");
    }
    let told = told(&b, &subscription);
    let (mut days, mut last) = (0, 0);
    for found in &told {
        match found {
            Some(number) => last = *number,
            None => days += 1,
        }
        assert!(days <= last, "{told:?}");
    }
    assert_eq!((days, last), (20, 20), "{told:?}");
    let newest: Vec<_> = (15..=20).flat_map(|number| [Some(number), None]).collect();
    assert_eq!(told[told.len() - 12..], newest, "the last seven ends have kept their places");
}

#[test]
fn a_publisher_that_ended_the_day_and_left_at_once_has_ended_it_all_the_same() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    subscription.watch_streams();
    for samples in [0, 2] {
        let publisher = publisher(&node(&a, "p"), "/t", depth(10));
        (0..samples).for_each(|number| assert!(send(&publisher, [number]) > 0));
        publisher.end_of_day().expect("it ends");
        let wanted = day(&publisher, samples.into());
        drop(publisher);
        assert_eq!(take_all(&subscription).len(), usize::from(samples));
        assert_eq!(next(&subscription), wanted);
        assert_eq!(next(&subscription), None, "a destroyed publisher has not ended its stream");
    }
}

#[test]
fn a_wait_that_knows_nothing_of_days_is_ready_once_for_each() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    assert_eq!(next(&subscription), None);
    publisher.end_of_day().expect("it ends");
    assert_eq!(waited(&b, &subscription, Manner::Once, LOST), Outcome::Ready);
    assert_eq!(waited(&b, &subscription, Manner::Once, Duration::ZERO), Outcome::TimedOut, "nobody spins");
    send(&publisher, [1]);
    assert_eq!(take_all(&subscription), [[1]], "whoever only takes goes on");
}

#[test]
fn what_was_kept_for_a_reader_is_free_as_soon_as_it_unsubscribes() {
    const COUNT: usize = 50;
    const LEN: usize = 256 << 10;
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (writer, reader) = (node(&a, "p"), node(&b, "s"));
    let [one, other] = ["/t", "/u"].map(|topic| publisher(&writer, topic, depth(1)));
    let [kept, _others] = ["/t", "/u"].map(|topic| subscription(&reader, topic, depth(COUNT as u32)));
    let before = usage(domain);
    (0..COUNT).for_each(|_| assert!(send(&one, vec![1; LEN]) > 0));
    let held = usage(domain);
    assert!(held - before >= (COUNT * LEN) as u64, "{held} bytes with what is kept for the reader, {before} before");
    drop(kept);
    send(&one, [2]);
    (0..COUNT).for_each(|_| assert!(send(&other, vec![1; LEN]) > 0));
    assert_eq!(usage(domain), held, "another publisher uses the memory again, and needs no more");
}
