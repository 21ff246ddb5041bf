//! Several topics joined at one instant of each process that publishes on them.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use common::*;
use shoal_rmw::{Publisher, Subscription};

const TOPICS: [&str; 3] = ["/a", "/b", "/c"];
/// How far each process publishes while the reader joins.
const ENOUGH: u64 = 20_000;

/// Sends one sample on each topic in turn, until told to stop.
fn send_in_turn(publishers: &[Arc<Publisher>], stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        publishers.iter().for_each(|publisher| assert!(send(publisher, [1]) > 0));
    }
}

fn bounds(subscriptions: &[Arc<Subscription>], publishers: &[Arc<Publisher>]) -> Vec<u64> {
    let each = subscriptions.iter().zip(publishers);
    each.map(|(subscription, publisher)| subscription.join_bound(&publisher.gid()).expect("it is there")).collect()
}

#[test]
fn topics_that_are_joined_at_once_begin_at_one_point_of_their_publishers_order() {
    let domain = domain();
    let contexts = [context(domain), context(domain)];
    let reader = node(&context(domain), "s");
    let writers = [0, 1].map(|writer| {
        let node = node(&contexts[writer], "p");
        TOPICS.map(|topic| publisher(&node, topic, depth(10)))
    });
    let subscriptions = TOPICS.map(|topic| subscription(&reader, topic, depth(1000)));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        writers.iter().for_each(|publishers| drop(scope.spawn(|| send_in_turn(publishers, &stop))));
        let mut least = 0;
        while least < ENOUGH {
            least = u64::MAX;
            // In an order that is not the publishers', and one of them twice.
            let chosen = [2, 0, 1, 0].map(|index: usize| &*subscriptions[index]);
            Subscription::join_many(&chosen).expect("they stand still for a moment");
            for publishers in &writers {
                let [a, b, c] = bounds(&subscriptions, publishers)[..] else { panic!("three topics") };
                assert!(a >= b && b >= c && c + 1 >= a, "{a} {b} {c}");
                least = least.min(c);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn what_was_sent_before_a_join_comes_from_history_once_and_what_comes_after_is_live() {
    let domain = domain();
    let (a, reader) = (context(domain), node(&context(domain), "s"));
    let writer = node(&a, "p");
    let publishers = [publisher(&writer, "/a", latched(2)), publisher(&writer, "/b", depth(10))];
    let subscriptions = [subscription(&reader, "/a", latched(10)), subscription(&reader, "/b", depth(10))];
    for number in 1..=5 {
        publishers.iter().for_each(|publisher| assert!(send(publisher, [number]) > 0));
    }
    Subscription::join_many(&[&subscriptions[0], &subscriptions[1]]).expect("they stand still");
    publishers.iter().for_each(|publisher| assert!(send(publisher, [6]) > 0));
    assert_eq!(bounds(&subscriptions, &publishers), [5, 5]);
    assert_eq!(take_all(&subscriptions[0]), [[4], [5], [6]], "the history of its publisher, and what is live");
    assert_eq!(take_all(&subscriptions[1]), [[6]], "a volatile one has no history");
    assert_eq!(take_all(&subscriptions[0]), Vec::<Vec<u8>>::new());
}
