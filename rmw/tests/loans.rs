//! Loaned messages: written where they are sent from, read where they were written, and never changed while held.

mod common;

use std::collections::HashSet;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use common::loans::*;
use common::*;
use shoal_rmw::filter::SampleFilter;
use shoal_rmw::{Encapsulation, Error, ErrorKind, Incoming, Outgoing, Result, Subscription, SubscriptionOptions};

#[test]
fn a_message_is_written_and_read_where_it_lies() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    for size in [1, 64, 1000, LARGE, 8 << 20] {
        let publisher = lender(&node(&a, "p"), "/t", size, depth(2));
        let subscription = borrower(&node(&b, "s"), "/t", size, depth(2));
        send_loan(&publisher, 7, size);
        let held = take_loan(&subscription, size).expect("the message");
        assert!(!held.private, "{size} bytes were copied");
        assert_eq!(held.then, body(7, size));
        assert_eq!((held.info.publication_sequence, held.info.gid), (1, publisher.gid()));
        assert_eq!(held.info.reception_sequence, 1);
        assert!(take_loan(&subscription, size).is_none(), "once");
        subscription.return_loan(held.at).expect("a loan is given back");
    }
}

#[test]
fn plain_and_loaned_messages_mix() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/t", LARGE, depth(10));
    let subscription = borrower(&node(&b, "s"), "/t", LARGE, depth(10));
    send_loan(&publisher, 1, LARGE);
    send(&publisher, body(2, LARGE));
    send_loan(&publisher, 3, LARGE);
    assert_eq!(take(&subscription).expect("a plain take of a loan").0, body(1, LARGE));
    let held = take_loan(&subscription, LARGE).expect("a loan of what was published plainly");
    assert!(!held.private, "it lies in a chunk, too");
    assert_eq!(held.then, body(2, LARGE));
    assert_eq!(take_all(&subscription), [body(3, LARGE)]);
    assert!(held.is_unchanged());
}

#[test]
fn a_held_message_never_changes_whatever_its_publisher_does() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher_node = node(&a, "p");
    let subscription = borrower(&node(&b, "s"), "/t", LARGE, depth(3));
    let publisher = lender(&publisher_node, "/t", LARGE, depth(3));
    let mut held = Vec::new();
    for number in 0..5 {
        send_loan(&publisher, number, LARGE);
        held.push(take_loan(&subscription, LARGE).expect("the message"));
    }
    assert!(held.iter().all(|held| !held.private));
    for number in 0..100 {
        send_loan(&publisher, number, LARGE);
        send(&publisher, body(number, LARGE));
    }
    assert!(held.iter().all(Held::is_unchanged), "after more messages");
    drop(publisher);
    let other = lender(&publisher_node, "/other", LARGE, depth(3));
    (0..100).for_each(|number| send_loan(&other, number, LARGE));
    assert!(held.iter().all(Held::is_unchanged), "after the end of the publisher");
    a.shutdown().expect("shutdown");
    drop((other, publisher_node, a));
    assert!(held.iter().all(Held::is_unchanged), "after the end of its context");
    for held in held {
        subscription.return_loan(held.at).expect("given back");
    }
}

#[test]
fn a_held_message_outlives_the_shutdown_of_its_reader() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/t", LARGE, depth(1));
    let subscription = borrower(&node(&b, "s"), "/t", LARGE, depth(1));
    send_loan(&publisher, 1, LARGE);
    let held = take_loan(&subscription, LARGE).expect("the message");
    b.shutdown().expect("shutdown");
    for number in 0..50 {
        send_loan(&publisher, number, LARGE);
    }
    assert!(held.is_unchanged(), "a callback may still be reading when the context is shut down");
    assert!(subscription.take_loan(true, &mut copied).is_err());
    subscription.return_loan(held.at).expect("a loan can be given back after shutdown");
}

#[test]
fn where_too_much_is_on_loan_already_messages_are_copied() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/t", 4096, depth(1));
    let subscription = borrower(&node(&b, "s"), "/t", 4096, depth(1));
    let mut held = Vec::new();
    for number in 0..80 {
        send_loan(&publisher, number, 4096);
        held.push(take_loan(&subscription, 4096).expect("taking never fails for loans"));
    }
    let in_place = held.iter().filter(|held| !held.private).count();
    assert_eq!(in_place, 56, "all but the words that reads need");
    assert!(held[..56].iter().all(|held| !held.private));
    send_loan(&publisher, 80, 4096);
    assert_eq!(take_all(&subscription), [body(80, 4096)], "and plain takes go on");
    for (number, held) in held.iter().enumerate() {
        assert!(held.is_unchanged() && held.then == body(number as u8, 4096), "loan {number}");
    }
    for held in held.drain(..) {
        subscription.return_loan(held.at).expect("given back");
    }
    send_loan(&publisher, 81, 4096);
    assert!(!take_loan(&subscription, 4096).expect("the message").private, "what was given back can be lent again");
}

#[test]
fn what_fits_a_slot_or_must_be_checked_is_copied() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/t", 64, depth(5));
    let subscription = borrower(&node(&b, "s"), "/t", 64, depth(5));
    send(&publisher, body(1, 64));
    let held = take_loan(&subscription, 64).expect("the message");
    assert!(held.private && held.then == body(1, 64));
    send_loan(&publisher, 2, 64);
    let mut copies = 0;
    let taken = subscription.take_loan(false, &mut |sample| {
        copies += 1;
        copied(sample)
    });
    assert!(taken.expect("taking works").is_some());
    assert_eq!(copies, 1, "messages that are not valid whatever their bytes are");
}

/// What a caller serialized.
struct Odd(Encapsulation, Vec<u8>);

impl Outgoing for Odd {
    fn size(&self) -> Result<usize> {
        Ok(self.1.len())
    }

    fn encapsulation(&self) -> Encapsulation {
        self.0
    }

    fn write(&self, out: &mut [u8]) -> Result<usize> {
        out.copy_from_slice(&self.1);
        Ok(self.1.len())
    }
}

#[test]
fn what_is_no_message_as_it_lies_goes_through_the_deserializer() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/t", LARGE, depth(5));
    let subscription = borrower(&node(&b, "s"), "/t", LARGE, depth(5));
    for odd in [Odd([0, 0, 0, 0], body(1, LARGE)), Odd([0, 1, 0, 0], body(2, LARGE - 1))] {
        publisher.publish(&odd).expect("published");
        let mut seen = None;
        let taken = subscription.take_loan(true, &mut |sample| {
            seen = Some((sample.encapsulation, sample.len));
            Err(Error::Other("refused".into()))
        });
        assert_eq!(taken.expect_err("the deserializer's own error").to_string(), "refused");
        assert_eq!(seen, Some((odd.0, odd.1.len())));
        assert!(!subscription.has_data(), "it is used up");
    }
}

#[test]
fn what_is_not_on_loan_is_refused() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (one, two) = (node(&a, "p"), node(&b, "s"));
    let (publisher, other) = (lender(&one, "/t", LARGE, depth(5)), lender(&one, "/t", LARGE, depth(5)));
    let (subscription, stranger) = (borrower(&two, "/t", LARGE, depth(5)), borrower(&two, "/t", LARGE, depth(5)));
    let kind = |outcome: Result<()>| outcome.map_err(|error| error.kind());
    let unknown = Err(ErrorKind::Error);
    let own = [0u64; 8];
    let lent = publisher.borrow_loan().expect("memory");
    for at in [own.as_ptr().cast(), lent.as_ptr().cast_const()] {
        assert_eq!(kind(other.return_loan(at)), unknown);
        assert_eq!(kind(other.publish_loan(at).map(drop)), unknown);
    }
    assert_eq!(kind(publisher.return_loan(lent.as_ptr())), Ok(()));
    assert_eq!(kind(publisher.return_loan(lent.as_ptr())), unknown, "twice");
    assert_eq!(kind(publisher.publish_loan(lent.as_ptr()).map(drop)), unknown, "sent after it was given back");
    assert!(!subscription.has_data(), "nothing was sent");
    send_loan(&publisher, 1, LARGE);
    let held = take_loan(&subscription, LARGE).expect("the message");
    assert_eq!(kind(stranger.return_loan(held.at)), unknown);
    assert_eq!(kind(subscription.return_loan(own.as_ptr().cast())), unknown);
    assert!(held.is_unchanged());
    assert_eq!(kind(subscription.return_loan(held.at)), Ok(()));
    assert_eq!(kind(subscription.return_loan(held.at)), unknown, "twice");
}

#[test]
fn a_type_that_cannot_be_loaned_says_why() {
    let domain = domain();
    let a = context(domain);
    let (publisher, subscription) =
        (publisher(&node(&a, "p"), "/t", depth(1)), subscription(&node(&a, "s"), "/t", depth(1)));
    let at = [0u8; 8].as_ptr();
    let refusals = [
        publisher.borrow_loan().map(drop),
        publisher.publish_loan(at).map(drop),
        publisher.return_loan(at),
        subscription.take_loan(true, &mut copied).map(drop),
        subscription.return_loan(at),
    ];
    for refusal in refusals {
        let error = refusal.expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("which those of 'test/msg/Bytes' do not"), "{error}");
    }
}

#[test]
fn entities_go_with_what_they_have_lent() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (one, two) = (node(&a, "p"), node(&b, "s"));
    let kept = lender(&one, "/t", LARGE, depth(1));
    for round in 0..20 {
        let publisher = lender(&one, "/t", LARGE, depth(1));
        let subscription = borrower(&two, "/t", LARGE, depth(1));
        let lent: Vec<_> = (0..3).map(|_| publisher.borrow_loan().expect("memory")).collect();
        let places: HashSet<_> = lent.iter().map(|at| at.addr()).collect();
        assert_eq!(places.len(), 3, "each has its own");
        send_loan(&kept, round, LARGE);
        assert!(take_loan(&subscription, LARGE).is_some());
    }
    assert!(usage(domain) < 4 << 20, "{} bytes are used: loans were not given back", usage(domain));
}

#[test]
fn memory_goes_round_while_some_is_held() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/t", LARGE, depth(2));
    let subscription = borrower(&node(&b, "s"), "/t", LARGE, depth(2));
    send_loan(&publisher, 1, LARGE);
    let held = take_loan(&subscription, LARGE).expect("the message");
    for number in 0..500 {
        send_loan(&publisher, number as u8, LARGE);
        let next = take_loan(&subscription, LARGE).expect("the message");
        assert!(!next.private && next.then == body(number as u8, LARGE));
        subscription.return_loan(next.at).expect("given back");
    }
    assert!(held.is_unchanged());
    assert!(usage(domain) < 4 << 20, "{} bytes are used", usage(domain));
}

#[test]
fn what_outlives_its_publisher_on_loan_is_freed_soon_after_it_is_given_back() {
    const MANY: usize = 4 << 20;
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publishers = node(&a, "p");
    let publisher = lender(&publishers, "/t", MANY, depth(1));
    let subscription = borrower(&node(&b, "s"), "/t", MANY, depth(1));
    send_loan(&publisher, 1, MANY);
    let held = take_loan(&subscription, MANY).expect("the message");
    drop(publisher);
    drop(node(&a, "another"));
    assert!(held.is_unchanged() && usage(domain) as usize >= MANY);
    subscription.return_loan(held.at).expect("given back");
    drop(node(&a, "another"));
    assert!(usage(domain) < 2 << 20, "{} bytes are used", usage(domain));
}

#[test]
fn own_messages_are_ignored_and_read_as_loans_like_others() {
    let domain = domain();
    let a = context(domain);
    let node = node(&a, "n");
    let publisher = lender(&node, "/t", LARGE, depth(5));
    let options = SubscriptionOptions { ignore_local_publications: true, ..SubscriptionOptions::default() };
    let deaf = Subscription::new(&node, "/t", fixed(LARGE), depth(5), options).expect("a subscription");
    let subscription = borrower(&node, "/t", LARGE, depth(5));
    send_loan(&publisher, 1, LARGE);
    assert!(take_loan(&deaf, LARGE).is_none());
    let held = take_loan(&subscription, LARGE).expect("the message");
    assert!(!held.private && held.info.from_this_context);
}

/// Passes messages whose first byte is even.
#[derive(Debug)]
struct Even;

impl SampleFilter for Even {
    fn accepts(&self, sample: Incoming) -> bool {
        bytes(sample)[0] % 2 == 0
    }
}

#[test]
fn a_filter_chooses_among_loans_as_among_other_messages() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/t", LARGE, depth(10));
    let options = SubscriptionOptions { filter: Some(Arc::new(Even)), ..SubscriptionOptions::default() };
    let subscription = Subscription::new(&node(&b, "s"), "/t", fixed(LARGE), depth(10), options).expect("filtered");
    (0..6).for_each(|number| send_loan(&publisher, number, LARGE));
    let held: Vec<_> = std::iter::from_fn(|| take_loan(&subscription, LARGE)).collect();
    assert!(held.iter().all(|held| !held.private));
    assert_eq!(held.iter().map(|held| held.then[0]).collect::<Vec<_>>(), [0, 2, 4]);
}

/// Takes loans until told to stop and holds the last 20, each of which must stay what it was.
fn hold_some(subscription: &Subscription, stop: &AtomicBool) -> usize {
    let mut held: VecDeque<Held> = VecDeque::new();
    let mut taken = 0;
    while !stop.load(Ordering::Relaxed) {
        let Some(next) = take_loan(subscription, 4096) else {
            std::thread::yield_now();
            continue;
        };
        assert_eq!(next.then, body(next.then[0], 4096), "a message of two halves");
        held.push_back(next);
        taken += 1;
        if held.len() > 20 {
            let oldest = held.pop_front().expect("one of them");
            assert!(oldest.is_unchanged());
            subscription.return_loan(oldest.at).expect("given back");
        }
    }
    assert!(held.iter().all(Held::is_unchanged));
    taken
}

#[test]
fn loans_of_many_threads_stay_what_they_were_while_their_publisher_goes_on() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/t", 4096, depth(2));
    let readers = node(&b, "s");
    let stop = AtomicBool::new(false);
    // Four times 20 is more than can be read in place: some of them are copies.
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let subscription = borrower(&readers, "/t", 4096, depth(2));
                let stop = &stop;
                scope.spawn(move || hold_some(&subscription, stop))
            })
            .collect();
        for number in 0..20_000u32 {
            send_loan(&publisher, number as u8, 4096);
        }
        stop.store(true, Ordering::Relaxed);
        for thread in threads {
            assert!(thread.join().expect("no loan changed") > 0);
        }
    });
    assert!(usage(domain) < 4 << 20, "{} bytes are used", usage(domain));
}
