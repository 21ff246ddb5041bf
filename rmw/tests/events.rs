//! QoS events: counted once for each peer, whatever came first, and seen by a wait that sleeps.

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use common::*;
use shoal_rmw::{
    wait, Context, Event, EventKind, History, Liveliness, LivelinessStatus, MatchedStatus, Outcome, PolicyKind,
    Publisher, Qos, Reliability, Status, Subscription, SubscriptionOptions, Totals, TypeInfo, Waitable,
};

/// How long a waiter may sleep before the test calls the wake-up lost.
const LOST: Duration = Duration::from_secs(20);
const MS: i64 = 1_000_000;

fn wait_for(context: &Arc<Context>, event: Event<'_>, timeout: Duration) -> Outcome {
    wait(context, &[Waitable::Event(event)], &mut [false], Some(timeout)).expect("waiting works")
}

fn is_ready(context: &Arc<Context>, event: Event<'_>) -> bool {
    wait_for(context, event, Duration::ZERO) == Outcome::Ready
}

/// Runs `cause` in another thread while this one sleeps until the event is ready.
fn woken_by<R: Send>(context: &Arc<Context>, event: Event<'_>, cause: impl FnOnce() -> R + Send) -> R {
    assert!(!is_ready(context, event), "nothing happened yet");
    std::thread::scope(|scope| {
        let caused = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            cause()
        });
        let start = Instant::now();
        assert_eq!(wait_for(context, event, LOST), Outcome::Ready);
        assert!(start.elapsed() < LOST / 2, "woken by the event, not by the clock");
        caused.join().expect("the cause ran")
    })
}

fn totals(total: u64, change: u64) -> Totals {
    Totals { total, change }
}

fn matched(ever: (u64, u64), current: (u64, i64)) -> Status {
    Status::Matched(MatchedStatus { ever: totals(ever.0, ever.1), current: current.0, current_change: current.1 })
}

fn other_type(node: &Arc<shoal_rmw::Node>, topic: &str) -> Arc<Publisher> {
    let ty = TypeInfo { name: "test/msg/Other".into(), hash: (1, [8; 32]), fixed_size: None, loanable_size: None };
    Publisher::new(node, topic, ty, Qos::default()).expect("a publisher of another type")
}

fn best_effort() -> Qos {
    Qos { reliability: Reliability::BestEffort, ..Qos::default() }
}

#[test]
fn matches_are_counted_on_both_sides_as_peers_come_and_go() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (near, far) = (node(&a, "near"), node(&b, "far"));
    let publisher = publisher(&near, "/t", Qos::default());
    let event = publisher.event(EventKind::Matched);
    assert_eq!(event.take().unwrap(), matched((0, 0), (0, 0)), "a take before anything happened gives zeros");
    let one = woken_by(&a, event, || subscription(&far, "/t", Qos::default()));
    assert_eq!(event.pending_count(), 1);
    assert_eq!(event.take().unwrap(), matched((1, 1), (1, 1)));
    assert!(!is_ready(&a, event), "a taken event is not ready again");
    let two = woken_by(&a, event, || subscription(&far, "/t", Qos::default()));
    woken_by_drop(&a, event, one);
    assert_eq!(event.take().unwrap(), matched((2, 1), (1, 0)), "ready although the number is the same");
    woken_by_drop(&a, event, two);
    assert_eq!(event.take().unwrap(), matched((2, 0), (0, -1)));

    let reader = subscription(&far, "/t", Qos::default());
    let event = reader.event(EventKind::Matched);
    assert_eq!(event.take().unwrap(), matched((1, 1), (1, 1)), "a publisher that was there first counts");
    woken_by_drop(&b, event, publisher);
    assert_eq!(event.take().unwrap(), matched((1, 0), (0, -1)));
    b.shutdown().unwrap();
}

fn woken_by_drop<T: Send>(context: &Arc<Context>, event: Event<'_>, entity: T) {
    if event.is_ready() {
        drop(entity);
    } else {
        woken_by(context, event, || drop(entity));
    }
}

#[test]
fn each_incompatible_peer_counts_once_and_names_its_policy() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (near, far) = (node(&a, "near"), node(&b, "far"));
    let reader = subscription(&near, "/t", Qos::default());
    let requested = reader.event(EventKind::IncompatibleQos);
    let writer = woken_by(&a, requested, || publisher(&far, "/t", best_effort()));
    let reliability = Some(PolicyKind::Reliability);
    assert_eq!(requested.take().unwrap(), Status::IncompatibleQos(totals(1, 1), reliability));
    let offered = writer.event(EventKind::IncompatibleQos);
    assert_eq!(offered.take().unwrap(), Status::IncompatibleQos(totals(1, 1), reliability), "it was there first");
    let manual = Qos { liveliness: Liveliness::ManualByTopic, ..best_effort() };
    let _second = woken_by(&b, offered, || subscription(&near, "/t", manual));
    assert_eq!(offered.take().unwrap(), Status::IncompatibleQos(totals(2, 1), Some(PolicyKind::Liveliness)));
    let compatible = publisher(&far, "/t", Qos::default());
    drop((writer, compatible));
    assert!(!is_ready(&a, requested), "compatible peers, and peers that go, are no mismatch");
    assert_eq!(requested.take().unwrap(), Status::IncompatibleQos(totals(1, 0), reliability));
}

#[test]
fn durations_that_do_not_fit_are_told_by_policy() {
    let context = context(domain());
    let node = node(&context, "n");
    let cases = [
        (
            Qos { deadline: 2_000 * MS, ..Qos::default() },
            Qos { deadline: 1_000 * MS, ..Qos::default() },
            PolicyKind::Deadline,
        ),
        (
            Qos { lease: 2_000 * MS, ..Qos::default() },
            Qos { lease: 1_000 * MS, ..Qos::default() },
            PolicyKind::LivelinessLeaseDuration,
        ),
    ];
    for (offered, requested, policy) in cases {
        let reader = subscription(&node, "/t", requested);
        let event = reader.event(EventKind::IncompatibleQos);
        let _writer = woken_by(&context, event, || publisher(&node, "/t", offered));
        assert_eq!(event.take().unwrap(), Status::IncompatibleQos(totals(1, 1), Some(policy)));
    }
}

#[test]
fn another_type_on_the_topic_is_told_to_both_sides() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (near, far) = (node(&a, "near"), node(&b, "far"));
    let reader = subscription(&near, "/t", Qos::default());
    let event = reader.event(EventKind::IncompatibleType);
    let writer = woken_by(&a, event, || other_type(&far, "/t"));
    assert_eq!(event.take().unwrap(), Status::Counted(totals(1, 1)));
    let theirs = writer.event(EventKind::IncompatibleType);
    assert_eq!(theirs.take().unwrap(), Status::Counted(totals(1, 1)));
    let _elsewhere = other_type(&far, "/u");
    assert_eq!(event.take().unwrap(), Status::Counted(totals(1, 0)));
    assert_eq!(reader.event(EventKind::IncompatibleQos).take().unwrap(), Status::IncompatibleQos(totals(0, 0), None));
}

#[test]
fn requested_deadlines_are_missed_only_after_a_sample() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (near, far) = (node(&a, "near"), node(&b, "far"));
    let deadline = Qos { deadline: 40 * MS, ..Qos::default() };
    let reader = subscription(&near, "/t", deadline);
    let event = reader.event(EventKind::DeadlineMissed);
    assert_eq!(wait_for(&a, event, Duration::from_millis(150)), Outcome::TimedOut, "no publisher");
    let writer = publisher(&far, "/t", deadline);
    assert_eq!(wait_for(&a, event, Duration::from_millis(150)), Outcome::TimedOut, "no sample");
    send(&writer, *b"x");
    let start = Instant::now();
    let mut seen = 0;
    while seen < 5 {
        assert_eq!(wait_for(&a, event, LOST), Outcome::Ready);
        let Status::Counted(now) = event.take().unwrap() else { panic!("a count") };
        assert!(now.change >= 1 && now.total == seen + now.change, "{now:?} after {seen}");
        seen = now.total;
    }
    let elapsed = start.elapsed().as_millis() as u64;
    assert!(elapsed >= (seen - 1) * 40, "{seen} periods in {elapsed} ms");
    assert_eq!(take_all(&reader), [b"x"], "the event took no sample");
    drop(writer);
    event.take().unwrap();
    assert_eq!(wait_for(&a, event, Duration::from_millis(150)), Outcome::TimedOut, "nobody is left to miss it");
}

#[test]
fn samples_in_time_miss_no_deadline_however_late_one_looks() {
    const DEADLINE: Duration = Duration::from_millis(400);
    let context = context(domain());
    let node = node(&context, "n");
    let deadline = Qos { deadline: DEADLINE.as_nanos() as i64, ..Qos::default() };
    // A machine may be too busy to send in time; then that round says nothing.
    loop {
        let (reader, writer) = (subscription(&node, "/t", deadline), publisher(&node, "/t", deadline));
        let (requested, offered) = (reader.event(EventKind::DeadlineMissed), writer.event(EventKind::DeadlineMissed));
        let mut longest = Duration::ZERO;
        for _ in 0..8 {
            let start = Instant::now();
            send(&writer, *b"x");
            std::thread::sleep(Duration::from_millis(100));
            longest = longest.max(start.elapsed());
        }
        let counts = [offered.take().unwrap(), requested.take().unwrap()];
        if longest < DEADLINE / 2 {
            assert_eq!(counts, [Status::Counted(totals(0, 0)); 2]);
            return;
        }
    }
}

#[test]
fn offered_deadlines_count_from_the_first_sample_and_wake_a_sleeper() {
    let context = context(domain());
    let node = node(&context, "n");
    let writer = publisher(&node, "/t", Qos { deadline: 40 * MS, ..Qos::default() });
    let event = writer.event(EventKind::DeadlineMissed);
    assert_eq!(wait_for(&context, event, Duration::from_millis(150)), Outcome::TimedOut, "no sample");
    woken_by(&context, event, || send(&writer, *b"x"));
    let Status::Counted(first) = event.take().unwrap() else { panic!("a count") };
    assert!(first.total >= 1 && first.change == first.total);
    let endless = publisher(&node, "/u", Qos::default());
    send(&endless, *b"x");
    assert_eq!(endless.event(EventKind::DeadlineMissed).next_moment(), None, "no deadline, no alarm");
}

fn liveliness(alive: (u64, i64), not_alive: (u64, i64)) -> Status {
    Status::Liveliness(LivelinessStatus {
        alive: alive.0,
        not_alive: not_alive.0,
        alive_change: alive.1,
        not_alive_change: not_alive.1,
    })
}

#[test]
fn automatic_publishers_are_alive_from_their_creation_to_their_end() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (near, far) = (node(&a, "near"), node(&b, "far"));
    let first = publisher(&far, "/t", Qos::default());
    let reader = subscription(&near, "/t", Qos::default());
    let event = reader.event(EventKind::Liveliness);
    assert_eq!(event.take().unwrap(), liveliness((1, 1), (0, 0)), "one that was there first");
    let second = woken_by(&a, event, || publisher(&far, "/t", Qos::default()));
    assert_eq!(event.take().unwrap(), liveliness((2, 1), (0, 0)));
    woken_by(&a, event, || drop(first));
    assert_eq!(event.take().unwrap(), liveliness((1, -1), (0, 0)), "deleted, so not counted any more");
    assert_eq!(second.event(EventKind::Liveliness).take().unwrap(), Status::Counted(totals(0, 0)));
    second.assert_liveliness().unwrap();
    assert!(!event.is_ready());
}

#[test]
fn manual_publishers_are_alive_for_a_lease_after_each_assertion() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (near, far) = (node(&a, "near"), node(&b, "far"));
    let manual = Qos { liveliness: Liveliness::ManualByTopic, lease: 500 * MS, ..Qos::default() };
    let reader = subscription(&near, "/t", manual);
    let writer = publisher(&far, "/t", manual);
    let (changed, lost) = (reader.event(EventKind::Liveliness), writer.event(EventKind::Liveliness));
    assert_eq!(wait_for(&a, changed, Duration::from_millis(150)), Outcome::TimedOut, "it has not said anything");
    woken_by(&a, changed, || writer.assert_liveliness().unwrap());
    assert_eq!(wait_for(&b, lost, LOST), Outcome::Ready, "the end of the lease wakes the publisher");
    assert_eq!(lost.take().unwrap(), Status::Counted(totals(1, 1)));
    assert_eq!(changed.take().unwrap(), liveliness((0, 0), (1, 1)), "alive and not any more since the last take");
    // A sample is an assertion, too.
    woken_by(&a, changed, || send(&writer, *b"x"));
    assert_eq!(changed.take().unwrap(), liveliness((1, 1), (0, -1)));
    assert_eq!(wait_for(&a, changed, LOST), Outcome::Ready, "the end of the lease wakes the subscription");
    assert_eq!(changed.take().unwrap(), liveliness((0, -1), (1, 1)));
    assert_eq!(wait_for(&b, lost, LOST), Outcome::Ready);
    assert_eq!(lost.take().unwrap(), Status::Counted(totals(2, 1)));
    assert_eq!(wait_for(&b, lost, Duration::from_millis(700)), Outcome::TimedOut, "staying silent is no new loss");
    woken_by(&a, changed, || drop(writer));
    assert_eq!(changed.take().unwrap(), liveliness((0, 0), (0, -1)), "deleted");
}

#[test]
fn an_asserting_publisher_never_loses_its_liveliness() {
    let context = context(domain());
    let node = node(&context, "n");
    let manual = Qos { liveliness: Liveliness::ManualByTopic, lease: 60_000 * MS, ..Qos::default() };
    let (reader, writer) = (subscription(&node, "/t", manual), publisher(&node, "/t", manual));
    let (changed, lost) = (reader.event(EventKind::Liveliness), writer.event(EventKind::Liveliness));
    for _ in 0..3 {
        writer.assert_liveliness().unwrap();
        assert!(lost.next_moment().is_some() && !lost.is_ready());
    }
    assert_eq!(changed.take().unwrap(), liveliness((1, 1), (0, 0)));
    assert!(changed.next_moment().is_some(), "the lease is watched");
    writer.assert_liveliness().unwrap();
    assert!(!changed.is_ready());
}

/// What every node asks for by default must cost nothing while nothing happens.
#[test]
fn events_that_no_clock_and_no_death_brings_wake_nobody_by_themselves() {
    let context = context(domain());
    let node = node(&context, "n");
    let (reader, writer) = (subscription(&node, "/t", Qos::default()), publisher(&node, "/t", Qos::default()));
    send(&writer, *b"x");
    for kind in
        [EventKind::IncompatibleQos, EventKind::IncompatibleType, EventKind::DeadlineMissed, EventKind::MessageLost]
    {
        for event in [reader.event(kind), writer.event(kind)] {
            assert!(event.next_moment().is_none() && !event.depends_on_the_living(), "{kind:?}");
        }
    }
    let lost = writer.event(EventKind::Liveliness);
    assert!(lost.next_moment().is_none() && !lost.depends_on_the_living());
    assert_eq!(reader.event(EventKind::Liveliness).next_moment(), None, "an automatic publisher has no lease to watch");
}

/// A type of eight bytes, whose slots are small.
fn small_type() -> TypeInfo {
    TypeInfo { fixed_size: Some(8), ..bytes_type() }
}

#[test]
fn what_keep_last_replaces_is_not_lost() {
    let context = context(domain());
    let node = node(&context, "n");
    let (reader, writer) = (subscription(&node, "/t", depth(2)), publisher(&node, "/t", depth(2)));
    let event = reader.event(EventKind::MessageLost);
    for i in 0..50u8 {
        send(&writer, [i]);
    }
    assert_eq!(take_all(&reader), [[48], [49]]);
    assert!(!is_ready(&context, event));
    assert_eq!(event.take().unwrap(), Status::Counted(totals(0, 0)));
}

#[test]
fn what_keep_all_could_not_keep_is_lost_and_told() {
    const MORE: u64 = 100;
    let context = context(domain());
    let node = node(&context, "n");
    let all = Qos { history: History::KeepAll, ..best_effort() };
    let writer = Publisher::new(&node, "/t", small_type(), all).unwrap();
    let reader = Subscription::new(&node, "/t", small_type(), all, SubscriptionOptions::default()).unwrap();
    let event = reader.event(EventKind::MessageLost);
    let sent = 65_536 + MORE;
    for i in 0..sent {
        send(&writer, i.to_le_bytes());
    }
    let first = take(&reader).expect("a sample").0;
    assert_eq!(first, MORE.to_le_bytes(), "the newest 65,536 are kept");
    assert!(is_ready(&context, event));
    assert_eq!(event.take().unwrap(), Status::Counted(totals(MORE, MORE)));
    assert_eq!(event.take().unwrap(), Status::Counted(totals(MORE, 0)));
}

/// Has the event call into a channel.
fn calls(event: Event<'_>) -> std::sync::mpsc::Receiver<usize> {
    let (tell, told) = std::sync::mpsc::channel();
    // The receiver may be gone when the callback is cleared late.
    let call = move |count| {
        let _ = tell.send(count);
    };
    event.on_new(Some(Arc::new(call))).expect("a callback can be set");
    told
}

#[test]
fn callbacks_get_the_backlog_and_then_each_event_once() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (near, far) = (node(&a, "near"), node(&b, "far"));
    let writer = publisher(&near, "/t", Qos::default());
    let (one, _two) = (subscription(&far, "/t", Qos::default()), subscription(&far, "/t", Qos::default()));
    let event = writer.event(EventKind::Matched);
    let told = calls(event);
    assert_eq!(told.recv_timeout(LOST), Ok(2), "two were there");
    let _three = subscription(&far, "/t", Qos::default());
    assert_eq!(told.recv_timeout(LOST), Ok(1));
    drop(one);
    assert_eq!(told.recv_timeout(LOST), Ok(1), "one that goes is an event, too");
    event.on_new(None).unwrap();
    let _four = subscription(&far, "/t", Qos::default());
    assert_eq!(event.take().unwrap(), matched((4, 4), (3, 3)), "a call takes nothing");
    let _five = subscription(&far, "/t", Qos::default());
    assert_eq!(calls(event).recv_timeout(LOST), Ok(1), "what was taken meanwhile is not reported");
    drop(writer);
}

#[test]
fn callbacks_are_called_when_time_has_passed() {
    let context = context(domain());
    let node = node(&context, "n");
    let manual = Qos { liveliness: Liveliness::ManualByTopic, lease: 50 * MS, deadline: 50 * MS, ..Qos::default() };
    let (reader, writer) = (subscription(&node, "/t", manual), publisher(&node, "/t", manual));
    let kinds = [EventKind::DeadlineMissed, EventKind::Liveliness];
    let told = kinds.map(|kind| (calls(writer.event(kind)), calls(reader.event(kind))));
    std::thread::sleep(Duration::from_millis(100));
    assert!(told.iter().all(|(w, r)| w.try_recv().is_err() && r.try_recv().is_err()), "nothing happened yet");
    send(&writer, *b"x");
    for (of_writer, of_reader) in told {
        assert!(of_writer.recv_timeout(LOST).is_ok_and(|count| count > 0));
        assert!(of_reader.recv_timeout(LOST).is_ok_and(|count| count > 0));
    }
}

#[test]
fn events_end_with_their_context_without_harm() {
    let context = context(domain());
    let node = node(&context, "n");
    let reader: Arc<Subscription> =
        Subscription::new(&node, "/t", bytes_type(), Qos::default(), SubscriptionOptions::default()).unwrap();
    context.shutdown().unwrap();
    let event = reader.event(EventKind::Matched);
    assert_eq!(event.take().unwrap(), matched((0, 0), (0, 0)));
}
