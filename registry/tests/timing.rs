//! Prints what a domain of 200 contexts with 12 endpoints each costs. Asserts nothing: the numbers belong to the
//! machine. Run it in release mode: `cargo test --release -p shoal-registry --test timing -- --nocapture`.

mod common;
use common::*;
use shoal_registry::*;
use std::time::Instant;

const CONTEXTS: usize = 200;
const ENDPOINTS: u32 = 12;
const MANY: u32 = 20_000;

fn timed<T>(what: &str, per: usize, f: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = f();
    println!("{what}: {:.2} us each", start.elapsed().as_secs_f64() * 1e6 / per as f64);
    out
}

#[test]
fn two_hundred_contexts_with_twelve_endpoints() {
    let _dog = watchdog(240);
    let root = Root::new();
    let all: Vec<_> = timed("join", CONTEXTS, || (0..CONTEXTS).map(|_| root.join()).collect());
    all[0].watch_graph();
    timed("claim and publish", CONTEXTS * ENDPOINTS as usize, || {
        for (i, r) in all.iter().enumerate() {
            for n in 0..ENDPOINTS {
                let name = if n < 2 { format!("/shared{n}") } else { format!("/own{i}/topic{n}") };
                enter(r, if n % 2 == 0 { Kind::Publisher } else { Kind::Subscription }, &name, n);
            }
        }
    });
    let total = CONTEXTS * ENDPOINTS as usize;
    timed("first snapshot, a slot", total, || all[0].snapshot().len());
    let seen = timed("next snapshot, a slot", total, || all[0].snapshot().len());
    assert_eq!(seen, CONTEXTS * ENDPOINTS as usize);
    timed("sweep with nobody dead", 1, || all[0].sweep_now());
    let mut hits = 0;
    timed("scan of a topic with 200 matches", 100, || {
        for _ in 0..100 {
            let t = TopicHash::of("/shared0");
            all[0].for_each_matching(&[Kind::Publisher], t, key("/shared0"), &mut |_| hits += 1);
        }
    });
    assert_eq!(hits, 100 * CONTEXTS);
    let leaving = all.len();
    timed("leave and drop", leaving, || drop(all));
}

#[test]
fn a_scan_over_twenty_thousand_slots() {
    let _dog = watchdog(240);
    let root = Root::new();
    let r = root.join();
    for n in 0..MANY {
        r.claim(&registration(Kind::Publisher, &format!("/t{n}"), n)).expect("claim");
    }
    let mut hits = 0;
    let scan = |hits: &mut u32| {
        let start = Instant::now();
        r.for_each_matching(&[Kind::Publisher], TopicHash::of("/t77"), key("/t77"), &mut |_| *hits += 1);
        start.elapsed()
    };
    let best = (0..100).map(|_| scan(&mut hits)).min();
    println!("scan of 20,000 slots, the fastest of 100: {best:?}");
    assert_eq!(hits, 100);
}
