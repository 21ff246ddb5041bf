//! Loans from a process that is killed.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use common::loans::*;
use common::*;
use shoal_rmw::Subscription;

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
