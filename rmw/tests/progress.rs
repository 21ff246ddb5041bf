//! What readers have taken: flush and lag; and where they joined.

mod common;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use common::*;
use parking_lot::Mutex;
use shoal_rmw::{Error, History, Interrupt, Outcome, Publisher, Qos, Reliability};

/// Held by tests that flush: the flag of interruptions is the process's.
static FLAG: Mutex<()> = Mutex::new(());

const LONG: Option<Duration> = Some(Duration::from_secs(20));
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

/// Samples and bytes that each reader has not taken.
fn behind(publisher: &Publisher) -> Vec<(Option<u64>, u64)> {
    publisher.lag().expect("the context lives").iter().map(|lag| (lag.messages, lag.bytes)).collect()
}

fn flush(publisher: &Publisher, budget: Option<Duration>) -> (Outcome, usize) {
    let (outcome, late) = publisher.flush(budget).expect("the context lives");
    (outcome, late.len())
}

#[test]
fn lag_counts_what_was_not_taken_in_samples_and_bytes() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    assert_eq!(behind(&publisher), []);
    let subscription = subscription(&node(&b, "s"), "/t", depth(10));
    assert_eq!(behind(&publisher), [(Some(0), 0)]);
    (1..=5u8).for_each(|length| assert!(send(&publisher, vec![0; length.into()]) > 0));
    assert!(subscription.has_data(), "a look");
    assert_eq!(behind(&publisher), [(Some(5), 15)]);
    assert!(take(&subscription).is_some());
    assert_eq!(behind(&publisher), [(Some(4), 14)]);
    let reader = publisher.lag().expect("the context lives")[0];
    assert_eq!((reader.gid, reader.reliable), (subscription.gid(), true));
    take_all(&subscription);
    assert_eq!(behind(&publisher), [(Some(0), 0)]);
}

#[test]
fn a_flush_ends_when_every_reliable_reader_has_taken_everything() {
    let _alone = FLAG.lock();
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let best_effort = Qos { reliability: Reliability::BestEffort, ..depth(10) };
    let reader = node(&b, "s");
    let all = Qos { history: History::KeepAll, ..Qos::default() };
    let readers = [subscription(&reader, "/t", depth(10)), subscription(&reader, "/t", all)];
    let _ignored = subscription(&reader, "/t", best_effort);
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::Ready, 0), "nothing was sent");
    (0..5).for_each(|number| assert!(send(&publisher, [number]) > 0));
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::TimedOut, 2));
    take_all(&readers[0]);
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::TimedOut, 1));
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(take_all(&readers[1]).len(), 5));
        assert_eq!(flush(&publisher, LONG), (Outcome::Ready, 0));
    });
}

#[test]
fn what_keep_last_skips_counts_as_taken() {
    let _alone = FLAG.lock();
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let subscription = subscription(&node(&b, "s"), "/t", depth(2));
    (0..8).for_each(|number| assert!(send(&publisher, [number]) > 0));
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::TimedOut, 1));
    assert_eq!(take_all(&subscription), [[6], [7]]);
    assert_eq!(flush(&publisher, AT_ONCE), (Outcome::Ready, 0));
}

#[test]
fn an_interruption_ends_a_flush() {
    let _alone = FLAG.lock();
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", depth(10));
    let _reader = subscription(&node(&b, "s"), "/t", depth(10));
    send(&publisher, [1]);
    let interrupt = Interrupt::new(&[]).expect("a plain handle");
    std::thread::scope(|scope| {
        let flushing = scope.spawn(|| flush(&publisher, None));
        interrupt.interrupt();
        assert_eq!(flushing.join().expect("it ends"), (Outcome::Interrupted, 1));
    });
    interrupt.resume();
}

/// Where the hot cells of the first slots begin in the registry file, and how many there are for sure.
const HOT_AT: u64 = 4096 + 2048 * 16 + 4096 * 1024 + 65_536 * 8;
const SLOTS: u64 = 64;

fn registry_of(domain: usize) -> File {
    let root = std::env::var_os("SHOAL_DIR").expect("set with the first domain");
    let of_user = std::fs::read_dir(root).expect("a directory").flatten().next().expect("the directory of this user");
    let path = of_user.path().join(domain.to_string()).join("registry");
    File::options().read(true).write(true).open(path).expect("our own file")
}

fn word(file: &File, at: u64) -> u64 {
    let mut word = [0; 8];
    file.read_exact_at(&mut word, at).expect("reserved");
    u64::from_le_bytes(word)
}

/// By then the slot may be another process's.
#[test]
fn a_flush_that_a_shutdown_ends_stores_nothing_into_its_slot_any_more() {
    let _alone = FLAG.lock();
    let domain = domain();
    let b = context(domain);
    let reader = node(&b, "s");
    for _ in 0..20 {
        let a = context(domain);
        let publisher = publisher(&node(&a, "p"), "/t", depth(10));
        let _reader = subscription(&reader, "/t", depth(10));
        (0..13).for_each(|number| assert!(send(&publisher, [number]) > 0));
        let registry = registry_of(domain);
        std::thread::scope(|scope| {
            let flushing = scope.spawn(|| publisher.flush(None));
            let asks = |at: &u64| word(&registry, at + 8) == 13 && word(&registry, at + 16) == 13;
            let cell = std::iter::repeat_with(|| (0..SLOTS).map(|slot| HOT_AT + slot * 64).find(asks)).flatten().next();
            let wish = cell.expect("it asks") + 8;
            a.shutdown().expect("shut down");
            // As the next tenant does.
            registry.write_all_at(&[0; 8], wish).expect("reserved");
            assert!(matches!(flushing.join().expect("no panic"), Err(Error::ShutDown)));
            assert_eq!(word(&registry, wish), 0);
        });
    }
}

#[test]
fn the_join_bound_parts_history_from_what_comes_live() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let publisher = publisher(&node(&a, "p"), "/t", latched(3));
    (1..=5).for_each(|number| assert!(send(&publisher, [number]) > 0));
    let early = subscription(&node(&b, "s"), "/t", latched(10));
    send(&publisher, [6]);
    assert_eq!(early.join_bound(&publisher.gid()).expect("it is known"), 5);
    let sequences: Vec<_> = std::iter::from_fn(|| take(&early)).map(|(_, info)| info.publication_sequence).collect();
    assert_eq!(sequences, [3, 4, 5, 6], "three of history, then what came after it");
    let later = common::publisher(&node(&a, "q"), "/t", latched(3));
    send(&later, [1]);
    assert_eq!(early.join_bound(&later.gid()).expect("it is known"), 0, "all of it comes live");
    assert!(matches!(early.join_bound(&[7; 16]), Err(Error::InvalidArgument(_))));
}

#[test]
fn counters_belong_to_the_domain() {
    let domain = domain();
    let (a, b, elsewhere) = (context(domain), context(domain), context(common::domain()));
    assert_eq!(a.tick(1023, 5).expect("the last one"), 5);
    assert_eq!(b.tick(1023, u64::MAX).expect("the same one"), 4, "it wraps around");
    assert_eq!(b.tock(1023, 100).expect("set"), 4);
    assert_eq!(a.tick(1023, 1).expect("the same one"), 101);
    assert_eq!(elsewhere.tick(1023, 1).expect("another domain's"), 1);
    assert!(a.tick(1024, 1).is_err() && a.tock(1024, 1).is_err());
}
