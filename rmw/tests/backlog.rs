//! What was there before a callback is reported by whoever sets it, before setting returns, as executors count on.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::*;
use shoal_rmw::{Callback, Subscription};

/// How long something may take before the test calls it lost.
const LOST: Duration = Duration::from_secs(30);

fn adding_to(sum: &Arc<AtomicUsize>) -> Option<Callback> {
    let sum = sum.clone();
    Some(Arc::new(move |count| {
        sum.fetch_add(count, Ordering::Release);
    }))
}

fn set(subscription: &Subscription, callback: Option<Callback>) {
    subscription.on_new_message(callback).expect("a callback can be set");
}

#[test]
fn setting_a_callback_returns_when_it_knows_the_backlog() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (reader, writer) = (node(&a, "s"), node(&b, "p"));
    let publisher = publisher(&writer, "/t", depth(10));
    let subscriptions: Vec<_> = (0..20).map(|_| subscription(&reader, "/t", depth(10))).collect();
    for round in 1..=20 {
        send(&publisher, *b"x");
        for subscription in &subscriptions {
            let sum = Arc::default();
            set(subscription, adding_to(&sum));
            assert_eq!(sum.load(Ordering::Acquire), 1, "in round {round}");
        }
        for subscription in &subscriptions {
            set(subscription, None);
            assert_eq!(take_all(subscription).len(), 1);
        }
    }
}

#[test]
fn the_call_with_the_backlog_may_clear_and_set_its_own_and_others() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let reader = node(&a, "s");
    let publisher = publisher(&node(&b, "p"), "/t", depth(10));
    let (one, two) = (subscription(&reader, "/t", depth(10)), subscription(&reader, "/t", depth(10)));
    send(&publisher, *b"1");
    let (sum, done) = (Arc::default(), Arc::new(AtomicUsize::new(0)));
    let (mine, other, theirs, inner) = (one.clone(), two.clone(), adding_to(&sum), done.clone());
    set(
        &one,
        Some(Arc::new(move |_| {
            set(&mine, None);
            set(&other, theirs.clone());
            inner.fetch_add(1, Ordering::Release);
        })),
    );
    assert_eq!(done.load(Ordering::Acquire), 1);
    while sum.load(Ordering::Acquire) == 0 {
        std::thread::yield_now();
    }
    assert_eq!(sum.load(Ordering::Acquire), 1);
}

#[test]
fn clearing_waits_for_the_call_with_the_backlog() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&b, "p"), "/t", depth(10));
    let subscription = subscription(&node(&a, "s"), "/t", depth(10));
    send(&publisher, *b"1");
    let (entered, has_entered) = channel();
    let finished = Arc::new(AtomicUsize::new(0));
    let inner = finished.clone();
    std::thread::scope(|scope| {
        let setter = scope.spawn(|| {
            set(
                &subscription,
                Some(Arc::new(move |_| {
                    entered.send(()).expect("the test waits");
                    // Time for the other thread to be wrong in; it is right however long this takes.
                    (0..1000).for_each(|_| std::thread::yield_now());
                    inner.fetch_add(1, Ordering::Release);
                })),
            );
        });
        has_entered.recv_timeout(LOST).expect("the call with the backlog");
        set(&subscription, None);
        assert_eq!(finished.load(Ordering::Acquire), 1, "cleared while the call ran");
        setter.join().expect("the setter");
    });
}

#[test]
fn what_comes_during_the_call_with_the_backlog_is_reported_after_it() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&b, "p"), "/t", depth(10));
    let subscription = subscription(&node(&a, "s"), "/t", depth(10));
    send(&publisher, *b"1");
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (reported, reports) = channel();
    let sent = Mutex::new(false);
    set(
        &subscription,
        Some(Arc::new(move |count| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            if !std::mem::replace(&mut *sent.lock().unwrap(), true) {
                send(&publisher, *b"2");
            }
            running.fetch_sub(1, Ordering::SeqCst);
            reported.send((count, most.load(Ordering::SeqCst))).expect("the test waits");
        })),
    );
    for nth in ["the backlog", "what came during its call"] {
        assert_eq!(reports.recv_timeout(LOST), Ok((1, 1)), "{nth}");
    }
}
