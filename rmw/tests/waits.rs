//! Waiting: nothing that happens is slept through, and nothing that did not happen is reported.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::*;
use shoal_rmw::{sleep_at_once, wait, Context, GuardCondition, Outcome, Waitable};

/// How long a waiter may sleep before the test calls the wake-up lost.
const LOST: Duration = Duration::from_secs(20);

fn wait_for(context: &Arc<Context>, item: Waitable<'_>, timeout: Option<Duration>) -> Outcome {
    wait(context, &[item], &mut [false], timeout).expect("waiting works")
}

#[test]
fn time_out_is_not_early_and_zero_only_looks() {
    let context = context(domain());
    let guard = GuardCondition::new(&context);
    for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(1), Duration::from_millis(300)] {
        let start = Instant::now();
        assert_eq!(wait_for(&context, Waitable::Guard(&guard), Some(timeout)), Outcome::TimedOut);
        assert!(start.elapsed() >= timeout);
    }
}

#[test]
fn endless_waits_end_by_a_trigger_only() {
    let context = context(domain());
    for timeout in [None, Some(Duration::MAX), Some(Duration::from_secs(60 * 86_400))] {
        let guard = GuardCondition::new(&context);
        let trigger = guard.clone();
        let late = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            trigger.trigger();
        });
        assert_eq!(wait_for(&context, Waitable::Guard(&guard), timeout), Outcome::Ready);
        late.join().expect("the trigger ran");
    }
}

#[test]
fn guard_condition_is_reported_once() {
    let context = context(domain());
    let (one, two) = (GuardCondition::new(&context), GuardCondition::new(&context));
    two.trigger();
    two.trigger();
    let mut ready = [true, false];
    let items = [Waitable::Guard(&one), Waitable::Guard(&two)];
    assert_eq!(wait(&context, &items, &mut ready, None).expect("waiting works"), Outcome::Ready);
    assert_eq!(ready, [false, true]);
    assert_eq!(wait_for(&context, Waitable::Guard(&two), Some(Duration::ZERO)), Outcome::TimedOut);
}

#[test]
fn items_of_another_context_end_the_wait_as_well() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (own, foreign) = (GuardCondition::new(&a), GuardCondition::new(&b));
    let trigger = foreign.clone();
    let late = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        trigger.trigger();
    });
    let mut ready = [false, false];
    let items = [Waitable::Guard(&own), Waitable::Guard(&foreign)];
    assert_eq!(wait(&a, &items, &mut ready, Some(LOST)).expect("waiting works"), Outcome::Ready);
    assert_eq!(ready, [false, true]);
    late.join().expect("the trigger ran");
}

#[test]
fn graph_changes_end_a_wait_on_the_graph() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let watcher = node(&a, "watcher");
    let graph = Waitable::Guard(watcher.graph_guard());
    // What was there before is old news.
    let _ = wait_for(&a, graph, Some(Duration::ZERO));
    let stage = AtomicU32::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut made: Vec<Box<dyn std::any::Any>> = Vec::new();
            let node = node(&b, "maker");
            for step in 1..=10 {
                while stage.load(Ordering::Acquire) < step {
                    std::thread::yield_now();
                }
                match step {
                    1 => made.push(Box::new(common::node(&b, "x"))),
                    2 => made.push(Box::new(publisher(&node, "/t", depth(1)))),
                    3 => made.push(Box::new(subscription(&node, "/t", depth(1)))),
                    4 => made.push(Box::new(service(&node, "/s"))),
                    5 => made.push(Box::new(client(&node, "/s"))),
                    _ => drop(made.pop()),
                }
            }
        });
        let _ = wait_for(&a, graph, Some(LOST));
        for step in 1..=10 {
            stage.store(step, Ordering::Release);
            assert_eq!(wait_for(&a, graph, Some(LOST)), Outcome::Ready, "step {step}");
            while wait_for(&a, graph, Some(Duration::from_millis(20))) == Outcome::Ready {}
        }
    });
}

/// A sender and a waiter take turns, so that each arrival races the other's parking; a lost wake-up is a time-out.
fn race(rounds: u32, send: impl Fn() + Sync, mut receive: impl FnMut()) {
    let (turn, failed) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=rounds {
                while turn.load(Ordering::Acquire) < round && !failed.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
                // A different distance to the waiter's parking each time.
                (0..round % 613).for_each(|_| std::hint::spin_loop());
                send();
            }
        });
        // A waiter that looks for a moment would not park.
        sleep_at_once();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for round in 1..=rounds {
                turn.store(round, Ordering::Release);
                receive();
            }
        }));
        turn.store(u32::MAX, Ordering::Release);
        failed.store(outcome.is_err(), Ordering::Relaxed);
        outcome.expect("no wake-up was lost");
    });
}

#[test]
fn no_trigger_is_lost_in_100_000_races_against_parking() {
    let context = context(domain());
    let guard = GuardCondition::new(&context);
    race(
        100_000,
        || guard.trigger(),
        || {
            assert_eq!(wait_for(&context, Waitable::Guard(&guard), Some(LOST)), Outcome::Ready);
        },
    );
}

#[test]
fn no_sample_is_lost_in_100_000_races_against_parking() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (publisher, reader) = (publisher(&node(&a, "p"), "/t", depth(1)), subscription(&node(&b, "r"), "/t", depth(1)));
    let idle: Vec<_> = (0..20).map(|_| subscription(&node(&b, "idle"), "/idle", depth(1))).collect();
    let mut items: Vec<_> = idle.iter().map(|idle| Waitable::Subscription(idle)).collect();
    items.push(Waitable::Subscription(&reader));
    let mut ready = vec![false; items.len()];
    race(
        100_000,
        || {
            send(&publisher, [1]);
        },
        || {
            assert_eq!(wait(&b, &items, &mut ready, Some(LOST)).expect("waiting works"), Outcome::Ready);
            assert_eq!(ready.iter().filter(|ready| **ready).count(), 1);
            assert!(take(&reader).is_some());
        },
    );
}

#[test]
fn no_graph_change_is_lost_in_100_000_races_against_parking() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let watcher = node(&a, "watcher");
    let graph = Waitable::Guard(watcher.graph_guard());
    let _ = wait_for(&a, graph, Some(Duration::ZERO));
    let maker = node(&b, "maker");
    while wait_for(&a, graph, Some(Duration::from_millis(20))) == Outcome::Ready {}
    // A publisher comes and goes by turns. It comes in two steps, so a round may end by the second step of the last one;
    // each round makes a change all the same, and a wait that sleeps through it fails.
    let made = std::sync::Mutex::new(None);
    race(
        100_000,
        || {
            let mut made = made.lock().expect("one sender");
            *made = match made.take() {
                None => Some(publisher(&maker, "/t", depth(1))),
                Some(_) => None,
            };
        },
        || assert_eq!(wait_for(&a, graph, Some(LOST)), Outcome::Ready),
    );
}

#[test]
fn no_request_or_response_is_lost_in_races_against_parking() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (service, client) = (service(&node(&a, "s"), "/s"), client(&node(&b, "c"), "/s"));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        sleep_at_once();
        scope.spawn(|| {
            sleep_at_once();
            while !stop.load(Ordering::Acquire) {
                let _ = wait_for(&a, Waitable::Service(&service), Some(Duration::from_millis(100)));
                let mut body = Vec::new();
                let taken = service.take(&mut |incoming| {
                    body = bytes(incoming);
                    Ok(())
                });
                if let Some(info) = taken.expect("taking works") {
                    service.respond(info.client, info.sequence, &Bytes(body)).expect("responding works");
                }
            }
        });
        for round in 0..100_000u32 {
            client.send(&Bytes(round.to_le_bytes().to_vec())).expect("sending works");
            assert_eq!(wait_for(&b, Waitable::Client(&client), Some(LOST)), Outcome::Ready, "round {round}");
            let mut answer = Vec::new();
            let taken = client.take(&mut |incoming| {
                answer = bytes(incoming);
                Ok(())
            });
            assert_eq!(taken.expect("taking works").map(|info| info.sequence), Some(i64::from(round) + 1));
            assert_eq!(answer, round.to_le_bytes());
        }
        stop.store(true, Ordering::Release);
    });
}

#[test]
fn join_races_publish_and_each_sample_comes_exactly_once() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (pub_node, sub_node) = (node(&a, "p"), node(&b, "r"));
    for round in 0..1_000u32 {
        let go = AtomicU32::new(0);
        let topic = format!("/join_{}", round % 7);
        std::thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let publisher = publisher(&pub_node, &topic, latched(10));
                go.store(1, Ordering::Release);
                (0..10u8).for_each(|number| {
                    (0..round % 101).for_each(|_| std::hint::spin_loop());
                    send(&publisher, [number]);
                });
                publisher
            });
            if round % 2 == 0 {
                while go.load(Ordering::Acquire) == 0 {
                    std::hint::spin_loop();
                }
            }
            (0..round % 1009).for_each(|_| std::hint::spin_loop());
            let reader = subscription(&sub_node, &topic, latched(10));
            let mut got = Vec::new();
            let end = Instant::now() + LOST;
            while got.len() < 10 {
                assert!(Instant::now() < end, "round {round}: only {got:?} arrived");
                let _ = wait_for(&b, Waitable::Subscription(&reader), Some(LOST));
                got.extend(take_all(&reader).into_iter().flatten());
            }
            let publisher = sender.join().expect("the sender works");
            got.extend(take_all(&reader).into_iter().flatten());
            assert_eq!(got, (0..10).collect::<Vec<u8>>(), "round {round}");
            drop(publisher);
        });
    }
}
