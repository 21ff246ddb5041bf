//! Bounds of slow subscriptions: who is too far behind is told, costs no more than its bound, and may join again.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use common::*;
use shoal_rmw::{
    wait_in, Bounds, Context, History, Manner, Outcome, Publisher, Qos, StreamEvent, Subscription, Waitable, WhenBehind,
};

const LOST: Duration = Duration::from_secs(20);
const CHUNK: usize = 64 << 10;

struct Scene {
    domain: usize,
    reader: Arc<Context>,
    publisher: Arc<Publisher>,
    slow: Arc<Subscription>,
}

fn scene(publisher_qos: Qos, qos: Qos, bounds: Bounds) -> Scene {
    let domain = domain();
    let (a, reader) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", publisher_qos);
    let slow = subscription(&node(&reader, "s"), "/t", qos);
    slow.set_bounds(bounds).expect("bounds that can be had");
    Scene { domain, reader, publisher, slow }
}

fn shed_at(messages: u32) -> Bounds {
    Bounds { messages: Some(messages), when_behind: WhenBehind::Shed, ..Bounds::default() }
}

fn keep_all() -> Qos {
    Qos { history: History::KeepAll, ..Qos::default() }
}

impl Scene {
    fn waited(&self, timeout: Duration) -> Outcome {
        let items = [Waitable::Subscription(&self.slow)];
        wait_in(Manner::UntilResumed, &self.reader, &items, &mut [false], Some(timeout)).expect("waiting works")
    }

    fn send(&self, numbers: std::ops::RangeInclusive<u8>) {
        numbers.for_each(|number| assert!(send(&self.publisher, [number]) > 0));
    }

    /// The subscription was shed after it had taken sample `last`, and is told so once.
    fn is_shed_behind(&self, last: u64) {
        assert_eq!(self.waited(LOST), Outcome::Shed);
        assert_eq!(take_all(&self.slow), Vec::<Vec<u8>>::new(), "what it has not taken is given up");
        let next = || self.slow.take_stream_event().expect("the context lives");
        let publisher = Some(self.publisher.gid());
        assert_eq!(next(), Some(StreamEvent { outcome: Outcome::Shed, publisher, last_sequence: last }));
        assert_eq!(next(), None);
        assert_eq!(self.waited(Duration::ZERO), Outcome::TimedOut, "nobody spins");
    }

    fn rejoin(&self) -> u64 {
        self.slow.rejoin(&self.publisher.gid()).expect("the publisher is there")
    }
}

#[test]
fn a_reader_within_its_bound_gets_everything() {
    let scene = scene(depth(10), depth(2), shed_at(5));
    scene.send(1..=5);
    assert_eq!(take_all(&scene.slow), [[1], [2], [3], [4], [5]], "the bound counts, not the depth");
    scene.send(6..=10);
    assert_eq!(scene.waited(LOST), Outcome::Ready);
    assert_eq!(take_all(&scene.slow).len(), 5);
}

#[test]
fn a_reader_beyond_its_bound_is_shed_and_joins_again_with_what_comes_then() {
    let scene = scene(depth(10), depth(10), shed_at(5));
    scene.send(1..=2);
    assert_eq!(take(&scene.slow).expect("a sample").0, [1]);
    scene.send(3..=7);
    scene.is_shed_behind(1);
    let lag = scene.slow.lag().expect("the context lives");
    assert_eq!((lag.len(), lag[0].publisher, lag[0].messages, lag[0].shed), (1, scene.publisher.gid(), 6, true));
    scene.send(8..=9);
    assert_eq!(scene.waited(Duration::ZERO), Outcome::TimedOut, "it is not read any more");
    assert_eq!(scene.rejoin(), 9);
    scene.send(10..=11);
    assert_eq!(scene.waited(LOST), Outcome::Ready);
    assert_eq!(take_all(&scene.slow), [[10], [11]]);
    scene.send(12..=17);
    scene.is_shed_behind(11);
}

#[test]
fn a_shed_reader_joins_again_with_history_and_nothing_is_missing_or_comes_twice() {
    let scene = scene(latched(4), latched(10), shed_at(8));
    scene.send(1..=9);
    scene.is_shed_behind(0);
    let bound = scene.rejoin();
    scene.send(10..=11);
    assert_eq!((bound, scene.slow.join_bound(&scene.publisher.gid()).expect("it is there")), (9, 9));
    assert_eq!(take_all(&scene.slow), [[6], [7], [8], [9], [10], [11]]);
}

#[test]
fn a_reader_that_never_looks_costs_its_bound_and_nobody_waits_for_it() {
    for qos in [depth(1000), keep_all()] {
        let scene = scene(qos, qos, shed_at(8));
        let fast = subscription(&node(&scene.reader, "f"), "/t", keep_all());
        let before = usage(scene.domain);
        for number in 1..=1000u64 {
            assert_eq!(send(&scene.publisher, vec![0; CHUNK]), number);
            assert_eq!(take_all(&fast).len(), 1, "others get everything");
        }
        let more = usage(scene.domain) - before;
        assert!(more < 64 * CHUNK as u64, "{more} bytes for a bound of 8 and samples of {CHUNK}");
        scene.is_shed_behind(0);
    }
}

#[test]
fn a_keep_all_publisher_does_not_wait_for_a_bounded_reader() {
    let scene = scene(keep_all(), keep_all(), shed_at(100));
    for number in 1..=70_000 {
        assert_eq!(send(&scene.publisher, [1]), number, "without a bound 65,536 are the most in flight");
    }
    scene.is_shed_behind(0);
}

fn waited_for_at(messages: u32) -> Bounds {
    Bounds { when_behind: WhenBehind::Wait, ..shed_at(messages) }
}

#[test]
fn publishers_wait_for_a_reader_that_is_slow_and_takes_on() {
    const COUNT: u64 = 20_000;
    let scene = scene(depth(1), depth(1), waited_for_at(4));
    std::thread::scope(|scope| {
        scope.spawn(|| (1..=COUNT).for_each(|number| assert_eq!(send(&scene.publisher, [1]), number)));
        for number in 1..=COUNT {
            assert_eq!(scene.waited(LOST), Outcome::Ready, "sample {number}");
            assert_eq!(take(&scene.slow).expect("a sample").1.publication_sequence, number);
        }
    });
}

#[test]
fn publishers_wait_once_for_a_reader_that_never_looks() {
    let scene = scene(depth(1), depth(1), waited_for_at(4));
    // With a wait for each this takes longer than the watchdog lets it.
    (1..=5_000).for_each(|number| assert_eq!(send(&scene.publisher, [1]), number));
    scene.is_shed_behind(0);
    assert_eq!(scene.rejoin(), 5_000);
    send(&scene.publisher, [2]);
    assert_eq!(take_all(&scene.slow), [[2]]);
}

#[test]
fn a_bound_in_bytes_counts_what_was_not_taken() {
    let bounds = Bounds { bytes: Some(3 * 1000), when_behind: WhenBehind::Shed, ..Bounds::default() };
    let scene = scene(depth(10), depth(10), bounds);
    (0..3).for_each(|_| assert!(send(&scene.publisher, vec![1; 1000]) > 0));
    assert_eq!(scene.waited(LOST), Outcome::Ready);
    let lag = scene.slow.lag().expect("the context lives");
    assert_eq!((lag[0].messages, lag[0].bytes, lag[0].shed), (3, 3000, false));
    assert_eq!(take(&scene.slow).expect("a sample").0.len(), 1000);
    send(&scene.publisher, [1]);
    assert_eq!(take_all(&scene.slow).len(), 3, "what was taken counts no more");
    send(&scene.publisher, vec![1; 5000]);
    assert_eq!(take_all(&scene.slow).len(), 1, "a single sample may be longer than the bound");
    send(&scene.publisher, vec![1; 2000]);
    send(&scene.publisher, vec![1; 1001]);
    scene.is_shed_behind(5);
}

#[test]
fn a_bound_on_age_counts_from_the_oldest_sample_that_was_not_taken() {
    let old = Duration::from_millis(1);
    let bounds = Bounds { age: Some(old), when_behind: WhenBehind::Shed, ..Bounds::default() };
    let scene = scene(depth(10), depth(10), bounds);
    scene.send(1..=1);
    while scene.waited(Duration::ZERO) == Outcome::Ready {
        std::thread::yield_now();
    }
    scene.is_shed_behind(0);
}

#[test]
fn keep_last_skips_what_is_beyond_the_bounds_and_tells_nobody() {
    for (bounds, left) in [
        (Bounds { messages: Some(3), ..Bounds::default() }, 3),
        (Bounds { bytes: Some(2), ..Bounds::default() }, 2),
        (Bounds { age: Some(Duration::from_nanos(1)), ..Bounds::default() }, 0),
    ] {
        let scene = scene(depth(10), depth(10), bounds);
        scene.send(1..=9);
        let all: Vec<Vec<u8>> = (1..=9).map(|number| vec![number]).collect();
        assert_eq!(take_all(&scene.slow), all[9 - left..], "{bounds:?}");
        assert_eq!(scene.waited(Duration::ZERO), Outcome::TimedOut);
    }
}

#[test]
fn a_callback_tells_of_what_became_of_streams() {
    let scene = scene(depth(10), depth(10), shed_at(5));
    let told = Arc::new(AtomicUsize::new(0));
    let counter = told.clone();
    let count = move |count| {
        counter.fetch_add(count, Ordering::Relaxed);
    };
    scene.slow.on_stream_event(Some(Arc::new(count))).expect("the context lives");
    scene.send(1..=6);
    scene.publisher.finish().expect("it finishes");
    while told.load(Ordering::Relaxed) < 3 {
        std::thread::yield_now();
    }
    scene.slow.on_stream_event(None).expect("cleared");
    let events = std::iter::from_fn(|| scene.slow.take_stream_event().expect("the context lives"));
    let outcomes: Vec<_> = events.map(|event| event.outcome).collect();
    assert_eq!(outcomes, [Outcome::Shed, Outcome::EndOfStream, Outcome::EndOfStream]);
}

#[test]
fn bounds_that_cannot_be_had_are_refused_with_their_value() {
    let scene = scene(depth(10), depth(10), shed_at(5));
    let refused = |bounds| scene.slow.set_bounds(bounds).expect_err("it cannot be had").to_string();
    assert!(refused(shed_at(0)).contains("0 messages"));
    assert!(refused(shed_at(65_537)).contains("65537 messages"));
    assert!(refused(Bounds { bytes: Some(0), ..Bounds::default() }).contains("0 bytes"));
    assert!(refused(Bounds { age: Some(Duration::ZERO), ..Bounds::default() }).contains("age of 0"));
    let nobody = scene.slow.rejoin(&[7; 16]).expect_err("nobody has it").to_string();
    assert!(nobody.contains("no publisher 0707"), "{nobody}");
}
