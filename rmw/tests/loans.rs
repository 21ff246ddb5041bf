//! Loaned messages: written where they are sent from, read where they were written, and never changed while held.

mod common;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use common::*;
use shoal_rmw::filter::SampleFilter;
use shoal_rmw::{
    Encapsulation, Error, ErrorKind, Incoming, MessageInfo, Node, Outgoing, Publisher, Qos, Result, Subscription,
    SubscriptionOptions, TypeInfo,
};

/// Bytes of a loaned message; too long for a slot.
const LARGE: usize = 64 << 10;

fn fixed(size: usize) -> TypeInfo {
    let name = format!("test/msg/Fixed{size}");
    TypeInfo { name, hash: (1, [9; 32]), fixed_size: Some(size), loanable_size: Some(size) }
}

fn lender(node: &Arc<Node>, topic: &str, size: usize, qos: Qos) -> Arc<Publisher> {
    Publisher::new(node, topic, fixed(size), qos).expect("a publisher can be created")
}

fn borrower(node: &Arc<Node>, topic: &str, size: usize, qos: Qos) -> Arc<Subscription> {
    Subscription::new(node, topic, fixed(size), qos, SubscriptionOptions::default()).expect("a subscription")
}

/// A message whose every byte follows from its number.
fn body(number: u8, size: usize) -> Vec<u8> {
    (0..size).map(|i| number.wrapping_add((i % 251) as u8)).collect()
}

/// Borrows, fills in place and sends.
fn send_loan(publisher: &Publisher, number: u8, size: usize) {
    let at = publisher.borrow_loan().expect("memory to fill");
    assert_eq!(at.addr().get() % 64, 0, "on a line of its own");
    // SAFETY: lent memory of `size` bytes.
    unsafe { at.copy_from_nonoverlapping(std::ptr::NonNull::from(&body(number, size)[0]), size) };
    publisher.publish_loan(at.as_ptr()).expect("a loan can be sent");
}

fn copied(sample: Incoming) -> Result<Box<[u64]>> {
    let bytes = bytes(sample);
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    Ok(bytes.chunks(8).map(word).collect())
}

/// A message on loan, how it was when it was taken, and whether it is a copy.
struct Held {
    at: *const u8,
    then: Vec<u8>,
    private: bool,
    info: MessageInfo,
}

fn read(at: *const u8, size: usize) -> Vec<u8> {
    // SAFETY: a message of `size` bytes on loan.
    unsafe { std::slice::from_raw_parts(at, size) }.to_vec()
}

fn take_loan(subscription: &Subscription, size: usize) -> Option<Held> {
    let mut private = false;
    let taken = subscription.take_loan(true, &mut |sample| {
        private = true;
        copied(sample)
    });
    let (at, info) = taken.expect("taking works")?;
    Some(Held { at, then: read(at, size), private, info })
}

impl Held {
    fn is_unchanged(&self) -> bool {
        read(self.at, self.then.len()) == self.then
    }
}

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

/// Not a test: a process that lends to whoever subscribes, a message a line.
#[test]
fn child() {
    let Ok(domain) = std::env::var("SHOAL_TEST_DOMAIN") else { return };
    let a = context(domain.parse().expect("a number"));
    let publisher = lender(&node(&a, "p"), "/t", LARGE, latched(3));
    let mut number = 0;
    println!("ready");
    for count in std::io::stdin().lines().map_while(std::result::Result::ok) {
        for _ in 0..count.parse().expect("a number") {
            send_loan(&publisher, number, LARGE);
            number = number.wrapping_add(1);
        }
        println!("done");
    }
}

/// Another process that publishes loans on "/t".
struct Lender {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Lender {
    fn start(domain: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("the own path"))
            .args(["child", "--exact", "--nocapture"])
            .env("SHOAL_TEST_DOMAIN", domain.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut lender = Self { child, answers };
        lender.expect("ready");
        lender
    }

    fn expect(&mut self, word: &str) {
        let mut line = String::new();
        while !line.ends_with(&format!("{word}\n")) {
            line.clear();
            assert_ne!(self.answers.read_line(&mut line).expect("a line"), 0, "the process ended");
        }
    }

    fn publish(&mut self, count: usize) {
        let mut input = self.child.stdin.as_ref().expect("a pipe");
        writeln!(input, "{count}").expect("it listens");
        self.expect("done");
    }

    fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it is dead");
    }
}

#[test]
fn a_held_message_stays_after_its_publishers_process_was_killed_and_cleaned_up() {
    let domain = domain();
    let b = context(domain);
    let subscription = borrower(&node(&b, "s"), "/t", LARGE, depth(3));
    let mut lender = Lender::start(domain);
    let mut held = Vec::new();
    for number in 0..4 {
        lender.publish(1);
        let loan = take_loan(&subscription, LARGE).expect("the message");
        assert!(!loan.private && loan.then == body(number, LARGE));
        held.push(loan);
    }
    lender.publish(300);
    assert!(held.iter().all(Held::is_unchanged), "after more messages");
    lender.kill();
    assert_eq!(take_all(&subscription).len(), 3, "what it sent is delivered");
    clean_up(domain, &subscription);
    assert!(held.iter().all(Held::is_unchanged), "after it was killed and its files were removed");
    // Another process takes its place in the domain, and memory of the same size.
    let mut next = Lender::start(domain);
    next.publish(50);
    assert!(held.iter().all(Held::is_unchanged), "after another one came");
    for held in held {
        subscription.return_loan(held.at).expect("given back");
    }
    next.kill();
}

/// Has the dead cleaned up after: who joins does that, once the reader has seen that there is nothing left to read. The
/// domain then has no file but those all share.
fn clean_up(domain: usize, subscription: &Subscription) {
    let mut looks = 0;
    while files(domain).iter().any(|name| name.contains('.')) {
        drop(context(domain));
        assert!(!subscription.has_data());
        looks += 1;
        assert!(looks < 100_000, "the files of the dead stay: {:?}", files(domain));
    }
}
