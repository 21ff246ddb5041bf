//! Files of a domain that somebody has written over or cut short, under contexts that use them.

mod common;

use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::time::Duration;

use common::loans::{borrower, lender, send_loan, take_loan, LARGE};
use common::*;
use shoal_rmw::{graph, wait, Client, Error, Service, Waitable};

/// The files in the domain whose names have this in them, writable.
fn open(domain: usize, part: &str) -> Vec<File> {
    let root = std::env::var_os("SHOAL_DIR").expect("set with the first domain");
    let of_user = std::fs::read_dir(root).expect("a directory").flatten().next().expect("the directory of this user");
    let dir = of_user.path().join(domain.to_string());
    let named = files(domain).into_iter().filter(|name| name.contains(part)).map(|name| dir.join(name));
    let opened = named.map(|path| {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("our own file");
        File::options().read(true).write(true).open(path).expect("our own file")
    });
    opened.collect()
}

/// Where the word that names the chunk of a sample stands in a segment.
fn chunk_word(segment: &[u8], sequence: u64) -> Option<usize> {
    let is_slot = |at: &usize| {
        let chunk = word(segment, at + 24);
        word(segment, *at) == sequence << 1 && chunk >> 31 & 1 == 1 && chunk >> 48 == 0
    };
    (0..segment.len() - 64).step_by(64).find(is_slot).map(|at| at + 24)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// Makes the second sample of the only ring in the domain name the chunk of the first.
fn name_the_first_chunk_twice(domain: usize) {
    let forged = open(domain, ".").into_iter().find_map(|segment| {
        let mut bytes = vec![0; usize::try_from(segment.metadata().expect("metadata").len()).expect("short")];
        segment.read_exact_at(&mut bytes, 0).expect("readable");
        let (first, second) = (chunk_word(&bytes, 1)?, chunk_word(&bytes, 2)?);
        segment.write_all_at(&bytes[first..first + 8], second as u64).ok()
    });
    forged.expect("a ring with two samples in it");
}

#[test]
fn a_chunk_that_two_samples_name_is_on_loan_until_both_are_given_back() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/twice", LARGE, depth(4));
    let subscription = borrower(&node(&b, "s"), "/twice", LARGE, depth(4));
    send_loan(&publisher, 1, LARGE);
    send_loan(&publisher, 2, LARGE);
    name_the_first_chunk_twice(domain);
    let held = [take_loan(&subscription, LARGE).expect("a loan"), take_loan(&subscription, LARGE).expect("a loan")];
    assert_eq!(held[0].at, held[1].at);
    subscription.return_loan(held[0].at).expect("on loan");
    (0..20).for_each(|number| send_loan(&publisher, number, LARGE));
    assert!(held[1].is_unchanged(), "still on loan");
    subscription.return_loan(held[1].at).expect("on loan a second time");
    assert!(subscription.return_loan(held[1].at).is_err());
}

#[test]
fn a_publishers_memory_that_is_cut_short_kills_no_reader_and_nobody_who_holds_a_loan() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = lender(&node(&a, "p"), "/cut", LARGE, depth(4));
    let subscription = borrower(&node(&b, "s"), "/cut", LARGE, depth(4));
    send_loan(&publisher, 1, LARGE);
    send_loan(&publisher, 2, LARGE);
    let held = take_loan(&subscription, LARGE).expect("a loan");
    open(domain, ".").iter().for_each(|segment| segment.set_len(0).expect("cut"));
    assert!(!held.private && common::loans::read(held.at, LARGE).iter().all(|byte| *byte == 0), "read as zeros");
    assert!(take_loan(&subscription, LARGE).is_none(), "a sample that is gone");
    send_loan(&publisher, 3, LARGE);
    let _ = take_loan(&subscription, LARGE);
    subscription.return_loan(held.at).expect("on loan");
}

#[test]
fn a_registry_that_is_cut_short_is_an_error_of_each_call_and_kills_nobody() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (publisher, subscription) =
        (publisher(&node(&a, "p"), "/t", depth(4)), subscription(&node(&b, "s"), "/t", depth(4)));
    send(&publisher, [1]);
    open(domain, "registry")[0].set_len(0).expect("cut");
    let _ = subscription.take(&mut |_| Ok(()));
    let _ = publisher.publish(&Bytes(vec![2]));
    for context in [&a, &b] {
        let refused = graph::node_names(context).expect_err("others are not seen any more");
        assert!(matches!(refused, Error::Damaged { .. }) && refused.to_string().contains("registry"), "{refused}");
    }
    assert!(matches!(publisher.publish(&Bytes(vec![3])), Err(Error::Damaged { .. })));
    let mut ready = [false];
    let _ = wait(&b, &[Waitable::Subscription(&subscription)], &mut ready, Some(Duration::from_millis(1)));
    a.shutdown().expect("shut down");
    drop((publisher, subscription, a, b));
    let names = graph::node_names(&context(domain)).expect("whoever joins when all are gone starts afresh");
    assert!(names.is_empty());
}

#[test]
fn a_wait_in_a_registry_that_is_cut_short_is_an_error_and_does_not_sleep_for_ever() {
    for looked_before in [true, false] {
        let domain = domain();
        let context = context(domain);
        let subscription = subscription(&node(&context, "s"), "/t", depth(4));
        open(domain, "registry")[0].set_len(0).expect("cut");
        if looked_before {
            // Finds the first page gone.
            let _ = graph::node_names(&context);
        }
        let (done, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let waited = wait(&context, &[Waitable::Subscription(&subscription)], &mut [false], None);
            let _ = done.send(waited.map_err(|error| error.to_string()));
        });
        let waited = ended.recv_timeout(Duration::from_secs(20)).expect("the wait ends");
        assert!(waited.expect_err("others are not heard any more").contains("registry"));
    }
}

/// Where the hot cells of the first slots begin in the registry file, and how many there are for sure.
const HOT_AT: u64 = 4096 + 2048 * 16 + 4096 * 1024 + 65_536 * 8;
const SLOTS: u64 = 64;

#[test]
fn a_client_that_asks_for_progress_as_publishers_do_takes_no_answer_from_others() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let service = service(&node(&a, "s"), "/s");
    let (c, honest) = (node(&b, "c"), client(&node(&b, "c"), "/s"));
    answer(&service, &honest);
    let registry = open(domain, "registry").remove(0);
    for qos in (0..SLOTS).map(|slot| HOT_AT + slot * 64 + 40) {
        let mut word = [0; 8];
        registry.read_exact_at(&mut word, qos).expect("reserved");
        word[2] |= 2;
        registry.write_all_at(&word, qos).expect("reserved");
    }
    let _newcomer = client(&c, "/s");
    answer(&service, &honest);
}

/// A request, and its answer.
fn answer(service: &Service, client: &Client) {
    let sent = client.send(&Bytes(vec![1])).expect("sending works");
    let asked = service.take(&mut |_| Ok(())).expect("taking works").expect("a request");
    service.respond(asked.client, asked.sequence, &Bytes(vec![2])).expect("responding works");
    let answered = client.take(&mut |_| Ok(())).expect("taking works");
    assert_eq!(answered.map(|info| info.sequence), Some(sent));
}
