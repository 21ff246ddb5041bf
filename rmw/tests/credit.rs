//! Streams: no more in flight than the window, whoever is slow, gone or dead.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::*;
use shoal_rmw::{
    wait_in, Context, Error, ErrorKind, History, Manner, Offered, Outcome, Publisher, Qos, Stream, Subscription,
    Waitable,
};

const LOST: Duration = Duration::from_secs(20);
const WINDOW: usize = 4;
const CHUNK: usize = 64 << 10;

fn keep_all() -> Qos {
    Qos { history: History::KeepAll, ..Qos::default() }
}

fn stream(publisher: &Arc<Publisher>, window: usize) -> Stream {
    Stream::new(publisher, window, CHUNK, &[]).expect("a stream")
}

fn consumer(context: &Arc<Context>) -> Arc<Subscription> {
    let consumer = subscription(&node(context, "c"), "/t", keep_all());
    consumer.hold_credit().expect("it is reliable and KEEP_ALL");
    consumer
}

fn offer(stream: &Stream, number: u8) -> Offered {
    stream.offer(&[number; 300]).expect("the context lives")
}

/// Chunks available and in flight.
fn credit(stream: &Stream) -> (u64, u64) {
    let state = stream.state().expect("the context lives");
    (state.available, state.in_flight)
}

fn wait_for_credit(context: &Arc<Context>, stream: &Stream, timeout: Duration) -> Outcome {
    let items = [Waitable::Guard(stream.credit())];
    wait_in(Manner::UntilResumed, context, &items, &mut [false], Some(timeout)).expect("waiting works")
}

#[test]
fn a_window_under_one_is_refused_and_so_is_a_publisher_that_may_lose_something() {
    let a = node(&context(domain()), "p");
    let refusal = |publisher: &Arc<Publisher>, window, chunk| match Stream::new(publisher, window, chunk, &[]) {
        Err(error @ Error::InvalidArgument(_)) => error.to_string(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("a stream"),
    };
    let publisher = publisher(&a, "/t", keep_all());
    assert!(refusal(&publisher, 0, 1).contains("a window of 0 chunks"));
    assert!(refusal(&publisher, 65_537, 1).contains("a window of 65537 chunks"));
    assert!(refusal(&publisher, 1, 0).contains("chunks of 0 bytes"));
    assert!(refusal(&common::publisher(&a, "/t", depth(5)), 1, 1).contains("KeepLast"));
    let latched = Qos { durability: shoal_rmw::Durability::TransientLocal, ..keep_all() };
    assert!(refusal(&common::publisher(&a, "/t", latched), 1, 1).contains("TransientLocal"));
    let first = stream(&publisher, 1);
    assert!(refusal(&publisher, 1, 1).contains("a stream already"));
    drop(first);
    drop(stream(&publisher, 65_536));
}

#[test]
fn credit_comes_with_a_consumer_and_back_with_what_it_consumed() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let stream = stream(&publisher(&node(&a, "p"), "/t", keep_all()), WINDOW);
    assert_eq!((offer(&stream, 0), credit(&stream)), (Offered::Full, (0, 0)), "nobody gave any");
    let consumer = consumer(&b);
    assert_eq!(credit(&stream), (4, 0));
    (1..=4).for_each(|number| assert_eq!(offer(&stream, number), Offered::Sent));
    assert_eq!((offer(&stream, 5), credit(&stream)), (Offered::Full, (0, 4)));
    assert_eq!(take_all(&consumer), (1..=4).map(|number| vec![number; 300]).collect::<Vec<_>>());
    assert_eq!((offer(&stream, 5), credit(&stream)), (Offered::Full, (0, 4)), "taken is not consumed");
    consumer.consumed(3).expect("they were taken");
    assert_eq!(credit(&stream), (3, 1));
    let more = consumer.consumed(2).expect_err("one is left").to_string();
    assert!(more.contains("2 samples consumed, but only 1"), "{more}");
    (6..=8).for_each(|number| assert_eq!(offer(&stream, number), Offered::Sent));
    assert_eq!(offer(&stream, 9), Offered::Full);
    consumer.consumed(1).expect("one is left");
    assert_eq!(offer(&stream, 9), Offered::Sent);
    assert_eq!(stream.state().expect("it lives").peak, 4);
}

#[test]
fn a_subscription_that_does_not_hold_credit_gives_it_back_as_it_takes() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let stream = stream(&publisher(&node(&a, "p"), "/t", keep_all()), WINDOW);
    let (plain, observer) =
        (subscription(&node(&b, "c"), "/t", keep_all()), subscription(&node(&b, "o"), "/t", depth(2)));
    (0..4).for_each(|number| assert_eq!(offer(&stream, number), Offered::Sent));
    assert!(take(&plain).is_some());
    assert_eq!(credit(&stream), (1, 3));
    assert!(matches!(plain.consumed(0), Err(Error::InvalidArgument(_))), "it gives back as it takes");
    assert!(matches!(observer.hold_credit(), Err(Error::InvalidArgument(_))), "it may lose something");
    take_all(&plain);
    assert_eq!(credit(&stream), (4, 0), "who may lose something holds nobody");
}

#[test]
fn write_goes_as_far_as_there_is_credit_and_then_on_from_there() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let stream = stream(&publisher(&node(&a, "p"), "/t", keep_all()), 2);
    let data: Vec<u8> = (0..=255).cycle().take(1000).collect();
    assert_eq!(stream.write(&data, 0, 300).expect("no progress is no error"), 0);
    let consumer = consumer(&b);
    let (mut reached, mut got) = (0, Vec::new());
    while reached < data.len() {
        let now = stream.write(&data, reached, 300).expect("the context lives");
        assert!(now > reached);
        reached = now;
        let chunks = take_all(&consumer);
        consumer.consumed(chunks.len() as u64).expect("they were taken");
        got.extend(chunks);
    }
    assert_eq!(got.iter().map(Vec::len).collect::<Vec<_>>(), [300, 300, 300, 100]);
    assert_eq!(got.concat(), data);
    assert_eq!(stream.write(&data, 1000, 0).expect("nothing is left"), 1000);
    for (at, chunk) in [(1001, 0), (0, CHUNK + 1)] {
        assert!(matches!(stream.write(&data, at, chunk), Err(Error::InvalidArgument(_))));
    }
    assert!(matches!(stream.offer(&vec![0; CHUNK + 1]), Err(Error::InvalidArgument(_))));
}

#[test]
fn a_stream_is_over_when_it_was_finished_or_its_last_consumer_has_gone() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let producer = node(&a, "p");
    let deserted = stream(&publisher(&producer, "/t", keep_all()), WINDOW);
    let (first, last) = (consumer(&b), consumer(&b));
    assert_eq!(offer(&deserted, 1), Offered::Sent);
    drop(first);
    assert_eq!(offer(&deserted, 2), Offered::Sent, "one is left");
    drop(last);
    assert_eq!(wait_for_credit(&a, &deserted, LOST), Outcome::Ready, "nobody waits for what cannot come");
    assert_eq!(offer(&deserted, 3), Offered::Finished);
    let late = consumer(&b);
    assert_eq!(offer(&deserted, 3), Offered::Finished, "it would miss the middle");
    let finished = stream(&publisher(&producer, "/t", keep_all()), WINDOW);
    assert_eq!(offer(&finished, 1), Offered::Sent);
    finished.finish().expect("it finishes");
    assert_eq!(offer(&finished, 2), Offered::Finished);
    assert_eq!(take_all(&late).len(), 1);
    let event = late.take_stream_event().expect("it lives").expect("an end");
    assert_eq!((event.outcome, event.last_sequence), (Outcome::EndOfStream, 1));
}

#[test]
fn the_slowest_consumer_counts() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let stream = stream(&publisher(&node(&a, "p"), "/t", keep_all()), WINDOW);
    let consumers = [consumer(&b), consumer(&b)];
    (0..4).for_each(|number| assert_eq!(offer(&stream, number), Offered::Sent));
    for (consumer, consumed) in consumers.iter().zip([4, 1]) {
        assert_eq!(take_all(consumer).len(), 4);
        consumer.consumed(consumed).expect("they were taken");
    }
    assert_eq!(credit(&stream), (1, 3));
    // One that joins now owes nothing.
    let _late = consumer(&b);
    assert_eq!(credit(&stream), (1, 3));
}

#[test]
fn what_is_published_beside_the_stream_keeps_the_window_too() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", keep_all());
    let stream = stream(&publisher, WINDOW);
    let consumer = consumer(&b);
    (0..4).for_each(|number| assert!(send(&publisher, [number]) > 0));
    let full = publisher.publish(&Bytes(vec![5])).expect_err("no room");
    assert_eq!(full.kind(), ErrorKind::Timeout, "{full}");
    assert_eq!(stream.state().expect("it lives").peak, 4);
    assert_eq!(take_all(&consumer).len(), 4);
    consumer.consumed(4).expect("they were taken");
    drop(stream);
    (0..10).for_each(|number| assert!(send(&publisher, [number]) > 0, "as any other publisher"));
}

#[test]
fn credit_wakes_a_waiting_producer_and_nothing_is_lost() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    for window in [1, 3] {
        let stream = stream(&publisher(&node(&a, "p"), "/t", keep_all()), window);
        let consumer = consumer(&b);
        const COUNT: u32 = 20_000;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..COUNT {
                    while stream.offer(&number.to_le_bytes()).expect("it lives") == Offered::Full {
                        assert_eq!(wait_for_credit(&a, &stream, LOST), Outcome::Ready, "chunk {number}");
                    }
                }
                stream.finish().expect("it finishes");
            });
            let mut next = 0;
            loop {
                let items = [Waitable::Subscription(&consumer)];
                match wait_in(Manner::UntilResumed, &b, &items, &mut [false], Some(LOST)).expect("waiting works") {
                    Outcome::Ready => {
                        let (body, _) = take(&consumer).expect("it is ready");
                        assert_eq!(body, u32::to_le_bytes(next));
                        next += 1;
                        consumer.consumed(1).expect("it was taken");
                    }
                    outcome => break assert_eq!((outcome, next), (Outcome::EndOfStream, COUNT)),
                }
            }
        });
        assert!(stream.state().expect("it lives").peak <= window as u64);
    }
}

#[test]
fn memory_is_bounded_by_the_window_however_much_goes_through() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let stream = stream(&publisher(&node(&a, "p"), "/t", keep_all()), 8);
    let consumer = consumer(&b);
    let chunk = vec![7; CHUNK];
    let mut after_the_first = 0;
    for round in 0..500 {
        while stream.offer(&chunk).expect("it lives") == Offered::Sent {}
        if round == 0 {
            after_the_first = usage(domain);
        }
        // One stays: nothing is ever all drained.
        let taken = (0..7).map_while(|_| take(&consumer)).count();
        consumer.consumed(taken as u64).expect("they were taken");
    }
    assert!(usage(domain) <= after_the_first + 2 * CHUNK as u64, "{} after {after_the_first}", usage(domain));
}

/// Not a test: a process that consumes nothing and waits to be killed.
#[test]
fn child() {
    let Ok(domain) = std::env::var("SHOAL_TEST_DOMAIN") else { return };
    let a = context(domain.parse().expect("a number"));
    let _consumer = consumer(&a);
    println!("joined");
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
    assert!(out.lines().map_while(std::result::Result::ok).any(|line| line.ends_with("joined")));
    child
}

#[test]
fn a_killed_consumer_holds_nobody() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let stream = stream(&publisher(&node(&a, "p"), "/t", keep_all()), WINDOW);
    let alive = consumer(&b);
    let mut child = start_child(domain);
    (0..4).for_each(|number| assert_eq!(offer(&stream, number), Offered::Sent));
    assert_eq!(take_all(&alive).len(), 4);
    alive.consumed(4).expect("they were taken");
    assert_eq!(offer(&stream, 5), Offered::Full, "the other one has not");
    child.kill().expect("it can be killed");
    child.wait().expect("it is dead");
    assert_eq!(wait_for_credit(&a, &stream, LOST), Outcome::Ready);
    assert_eq!(credit(&stream), (4, 0));
}
