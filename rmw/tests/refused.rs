//! A reader that may open no more files loses nothing: it is told so, and goes on when it may again.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use common::loans::*;
use common::*;
use shoal_rmw::{Client, Subscription};

fn large(number: u8) -> Vec<u8> {
    body(number, LARGE)
}

fn limit_open_files(to: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the struct is good for both calls.
    let done = unsafe {
        let got = libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        let wanted = libc::rlimit { rlim_cur: to, ..limit };
        got | libc::setrlimit(libc::RLIMIT_NOFILE, &wanted)
    };
    assert_eq!(done, 0, "the limit can be changed");
    limit.rlim_cur
}

fn refused<T>(taken: shoal_rmw::Result<Option<T>>, what: &str) {
    let error = taken.err().unwrap_or_else(|| panic!("{what}: taken without a file")).to_string();
    assert!(error.contains("RLIMIT_NOFILE") && error.contains("still unread"), "{what}: {error}");
}

fn response(client: &Client) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    let taken = client.take(&mut |incoming| {
        body = bytes(incoming);
        Ok(())
    });
    taken.expect("taking works").map(|_| body)
}

fn take_without_files(topics: &[&Subscription], loans: &Subscription, client: &Client) {
    for _ in 0..3 {
        for topic in topics {
            assert!(topic.has_data(), "what cannot be read is still there");
            refused(topic.take(&mut |_| Ok(())), "topic");
        }
        assert!(loans.has_data());
        refused(loans.take_loan(true, &mut copied), "loan");
        assert!(client.has_data());
        refused(client.take(&mut |_| Ok(())), "response");
    }
}

/// Not a test: the process that reads. It answers "ready" when all readers are there, and waits for a line.
#[test]
fn child() {
    let Ok(domain) = std::env::var("SHOAL_TEST_DOMAIN") else { return };
    let node = node(&context(domain.parse().expect("a number")), "reader");
    let (small, chunks) = (subscription(&node, "/small", depth(10)), subscription(&node, "/chunks", depth(10)));
    let newest = subscription(&node, "/newest", depth(2));
    let loans = borrower(&node, "/loans", LARGE, depth(10));
    let client = client(&node, "/echo");
    (0..3).for_each(|n| assert!(client.send(&Bytes(vec![n])).is_ok()));
    println!("ready");
    std::io::stdin().read_line(&mut String::new()).expect("a line");
    let before = limit_open_files(0);
    take_without_files(&[&small, &chunks, &newest], &loans, &client);
    limit_open_files(before);
    assert_eq!(take_all(&small), [[0], [1], [2]]);
    assert_eq!(take_all(&chunks), [large(0), large(1), large(2)]);
    assert_eq!(take_all(&newest), [[1], [2]], "the newest of two publishers");
    for n in 0..3 {
        assert_eq!(take_loan(&loans, LARGE).map(|loan| loan.then), Some(large(n)));
    }
    assert!(take_loan(&loans, LARGE).is_none());
    assert_eq!(std::iter::from_fn(|| response(&client)).collect::<Vec<_>>(), [[0], [1], [2]]);
    assert!(![&small, &chunks, &newest, &loans].iter().any(|topic| topic.has_data()) && !client.has_data());
}

#[test]
fn a_reader_that_may_open_no_file_is_told_so_and_loses_nothing() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (one, two) = (node(&a, "one"), node(&b, "two"));
    let (small, chunks) = (publisher(&one, "/small", depth(10)), publisher(&one, "/chunks", depth(10)));
    let newest = [publisher(&one, "/newest", depth(2)), publisher(&two, "/newest", depth(2))];
    let loans = lender(&one, "/loans", LARGE, depth(10));
    let service = service(&two, "/echo");
    let mut child = Command::new(std::env::current_exe().expect("the own path"))
        .args(["child", "--exact", "--nocapture"])
        .env("SHOAL_TEST_DOMAIN", domain.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.by_ref().any(|line| line.is_ok_and(|line| line.ends_with("ready"))), "the reader is there");
    for n in 0..3 {
        send(&small, [n]);
        send(&chunks, large(n));
        send(&newest[usize::from(n % 2)], [n]);
        send_loan(&loans, n, LARGE);
        let mut body = Vec::new();
        let request = service.take(&mut |incoming| {
            body = bytes(incoming);
            Ok(())
        });
        let request = request.expect("taking works").expect("a request");
        service.respond(request.client, request.sequence, &Bytes(body)).expect("responding works");
    }
    writeln!(child.stdin.take().expect("a pipe"), "sent").expect("it listens");
    let said: Vec<_> = lines.map_while(Result::ok).collect();
    assert!(child.wait().expect("it ends").success(), "{said:#?}");
}
