//! A shutdown while other threads of the process are in the middle of something.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Mutex;
use std::time::Duration;

use common::*;
use shoal_rmw::{wait, Encapsulation, GuardCondition, Outcome, Outgoing, Result, Waitable, CDR_LITTLE_ENDIAN};

/// A message that is serialized when it is told to.
struct Slow {
    reached: Sender<()>,
    go: Mutex<Receiver<()>>,
}

impl Outgoing for Slow {
    fn size(&self) -> Result<usize> {
        Ok(4)
    }

    fn encapsulation(&self) -> Encapsulation {
        CDR_LITTLE_ENDIAN
    }

    fn write(&self, out: &mut [u8]) -> Result<usize> {
        self.reached.send(()).expect("the test listens");
        self.go.lock().expect("not poisoned").recv().expect("the test says go");
        out.copy_from_slice(b"late");
        Ok(4)
    }
}

#[test]
fn a_publication_under_way_does_not_write_into_the_next_owner_of_its_slot() {
    let domain = domain();
    let (old, new, reader) = (context(domain), context(domain), context(domain));
    let publisher = publisher(&node(&old, "old"), "/old", depth(10));
    for n in 0..20 {
        send(&publisher, vec![n]);
    }
    let ((reached, is_reached), (go, going)) = (channel(), channel());
    let late = std::thread::spawn(move || publisher.publish(&Slow { reached, go: Mutex::new(going) }).is_ok());
    is_reached.recv().expect("the publication is under way");
    let (has_left, left) = channel();
    let leaver = {
        let old = old.clone();
        std::thread::spawn(move || {
            old.shutdown().expect("a shutdown works");
            has_left.send(()).expect("the test listens");
        })
    };
    // A shutdown that does not wait for the publication is through by then, and its slots are everybody's.
    let _ = left.recv_timeout(Duration::from_millis(300));
    let node = node(&new, "new");
    let publishers: Vec<_> = (0..100).map(|n| common::publisher(&node, &format!("/new{n}"), depth(10))).collect();
    go.send(()).expect("the publication waits");
    late.join().expect("the publication ends");
    leaver.join().expect("the shutdown ends");
    let reading = common::node(&reader, "reader");
    for (n, publisher) in publishers.iter().enumerate() {
        let subscription = subscription(&reading, &format!("/new{n}"), depth(10));
        assert_eq!(send(publisher, vec![7]), 1);
        assert_eq!(take_all(&subscription), [vec![7]], "topic {n}");
    }
}

#[test]
fn a_shutdown_ends_an_endless_wait() {
    let context = context(domain());
    let subscription = subscription(&node(&context, "n"), "/t", depth(1));
    let waiter = {
        let context = context.clone();
        std::thread::spawn(move || wait(&context, &[Waitable::Subscription(&subscription)], &mut [false], None))
    };
    // Most likely the wait has begun by then; one that begins later ends as well.
    std::thread::sleep(Duration::from_millis(50));
    context.shutdown().expect("a shutdown works");
    assert_eq!(waiter.join().expect("the wait ends").expect("without an error"), Outcome::TimedOut);
}

/// An executor is told of a shutdown by a guard condition, after the shutdown, and takes any other end of an endless wait for
/// an error.
#[test]
fn a_shutdown_leaves_the_end_of_a_wait_to_its_guard_condition() {
    for _ in 0..200 {
        let context = context(domain());
        let subscription = subscription(&node(&context, "n"), "/t", depth(1));
        let guard = GuardCondition::new(&context);
        let (waiting, triggered) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let mut ready = [false; 2];
                let items = [Waitable::Subscription(&subscription), Waitable::Guard(&guard)];
                waiting.store(true, Ordering::Release);
                let outcome = wait(&context, &items, &mut ready, None).expect("without an error");
                (outcome, ready, triggered.load(Ordering::Acquire))
            });
            while !waiting.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            context.shutdown().expect("a shutdown works");
            // Long enough for a waiter that the shutdown ends to be seen, most times.
            (0..1_000).for_each(|_| std::thread::yield_now());
            triggered.store(true, Ordering::Release);
            guard.trigger();
            assert_eq!(waiter.join().expect("the wait ends"), (Outcome::Ready, [false, true], true));
        });
    }
}
