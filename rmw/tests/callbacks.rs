//! Callbacks: everything that comes is counted once, without anybody waiting, and nothing is called after its end.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use common::*;
use shoal_rmw::{wait, Callback, Context, ErrorKind, Publisher, Subscription, Waitable};

/// How long something may take before the test calls it lost.
const LOST: Duration = Duration::from_secs(30);

/// Adds up what it is called with.
#[derive(Default)]
struct Sum {
    count: AtomicUsize,
    calls: AtomicUsize,
}

impl Sum {
    fn new() -> Arc<Sum> {
        Arc::default()
    }

    fn callback(self: &Arc<Self>) -> Option<Callback> {
        let sum = self.clone();
        Some(Arc::new(move |count| {
            assert_ne!(count, 0, "a call without news");
            sum.calls.fetch_add(1, Ordering::Relaxed);
            sum.count.fetch_add(count, Ordering::Release);
        }))
    }

    fn get(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Waits until the sum is `wanted`; more is as wrong as less.
    fn reaches(&self, wanted: usize) {
        until(&format!("a count of {wanted}"), || self.get() >= wanted);
        assert_eq!(self.get(), wanted);
    }
}

fn until(what: &str, done: impl Fn() -> bool) {
    let end = Instant::now() + LOST;
    while !done() {
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::yield_now();
    }
}

fn burst(publisher: &Publisher, count: usize) {
    for _ in 0..count {
        send(publisher, *b"x");
    }
}

fn set(subscription: &Subscription, callback: Option<Callback>) {
    subscription.on_new_message(callback).expect("a callback can be set");
}

#[test]
fn backlog_is_reported_and_each_new_message_once_though_nobody_waits() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let subscription = subscription(&node(&a, "s"), "/t", depth(2000));
    let publisher = publisher(&node(&b, "p"), "/t", depth(2000));
    let sum = Sum::new();
    burst(&publisher, 100);
    set(&subscription, sum.callback());
    sum.reaches(100);
    burst(&publisher, 1000);
    sum.reaches(1100);
    assert_eq!(take_all(&subscription).len(), 1100);
    set(&subscription, None);
    burst(&publisher, 10);
    assert_eq!(sum.get(), 1100);
    set(&subscription, sum.callback());
    sum.reaches(1110);
}

#[test]
fn messages_are_reported_once_whatever_the_callback() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let subscription = subscription(&node(&a, "s"), "/t", depth(10));
    let publisher = publisher(&node(&b, "p"), "/t", depth(10));
    let (one, two, three) = (Sum::new(), Sum::new(), Sum::new());
    set(&subscription, one.callback());
    send(&publisher, *b"1");
    one.reaches(1);
    set(&subscription, two.callback());
    send(&publisher, *b"2");
    two.reaches(1);
    set(&subscription, None);
    burst(&publisher, 3);
    set(&subscription, three.callback());
    three.reaches(3);
    assert_eq!((one.get(), two.get()), (1, 1));
    assert_eq!(take_all(&subscription).len(), 5);
}

#[test]
fn what_was_taken_or_dropped_before_the_callback_is_no_backlog() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let subscription = subscription(&node(&a, "s"), "/t", depth(5));
    let node = node(&b, "p");
    let (one, two) = (publisher(&node, "/t", depth(5)), publisher(&node, "/t", depth(5)));
    burst(&one, 4);
    burst(&two, 4);
    for _ in 0..2 {
        take(&subscription).expect("one of the newest five");
    }
    let sum = Sum::new();
    set(&subscription, sum.callback());
    sum.reaches(3);
    assert_eq!(take_all(&subscription).len(), 3);
    set(&subscription, None);
    burst(&one, 4);
    take(&subscription).expect("one of four");
    let again = Sum::new();
    set(&subscription, again.callback());
    again.reaches(3);
    send(&two, *b"2");
    again.reaches(4);
}

#[test]
fn history_is_backlog_and_a_publisher_that_leaves_is_counted() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let writer = node(&b, "p");
    let first = publisher(&writer, "/t", latched(3));
    burst(&first, 5);
    let subscription = subscription(&node(&a, "s"), "/t", latched(10));
    let sum = Sum::new();
    set(&subscription, sum.callback());
    sum.reaches(3);
    for round in 1..=200 {
        send(&publisher(&writer, "/t", latched(3)), *b"brief");
        let _ = take_all(&subscription);
        sum.reaches(3 + round);
    }
}

#[test]
fn what_was_taken_and_whose_publisher_is_gone_before_the_thread_looks_is_counted() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let subscription = subscription(&node(&a, "s"), "/t", depth(10));
    let writer = node(&b, "p");
    let (begun, begins) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let sum = Sum::new();
    let total = sum.clone();
    set(
        &subscription,
        Some(Arc::new(move |count| {
            let _ = begun.send(());
            // Holds up the first call; once the other end is dropped, none.
            let _ = released.lock().unwrap().recv_timeout(LOST);
            total.count.fetch_add(count, Ordering::Release);
        })),
    );
    send(&publisher(&writer, "/t", depth(10)), *b"x");
    begins.recv_timeout(LOST).expect("a call");
    for _ in 0..100 {
        send(&publisher(&writer, "/t", depth(10)), *b"x");
        assert!(!take_all(&subscription).is_empty());
    }
    drop(release);
    sum.reaches(101);
}

#[test]
fn requests_and_responses_are_counted() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let service = service(&node(&a, "s"), "/s");
    let node = node(&b, "c");
    let clients: Vec<_> = (0..8).map(|_| client(&node, "/s")).collect();
    let (requests, responses) = (Sum::new(), Sum::new());
    clients[0].send(&Bytes(b"early".to_vec())).expect("sending works");
    service.on_new_request(requests.callback()).expect("a callback can be set");
    clients[0].on_new_response(responses.callback()).expect("a callback can be set");
    requests.reaches(1);
    for round in 1..=50 {
        for client in &clients {
            client.send(&Bytes(b"?".to_vec())).expect("sending works");
        }
        requests.reaches(1 + round * clients.len());
    }
    let mut answered = 0;
    while let Some(request) = service.take(&mut |_| Ok(())).expect("taking works") {
        service.respond(request.client, request.sequence, &Bytes(b"!".to_vec())).expect("answering works");
        answered += 1;
    }
    assert_eq!(answered, 401);
    responses.reaches(51);
    clients[0].on_new_response(None).expect("a callback can be cleared");
    assert_eq!(std::iter::from_fn(|| clients[0].take(&mut |_| Ok(())).expect("taking works")).count(), 51);
    // Of those that had no callback everything is backlog.
    let late = Sum::new();
    clients[7].on_new_response(late.callback()).expect("a callback can be set");
    late.reaches(50);
}

/// One context publishes as fast as it can, while `beside` runs in a thread of the other one until the end.
fn flood(messages: usize, qos: u32, sum: &Arc<Sum>, beside: impl Fn(&Arc<Context>, &Subscription) + Sync) {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let subscription = subscription(&node(&a, "s"), "/t", depth(qos));
    let node = node(&b, "p");
    let writers: Vec<_> = (0..2).map(|_| publisher(&node, "/t", depth(qos))).collect();
    set(&subscription, sum.callback());
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                beside(&a, &subscription);
            }
        });
        let senders: Vec<_> = writers.iter().map(|writer| scope.spawn(|| burst(writer, messages / 2))).collect();
        senders.into_iter().for_each(|sender| sender.join().expect("the sender ran"));
        done.store(true, Ordering::Release);
    });
    let last = Sum::new();
    set(&subscription, last.callback());
    until("the rest", || sum.get() + last.get() >= messages);
    assert_eq!(sum.get() + last.get(), messages);
}

#[test]
fn every_message_is_counted_once_while_another_thread_takes() {
    flood(100_000, 100, &Sum::new(), |_, subscription| drop(take_all(subscription)));
}

#[test]
fn every_message_is_counted_once_while_another_thread_waits_and_takes() {
    flood(20_000, 100, &Sum::new(), |context, subscription| {
        let items = [Waitable::Subscription(subscription)];
        let _ = wait(context, &items, &mut [false], Some(Duration::from_millis(1))).expect("waiting works");
        let _ = take_all(subscription);
    });
}

#[test]
fn every_message_is_counted_once_while_callbacks_are_replaced() {
    let sum = Sum::new();
    flood(100_000, 100, &sum.clone(), |_, subscription| {
        set(subscription, sum.callback());
        let _ = take_all(subscription);
    });
}

#[test]
fn cleared_callbacks_are_not_called_and_leave_nothing_uncounted() {
    let sum = Sum::new();
    flood(4_000, 8_000, &sum.clone(), |_, subscription| {
        let alive = Arc::new(AtomicBool::new(true));
        let (seen, total) = (alive.clone(), sum.clone());
        set(
            subscription,
            Some(Arc::new(move |count| {
                assert!(seen.load(Ordering::SeqCst), "called after it was cleared");
                total.count.fetch_add(count, Ordering::Release);
                std::thread::yield_now();
                // The one who clears it waits for this.
                if !seen.load(Ordering::SeqCst) {
                    eprintln!("cleared in the middle of a call");
                    std::process::abort();
                }
            })),
        );
        std::thread::yield_now();
        set(subscription, None);
        alive.store(false, Ordering::SeqCst);
    });
}

#[test]
fn a_callback_may_take_clear_replace_and_drop_its_own() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&b, "p"), "/t", depth(10));
    let subscription = subscription(&node(&a, "s"), "/t", depth(10));
    let second = Sum::new();
    let (done, ended) = channel();
    let held = Arc::new(Mutex::new(Some(subscription.clone())));
    let (inner, next) = (held.clone(), second.clone());
    set(
        &subscription,
        Some(Arc::new(move |_| {
            let subscription = inner.lock().unwrap().clone().expect("not dropped yet");
            assert_eq!(take_all(&subscription).len(), 1);
            set(&subscription, None);
            set(&subscription, next.callback());
            done.send(()).expect("the test waits");
        })),
    );
    send(&publisher, *b"1");
    ended.recv_timeout(LOST).expect("the callback clears and replaces itself");
    send(&publisher, *b"2");
    second.reaches(1);
    let (done, ended) = channel();
    set(
        &subscription,
        Some(Arc::new(move |_| {
            drop(held.lock().unwrap().take());
            done.send(()).expect("the test waits");
        })),
    );
    drop(subscription);
    send(&publisher, *b"3");
    ended.recv_timeout(LOST).expect("the callback drops its subscription");
    until("its leaving the graph", || publisher.matched_subscriptions().expect("a count") == 0);
}

#[test]
fn callbacks_that_clear_each_other_do_not_wait_for_each_other() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&b, "p"), "/t", depth(10));
    let reader = node(&a, "s");
    let pair = Arc::new([subscription(&reader, "/t", depth(10)), subscription(&reader, "/t", depth(10))]);
    let calls = Arc::new(AtomicU64::new(0));
    for round in 0..200 {
        for (mine, other) in [(0, 1), (1, 0)] {
            let (inside, calls) = (pair.clone(), calls.clone());
            set(
                &pair[mine],
                Some(Arc::new(move |_| {
                    set(&inside[other], None);
                    calls.fetch_add(1, Ordering::Release);
                })),
            );
        }
        send(&publisher, *b"x");
        until("a call", || calls.load(Ordering::Acquire) > round);
        pair.iter().for_each(|subscription| drop(take_all(subscription)));
        pair.iter().for_each(|subscription| set(subscription, None));
        calls.store(round + 1, Ordering::Release);
    }
}

#[test]
fn shutdown_with_callbacks_does_not_wait_for_the_users_code_and_ends_the_calls() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&b, "p"), "/t", depth(10));
    let subscription = subscription(&node(&a, "s"), "/t", depth(10));
    let (begun, begins) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    set(
        &subscription,
        Some(Arc::new(move |_| {
            counted.fetch_add(1, Ordering::Release);
            begun.send(()).expect("the test waits");
            // What an interpreter's lock does, which the thread that shuts down holds.
            if released.lock().unwrap().recv_timeout(LOST).is_err() {
                eprintln!("the shutdown waits for the callback");
                std::process::abort();
            }
        })),
    );
    send(&publisher, *b"1");
    begins.recv_timeout(LOST).expect("a call");
    send(&publisher, *b"2");
    a.shutdown().expect("the context leaves");
    release.send(()).expect("the callback waits");
    let again = subscription.on_new_message(Sum::new().callback()).expect_err("shut down");
    assert_eq!(again.kind(), ErrorKind::Error);
    set(&subscription, None);
    assert_eq!(calls.load(Ordering::Acquire), 1);
}

#[test]
fn contexts_end_while_messages_come() {
    let domain = domain();
    let other = context(domain);
    let publisher = publisher(&node(&other, "p"), "/t", depth(10));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                send(&publisher, *b"x");
            }
        });
        for round in 0..100 {
            let context = context(domain);
            let subscription = subscription(&node(&context, "s"), "/t", depth(10));
            let sum = Sum::new();
            set(&subscription, sum.callback());
            until("a call", || sum.get() > 0);
            if round % 2 == 0 {
                context.shutdown().expect("the context leaves");
            }
        }
        done.store(true, Ordering::Release);
    });
}

/// A line of the status of a thread of this process.
fn status(thread: i32, name: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/status")).expect("the thread lives");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line of the status");
    line.trim().to_string()
}

#[test]
fn the_thread_has_a_name_takes_no_signals_sleeps_when_idle_and_ends() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&b, "p"), "/t", depth(10));
    let subscription = subscription(&node(&a, "s"), "/t", depth(10));
    let thread = Arc::new(OnceLock::new());
    let inside = thread.clone();
    set(
        &subscription,
        Some(Arc::new(move |_| {
            // SAFETY: takes nothing and always succeeds.
            let _ = inside.set(unsafe { libc::gettid() });
        })),
    );
    send(&publisher, *b"x");
    until("a call", || thread.get().is_some());
    let thread = *thread.get().expect("a call");
    assert_eq!(status(thread, "Name:"), "shoal-notify");
    // Everything that can be blocked but the two signals that the C library keeps for itself.
    assert_eq!(status(thread, "SigBlk:"), "fffffffe7ffbfeff");
    until("its sleep", || status(thread, "State:").starts_with('S'));
    let wakes = || status(thread, "voluntary_ctxt_switches:");
    let before = wakes();
    // Long enough that a poll would show.
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(wakes(), before, "it wakes though nothing happens");
    a.shutdown().expect("the context leaves");
    until("its end", || !std::path::Path::new(&format!("/proc/self/task/{thread}")).exists());
}

#[test]
fn a_forked_child_refuses_and_cleans_up_without_the_thread() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&b, "p"), "/t", depth(10));
    let subscription = subscription(&node(&a, "s"), "/t", depth(10));
    let sum = Sum::new();
    set(&subscription, sum.callback());
    let mut sent = 0;
    for _ in 0..20 {
        // So that the thread is at work at the moment of the fork, maybe with a lock of ours.
        burst(&publisher, 10);
        sent += 10;
        // SAFETY: the child touches what a forked child may: it calls in here, which must refuse, and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: arms the default action, which ends a child that blocks.
            unsafe { libc::alarm(20) };
            let refused =
                subscription.on_new_message(None).is_err() && subscription.on_new_message(sum.callback()).is_err();
            drop((subscription, publisher, a, b));
            // SAFETY: ends the child at once.
            unsafe { libc::_exit(if refused { 0 } else { 1 }) };
        }
        let mut ended = 0;
        // SAFETY: the child just made.
        assert_eq!(unsafe { libc::waitpid(child, &mut ended, 0) }, child);
        assert_eq!(ended, 0, "the child's end");
    }
    sum.reaches(sent);
}
