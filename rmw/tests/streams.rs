//! Ends of streams: said by the producer, found behind its last sample, each once.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::*;
use shoal_rmw::{wait_in, Context, Error, Manner, Outcome, Publisher, StreamEvent, Subscription, Waitable};

const LOST: Duration = Duration::from_secs(20);

fn ended(outcome: Outcome, publisher: &Publisher, last_sequence: u64) -> StreamEvent {
    StreamEvent { outcome, publisher: Some(publisher.gid()), last_sequence }
}

fn topic(outcome: Outcome) -> StreamEvent {
    StreamEvent { outcome, publisher: None, last_sequence: 0 }
}

fn next(subscription: &Subscription) -> Option<StreamEvent> {
    subscription.take_stream_event().expect("the context lives")
}

fn wait_for(context: &Arc<Context>, subscription: &Subscription, manner: Manner, timeout: Duration) -> Outcome {
    let items = [Waitable::Subscription(subscription)];
    wait_in(manner, context, &items, &mut [false], Some(timeout)).expect("waiting works")
}

fn until_resumed(context: &Arc<Context>, subscription: &Subscription) -> Outcome {
    wait_for(context, subscription, Manner::UntilResumed, LOST)
}

#[test]
fn the_end_comes_behind_the_last_sample_and_once() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    send(&publisher, [1]);
    publisher.finish().expect("it finishes");
    publisher.finish().expect("finishing again does nothing");
    assert_eq!(next(&subscription), None, "a sample is left");
    assert_eq!(until_resumed(&b, &subscription), Outcome::Ready);
    assert_eq!(take_all(&subscription), [[1]]);
    assert_eq!(until_resumed(&b, &subscription), Outcome::EndOfStream);
    assert_eq!(next(&subscription), Some(ended(Outcome::EndOfStream, &publisher, 1)));
    assert_eq!(next(&subscription), Some(topic(Outcome::EndOfStream)));
    assert_eq!(next(&subscription), None);
    assert_eq!(wait_for(&b, &subscription, Manner::UntilResumed, Duration::ZERO), Outcome::TimedOut);
}

#[test]
fn nothing_can_be_published_after_the_end() {
    let a = context(domain());
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    publisher.finish().expect("it finishes");
    assert!(matches!(publisher.publish(&Bytes(vec![1])), Err(Error::Finished)));
}

#[test]
fn a_late_joiner_finds_history_and_then_the_end() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", latched(2));
    for number in 1..=3 {
        send(&publisher, [number]);
    }
    publisher.finish().expect("it finishes");
    let subscription = subscription(&node(&b, "s"), "/t", latched(5));
    assert_eq!(until_resumed(&b, &subscription), Outcome::Ready);
    assert_eq!(take_all(&subscription), [[2], [3]]);
    assert_eq!(next(&subscription), Some(ended(Outcome::EndOfStream, &publisher, 3)));
}

#[test]
fn a_publisher_that_finished_and_left_at_once_has_ended_all_the_same() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    subscription.watch_streams();
    let silent = publisher(&node(&a, "p"), "/t", depth(10));
    let (gid, keeper) = (silent.gid(), publisher(&node(&a, "q"), "/t", depth(10)));
    silent.finish().expect("it finishes");
    drop(silent);
    let event = next(&subscription).expect("an end without a sample is one");
    assert_eq!((event.outcome, event.publisher, event.last_sequence), (Outcome::EndOfStream, Some(gid), 0));
    assert_eq!(next(&subscription), None, "the topic goes on");
    drop(keeper);
    assert_eq!(until_resumed(&b, &subscription), Outcome::EndOfStream, "who is left has ended");
    assert_eq!(next(&subscription), Some(topic(Outcome::EndOfStream)));
}

#[test]
fn a_publisher_that_is_destroyed_has_not_ended() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    subscription.watch_streams();
    send(&publisher(&node(&a, "p"), "/t", depth(10)), [1]);
    assert_eq!(take_all(&subscription), [[1]]);
    assert_eq!(next(&subscription), None);
    assert_eq!(wait_for(&b, &subscription, Manner::UntilResumed, Duration::from_millis(50)), Outcome::TimedOut);
}

#[test]
fn a_wait_that_knows_nothing_of_streams_is_ready_once_for_each_end() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    let once = |timeout| wait_for(&b, &subscription, Manner::Once, timeout);
    assert_eq!(next(&subscription), None);
    publisher.finish().expect("it finishes");
    assert_eq!(once(LOST), Outcome::Ready);
    assert_eq!(once(Duration::from_millis(20)), Outcome::TimedOut, "nobody takes it, and nobody spins");
    assert_eq!(next(&subscription), Some(ended(Outcome::EndOfStream, &publisher, 0)));
}

#[test]
fn a_sleeping_reader_is_woken_by_the_end_in_1_000_races() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (writer, reader) = (node(&a, "p"), node(&b, "s"));
    for round in 0..1_000u32 {
        let topic = format!("/t{round}");
        let publisher = publisher(&writer, &topic, depth(10));
        let subscription = subscription(&reader, &topic, depth(10));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                send(&publisher, [1]);
                publisher.finish().expect("it finishes");
            });
            assert_eq!(until_resumed(&b, &subscription), Outcome::Ready, "round {round}: the sample comes first");
            assert_eq!(take_all(&subscription), [[1]]);
            assert_eq!(until_resumed(&b, &subscription), Outcome::EndOfStream, "round {round}");
        });
    }
}

/// Not a test: a process that publishes two samples and waits to be killed.
#[test]
fn child() {
    let Ok(domain) = std::env::var("SHOAL_TEST_DOMAIN") else { return };
    let a = context(domain.parse().expect("a number"));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let _silent = common::publisher(&node(&a, "q"), "/t", depth(10));
    send(&publisher, [1]);
    send(&publisher, [2]);
    println!("sent");
    std::io::stdin().lines().for_each(drop);
}

fn start_child(domain: usize) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("the own path"))
        .args(["child", "--exact", "--nocapture"])
        .env("SHOAL_TEST_DOMAIN", domain.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    assert!(out.lines().map_while(std::result::Result::ok).any(|line| line.ends_with("sent")));
    child
}

#[test]
fn the_streams_of_a_killed_process_break_behind_their_last_samples() {
    let domain = domain();
    let b = context(domain);
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    subscription.watch_streams();
    let mut child = start_child(domain);
    child.kill().expect("it can be killed");
    child.wait().expect("it is dead");
    assert_eq!(until_resumed(&b, &subscription), Outcome::Ready);
    assert_eq!(take_all(&subscription), [[1], [2]]);
    let mut events: Vec<_> = std::iter::from_fn(|| {
        (until_resumed(&b, &subscription) == Outcome::Broken).then(|| next(&subscription).expect("an event"))
    })
    .take(3)
    .map(|event| (event.outcome, event.publisher.is_some(), event.last_sequence))
    .collect();
    events.sort_by_key(|event| (event.1, event.2));
    let broken = |publisher, last| (Outcome::Broken, publisher, last);
    assert_eq!(events, [broken(false, 0), broken(true, 0), broken(true, 2)]);
}
