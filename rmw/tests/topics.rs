//! Topics: history, order, depth, closing, own publications.

mod common;

use common::*;
use shoal_rmw::{Durability, Qos, Reliability, Subscription, SubscriptionOptions};

fn numbers(range: std::ops::Range<u8>) -> Vec<Vec<u8>> {
    range.map(|number| vec![number]).collect()
}

#[test]
fn late_joiner_reads_the_newest_of_the_history_in_order_and_once() {
    let domain = domain();
    for (retained, published) in [(1, 8), (2, 8), (5, 8), (10, 8), (10, 3), (1000, 8)] {
        let (a, b) = (context(domain), context(domain));
        let publisher = publisher(&node(&a, "a"), "/history", latched(retained));
        (0..published).for_each(|number| {
            send(&publisher, [number]);
        });
        let late = subscription(&node(&b, "b"), "/history", latched(20));
        let kept = published.min(u8::try_from(retained).unwrap_or(u8::MAX));
        assert_eq!(take_all(&late), numbers(published - kept..published), "depth {retained}");
        assert_eq!(take_all(&late), numbers(0..0));
        send(&publisher, [99]);
        assert_eq!(take_all(&late), [[99]]);
    }
}

#[test]
fn history_of_a_thousand_samples_is_read_whole_and_in_part() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", latched(1000));
    let number = |n: u32| n.to_le_bytes().to_vec();
    (0..2500).for_each(|n| {
        send(&publisher, number(n));
    });
    for (depth, expected) in [(1, 2499..2500), (999, 1501..2500), (1000, 1500..2500), (5000, 1500..2500)] {
        let late = subscription(&node(&b, "r"), "/t", latched(depth));
        assert_eq!(take_all(&late), expected.map(number).collect::<Vec<_>>(), "a reader of depth {depth}");
    }
}

#[test]
fn samples_between_two_looks_are_read_once() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (publisher, reader) =
        (publisher(&node(&a, "p"), "/t", depth(10)), subscription(&node(&b, "r"), "/t", depth(10)));
    for round in 0..50u8 {
        assert!(!reader.has_data(), "the first look, at nothing");
        send(&publisher, [round]);
        assert!(reader.has_data(), "the second look of the same wait");
        send(&publisher, [round + 100]);
        assert!(reader.has_data());
        assert_eq!(take(&reader).expect("a sample").0, [round]);
        send(&publisher, [round + 200 - 150]);
        assert_eq!(take_all(&reader), [[round + 100], [round + 200 - 150]]);
    }
}

#[test]
fn volatile_subscription_starts_at_the_present() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "a"), "/t", latched(5));
    send(&publisher, [1]);
    let late = subscription(&node(&b, "b"), "/t", depth(5));
    assert_eq!(take_all(&late), numbers(0..0));
    send(&publisher, [2]);
    assert_eq!(take_all(&late), [[2]]);
}

#[test]
fn publisher_found_later_starts_at_its_first_sample() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let early = subscription(&node(&b, "b"), "/t", depth(10));
    for number in 0..3 {
        let publisher = publisher(&node(&a, "a"), "/t", depth(10));
        send(&publisher, [number]);
    }
    assert_eq!(take_all(&early), numbers(0..3), "also from publishers that are gone again");
}

#[test]
fn keep_last_bounds_what_is_unread() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "a"), "/t", depth(3));
    let (shallow, deep) = (subscription(&node(&b, "b"), "/t", depth(2)), subscription(&node(&b, "c"), "/t", depth(50)));
    (0..40).for_each(|number| {
        send(&publisher, [number]);
    });
    assert_eq!(take_all(&shallow), numbers(38..40));
    assert_eq!(take_all(&deep), numbers(0..40), "a deeper reader gets its own depth");
}

#[test]
fn several_publishers_are_read_in_the_order_of_their_samples_and_share_the_depth() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let reader = subscription(&node(&b, "r"), "/t", depth(6));
    let publishers: Vec<_> = (0..3).map(|_| publisher(&node(&a, "p"), "/t", depth(10))).collect();
    (0..30).for_each(|number| {
        send(&publishers[usize::from(number % 3)], [number]);
    });
    assert_eq!(take_all(&reader), numbers(24..30));
}

#[test]
fn two_publishers_with_equal_sequence_numbers_are_both_read() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (one, two) = (publisher(&node(&a, "p"), "/t", latched(1)), publisher(&node(&b, "p"), "/t", latched(1)));
    assert_eq!((send(&one, [1]), send(&two, [2])), (1, 1));
    let reader = subscription(&node(&b, "r"), "/t", latched(10));
    assert_eq!(take_all(&reader), [[1], [2]]);
    assert_ne!(one.gid(), two.gid());
}

#[test]
fn sizes_around_every_threshold_arrive_whole() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", latched(64));
    let live = subscription(&node(&b, "r"), "/t", latched(64));
    let sizes = [0, 1, 7, 8, 9, 207, 208, 209, 4095, 4096, 4097, 32768, 65536, 1 << 20, (1 << 20) + 1, 5 << 20];
    let body = |size: usize| -> Vec<u8> { (0..size).map(|at| (at * 31 + size) as u8).collect() };
    for size in sizes {
        send(&publisher, body(size));
        assert_eq!(take(&live).expect("a sample").0, body(size));
    }
    let late = subscription(&node(&b, "late"), "/t", latched(64));
    assert_eq!(take_all(&late), sizes.map(body));
}

#[test]
fn reader_that_leaves_and_joins_again_gets_history_once_more() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", latched(2));
    (0..3).for_each(|number| {
        send(&publisher, [number]);
    });
    for _ in 0..3 {
        let reader = subscription(&node(&b, "r"), "/t", latched(2));
        assert_eq!(take_all(&reader), numbers(1..3));
    }
}

#[test]
fn own_publications_are_ignored_live_and_in_history() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (own, other) = (publisher(&node(&a, "p"), "/t", latched(5)), publisher(&node(&b, "p"), "/t", latched(5)));
    send(&own, [1]);
    send(&other, [2]);
    let options = SubscriptionOptions { ignore_local_publications: true, ..SubscriptionOptions::default() };
    let reader = Subscription::new(&node(&a, "r"), "/t", bytes_type(), latched(10), options).expect("a subscription");
    send(&own, [3]);
    assert!(reader.has_data());
    send(&other, [4]);
    assert_eq!(take_all(&reader), [[2], [4]]);
    send(&own, [5]);
    assert!(!reader.has_data(), "nor is it woken for its own");
}

#[test]
fn incompatible_or_differently_typed_endpoints_do_not_meet() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let best_effort = Qos { reliability: Reliability::BestEffort, ..Qos::default() };
    let publisher = publisher(&node(&a, "p"), "/t", best_effort);
    let reliable = subscription(&node(&b, "r"), "/t", Qos::default());
    let wants_history =
        subscription(&node(&b, "r"), "/t", Qos { durability: Durability::TransientLocal, ..best_effort });
    let other_type = shoal_rmw::TypeInfo { hash: (1, [8; 32]), ..bytes_type() };
    let typed = Subscription::new(&node(&b, "r"), "/t", other_type, best_effort, SubscriptionOptions::default());
    let typed = typed.expect("a subscription");
    send(&publisher, [1]);
    assert!(!reliable.has_data() && !wants_history.has_data() && !typed.has_data());
    assert_eq!(publisher.matched_subscriptions().expect("a count"), 0);
    assert_eq!(reliable.matched_publishers().expect("a count"), 0);
}

#[test]
fn unread_samples_of_a_closed_publisher_and_context_are_still_read() {
    let domain = domain();
    let b = context(domain);
    let reader = subscription(&node(&b, "r"), "/t", depth(10));
    {
        let a = context(domain);
        let publisher = publisher(&node(&a, "p"), "/t", depth(10));
        send(&publisher, [1]);
        send(&publisher, vec![2; 100_000]);
    }
    assert_eq!(take_all(&reader), [vec![1], vec![2; 100_000]]);
    assert_eq!(reader.matched_publishers().expect("a count"), 0);
}

#[test]
fn message_info_tells_times_numbers_and_source() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let wall =
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_nanos() as i64;
    let publisher = publisher(&node(&a, "p"), "/t", latched(5));
    let before = wall();
    send(&publisher, [1]);
    let after = wall();
    let reader = subscription(&node(&b, "r"), "/t", latched(5));
    let joined = wall();
    let (_, info) = take(&reader).expect("a sample");
    assert!(before <= info.source_timestamp && info.source_timestamp <= after);
    assert!(after <= info.received_timestamp && info.received_timestamp <= joined, "history is received by joining");
    assert_eq!((info.publication_sequence, info.reception_sequence), (1, 1));
    assert_eq!((info.gid, info.from_this_context), (publisher.gid(), false));
}

#[test]
fn a_sample_that_cannot_be_decoded_is_used_up() {
    let domain = domain();
    let a = context(domain);
    let node = node(&a, "n");
    let (publisher, reader) = (publisher(&node, "/t", depth(5)), subscription(&node, "/t", depth(5)));
    send(&publisher, [1]);
    send(&publisher, [2]);
    let refused = reader.take(&mut |_| Err(shoal_rmw::Error::Other("not today".into())));
    assert!(refused.is_err());
    assert_eq!(take_all(&reader), [[2]]);
}

#[test]
fn the_last_one_out_leaves_nothing_behind() {
    let domain = domain();
    {
        let (a, b) = (context(domain), context(domain));
        let publisher = publisher(&node(&a, "p"), "/t", latched(3));
        let reader = subscription(&node(&b, "r"), "/t", latched(3));
        send(&publisher, vec![1; 1 << 20]);
        assert!(take(&reader).is_some());
        assert!(!files(domain).is_empty());
    }
    assert_eq!(files(domain), Vec::<String>::new());
}
