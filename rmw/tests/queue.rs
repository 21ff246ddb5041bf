//! Work queues: each item to one of several consumers, acknowledged once, given on when a consumer is gone.

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use common::*;
use shoal_rmw::{
    wait_in, Context, Error, ErrorKind, History, Manner, Outcome, Publisher, Qos, Subscription, Waitable, WorkItem,
};

const LOST: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(3600);
const WINDOW: usize = 16;

fn keep_all() -> Qos {
    Qos { history: History::KeepAll, ..Qos::default() }
}

fn queue(context: &Arc<Context>, lease: Duration) -> Arc<Publisher> {
    let publisher = publisher(&node(context, "p"), "/t", keep_all());
    publisher.make_queue(WINDOW, lease).expect("a queue");
    publisher
}

fn worker(context: &Arc<Context>) -> Arc<Subscription> {
    let worker = subscription(&node(context, "w"), "/t", keep_all());
    worker.share_work().expect("it is reliable and KEEP_ALL");
    worker
}

fn claim(worker: &Subscription) -> Option<(Vec<u8>, WorkItem)> {
    let mut body = Vec::new();
    let claimed = worker.claim(&mut |incoming| {
        body = bytes(incoming);
        Ok(())
    });
    claimed.expect("claiming works").map(|(_, item)| (body, item))
}

fn acknowledge(worker: &Subscription, item: &WorkItem) -> bool {
    worker.acknowledge(item).expect("the context lives")
}

fn wait_for(context: &Arc<Context>, worker: &Subscription, timeout: Duration) -> Outcome {
    let items = [Waitable::Subscription(worker)];
    wait_in(Manner::UntilResumed, context, &items, &mut [false], Some(timeout)).expect("waiting works")
}

#[test]
fn each_item_goes_to_one_and_is_acknowledged_once() {
    let domain = domain();
    let (a, b, c) = (context(domain), context(domain), context(domain));
    let queue = queue(&a, LONG);
    let workers = [worker(&b), worker(&c)];
    (1..=4).for_each(|number| assert_eq!(send(&queue, [number]), u64::from(number)));
    let first = claim(&workers[0]).expect("an item");
    let second = claim(&workers[1]).expect("an item");
    assert_eq!((&first.0[..], &second.0[..]), (&[1][..], &[2][..]));
    assert!(acknowledge(&workers[1], &second.1), "out of order");
    assert!(!acknowledge(&workers[1], &second.1), "once");
    assert!(!acknowledge(&workers[1], &first.1), "it is the other one's");
    assert!(acknowledge(&workers[0], &first.1));
    let rest: Vec<_> = std::iter::from_fn(|| claim(&workers[0])).map(|(body, _)| body).collect();
    assert_eq!(rest, [[3], [4]]);
    assert!(claim(&workers[1]).is_none() && !workers[1].has_data());
}

#[test]
fn who_joins_late_finds_what_was_sent_before() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let queue = queue(&a, LONG);
    (1..=3).for_each(|number| assert!(send(&queue, [number]) > 0));
    let early = worker(&b);
    let (_, item) = claim(&early).expect("an item");
    assert!(acknowledge(&early, &item));
    let late = worker(&b);
    assert!(late.has_data());
    assert_eq!(claim(&late).expect("an item").0, [2]);
}

#[test]
fn an_item_that_is_given_back_or_whose_worker_goes_is_another_ones() {
    let domain = domain();
    let (a, b, c) = (context(domain), context(domain), context(domain));
    let queue = queue(&a, LONG);
    let (first, second) = (worker(&b), worker(&c));
    send(&queue, [1]);
    let (_, item) = claim(&first).expect("an item");
    assert!(!second.has_data());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| wait_for(&c, &second, LOST));
        assert!(first.give_back(&item).expect("the context lives"));
        assert_eq!(waiting.join().expect("it ends"), Outcome::Ready, "it is told");
    });
    let (_, again) = claim(&second).expect("the same item");
    assert!(!acknowledge(&first, &item) && !first.give_back(&item).expect("the context lives"), "it has lost it");
    drop(second);
    assert_eq!(wait_for(&b, &first, LOST), Outcome::Ready);
    let (body, item) = claim(&first).expect("the same item");
    assert_eq!((&body[..], again.sequence), (&[1][..], 1));
    assert!(acknowledge(&first, &item));
}

#[test]
fn an_item_whose_lease_runs_out_is_given_on_and_its_slow_worker_has_lost_it() {
    let domain = domain();
    let (a, b, c) = (context(domain), context(domain), context(domain));
    let queue = queue(&a, Duration::from_millis(30));
    let (slow, next) = (worker(&b), worker(&c));
    send(&queue, [1]);
    let (_, lost) = claim(&slow).expect("an item");
    assert_eq!(wait_for(&c, &next, LOST), Outcome::Ready, "nobody rings for that");
    let (_, item) = claim(&next).expect("the same item");
    assert!(!acknowledge(&slow, &lost));
    assert!(acknowledge(&next, &item), "late or not, nobody else has claimed it");
}

#[test]
fn the_end_comes_to_all_behind_the_last_acknowledgement() {
    let domain = domain();
    let (a, b, c) = (context(domain), context(domain), context(domain));
    let queue = queue(&a, LONG);
    let workers = [worker(&b), worker(&c)];
    (1..=2).for_each(|number| assert!(send(&queue, [number]) > 0));
    let items = [0, 1].map(|index: usize| claim(&workers[index]).expect("an item").1);
    queue.finish().expect("it finishes");
    for worker in &workers {
        assert_eq!(worker.take_stream_event().expect("it lives"), None, "two are not acknowledged");
    }
    assert!(acknowledge(&workers[0], &items[0]));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| wait_for(&b, &workers[0], LOST));
        assert!(acknowledge(&workers[1], &items[1]));
        assert_eq!(waiting.join().expect("it ends"), Outcome::EndOfStream, "it is told");
    });
    assert_eq!(wait_for(&c, &workers[1], LOST), Outcome::EndOfStream);
    for worker in &workers {
        let event = worker.take_stream_event().expect("it lives").expect("an end");
        assert_eq!((event.outcome, event.last_sequence), (Outcome::EndOfStream, 2));
    }
}

#[test]
fn a_producer_that_has_left_leaves_its_items() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let queue = queue(&a, LONG);
    let worker = worker(&b);
    (1..=3).for_each(|number| assert!(send(&queue, [number]) > 0));
    queue.finish().expect("it finishes");
    drop(queue);
    for number in 1..=3 {
        let (body, item) = claim(&worker).expect("an item");
        assert_eq!(body, [number]);
        assert!(acknowledge(&worker, &item));
    }
    assert_eq!(wait_for(&b, &worker, LOST), Outcome::EndOfStream);
    drop((worker, a));
    assert!(files(domain).iter().all(|name| !name.contains("queue")), "{:?}", files(domain));
}

#[test]
fn a_producer_waits_while_its_window_is_full_and_no_longer() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let queue = queue(&a, LONG);
    let worker = worker(&b);
    (0..WINDOW as u8).for_each(|number| assert!(send(&queue, [number]) > 0));
    let full = queue.publish(&Bytes(vec![99])).expect_err("no room");
    assert_eq!(full.kind(), ErrorKind::Timeout, "{full}");
    assert!(full.to_string().contains("item 1 was not acknowledged"), "{full}");
    let (_, first) = claim(&worker).expect("an item");
    let (_, second) = claim(&worker).expect("an item");
    assert!(acknowledge(&worker, &second));
    assert!(queue.publish(&Bytes(vec![99])).is_err(), "the first one is what counts");
    std::thread::scope(|scope| {
        scope.spawn(|| while queue.publish(&Bytes(vec![99])).is_err() {});
        assert!(acknowledge(&worker, &first));
    });
    assert_eq!(claim(&worker).expect("an item").0, [2]);
}

#[test]
fn what_cannot_be_a_queue_or_share_one_is_refused() {
    let domain = domain();
    let a = context(domain);
    let producer = node(&a, "p");
    let refused = |result: shoal_rmw::Result<()>, what: &str| match result {
        Err(Error::InvalidArgument(text)) => assert!(text.contains(what), "{text}"),
        other => panic!("{other:?}"),
    };
    let first = publisher(&producer, "/t", keep_all());
    refused(first.make_queue(0, LONG), "a window of 0 items");
    refused(first.make_queue(1, Duration::ZERO), "a lease of 0ns");
    refused(publisher(&producer, "/t", depth(1)).make_queue(1, LONG), "KeepLast");
    send(&first, [1]);
    refused(first.make_queue(1, LONG), "has sent 1 samples");
    let second = queue(&a, LONG);
    refused(second.make_queue(1, LONG), "a queue or a stream already");
    refused(subscription(&producer, "/t", depth(1)).share_work(), "KeepLast");
    let worker = worker(&a);
    assert!(worker.take(&mut |_| Ok(())).is_err(), "it claims");
    let plain = subscription(&producer, "/t", keep_all());
    assert!(plain.claim(&mut |_| Ok(())).is_err(), "it takes");
    (0..100).for_each(|number| assert!(send(&first, [number]) > 0, "an ordinary publisher does not wait for workers"));
}

/// Not a test: a process that claims, says so, and does as it is told with each item.
#[test]
fn child() {
    let Ok(domain) = std::env::var("SHOAL_TEST_DOMAIN") else { return };
    let a = context(domain.parse().expect("a number"));
    let worker = worker(&a);
    println!("\n@joined");
    for line in std::io::stdin().lines().map_while(Result::ok) {
        assert_eq!(wait_for(&a, &worker, LOST), Outcome::Ready, "{line}");
        let claimed = claim(&worker).map(|(_, item)| item.sequence);
        println!("\n@{}", claimed.unwrap_or(0));
    }
}

struct Other {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Other {
    fn start(domain: usize) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("the own path"))
            .args(["child", "--exact", "--nocapture"])
            .env("SHOAL_TEST_DOMAIN", domain.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut other = Self { child, input, output };
        assert_eq!(other.hear(), "joined");
        other
    }

    fn hear(&mut self) -> String {
        let mut lines = self.output.by_ref().lines().map_while(Result::ok);
        lines.find_map(|line| line.strip_prefix('@').map(str::to_owned)).expect("it says something")
    }

    fn claims(&mut self) -> String {
        writeln!(self.input, "claim").expect("it listens");
        self.hear()
    }

    fn dies(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it is dead");
    }
}

#[test]
fn the_item_of_a_killed_worker_is_given_on() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let queue = queue(&a, LONG);
    let mut victim = Other::start(domain);
    (1..=2).for_each(|number| assert!(send(&queue, [number]) > 0));
    assert_eq!(victim.claims(), "1");
    let worker = worker(&b);
    let (body, second) = claim(&worker).expect("an item");
    assert_eq!(body, [2]);
    assert!(claim(&worker).is_none(), "the other one lives");
    victim.dies();
    assert_eq!(wait_for(&b, &worker, LOST), Outcome::Ready);
    let (body, first) = claim(&worker).expect("the dead one's");
    assert_eq!(body, [1]);
    assert!(acknowledge(&worker, &first) && acknowledge(&worker, &second));
    queue.finish().expect("it finishes");
    assert_eq!(wait_for(&b, &worker, LOST), Outcome::EndOfStream);
}
