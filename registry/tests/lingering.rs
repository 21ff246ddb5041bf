//! What publishers, services and readers leave to each other when they die or go.

mod common;
use common::roles::*;
use common::*;
use shoal_registry::*;
use std::sync::atomic::Ordering::SeqCst;

/// Not a test: what a child process does.
#[test]
fn child() {
    play();
}

#[test]
fn samples_of_a_killed_publisher_stay_until_its_readers_have_them() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let s = reader(&r, 10);
    let (mut peer, index) = talker(&root);
    peer.kill();
    let armed = r.doorbell().arm();
    r.sweep_now();
    let hot = r.hot(s.index).expect("hot");
    assert_eq!(hot.pending().load(SeqCst), 1 << (index % 64), "marked on behalf of the dead");
    assert_ne!(r.doorbell().word().load(SeqCst), armed);
    assert_eq!(found(&r, Kind::Publisher, "/talk").iter().map(|f| f.1).collect::<Vec<_>>(), [SlotState::Closed]);
    assert_eq!(r.snapshot().len(), 1, "only the reader is in the graph");
    assert_eq!(files(&r).len(), 3, "its memory stays");
    let quiet = r.graph_generation();
    r.sweep_now();
    assert_eq!(r.graph_generation(), quiet, "looking again is no news");
    // The reader takes the mark but has not read yet.
    hot.draining().store(hot.pending().swap(0, SeqCst), SeqCst);
    r.sweep_now();
    assert_eq!(files(&r).len(), 3);
    hot.draining().store(0, SeqCst);
    r.sweep_now();
    assert_eq!((found(&r, Kind::Publisher, "/talk"), files(&r).len(), r.usage().contexts), (vec![], 2, 1));
}

#[test]
fn a_reader_that_leaves_lets_the_samples_go() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let s = reader(&r, 10);
    let best_effort = Registration {
        qos: Qos { reliability: Reliability::BestEffort, ..Qos::default() },
        ..registration(Kind::Publisher, "/talk", 3)
    };
    let incompatible = r.claim(&best_effort).expect("claim");
    r.publish(incompatible);
    r.hot(incompatible.index).expect("hot").head().store(1, SeqCst);
    r.hot(s.index).expect("hot").pending().store(u64::MAX, SeqCst);
    assert!(r.is_drained(incompatible), "a reader that does not match holds nothing back");
    let (mut peer, _) = talker(&root);
    peer.kill();
    r.sweep_now();
    assert_eq!(r.usage().contexts, 2);
    r.withdraw(s);
    r.sweep_now();
    assert_eq!((r.usage().contexts, files(&r).len()), (1, 2));
}

#[test]
fn no_more_closed_outlets_are_kept_than_the_deepest_reader_could_take() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    reader(&r, 2);
    let mut indices = Vec::new();
    for _ in 0..4 {
        // All alive at once, so that no slot is used twice.
        indices.push(talker(&root));
    }
    for (peer, _) in &mut indices {
        peer.kill();
        r.sweep_now();
    }
    r.sweep_now();
    let mut kept: Vec<u32> = found(&r, Kind::Publisher, "/talk").iter().map(|f| f.0.index).collect();
    kept.sort();
    let mut newest: Vec<u32> = indices[2..].iter().map(|i| i.1).collect();
    newest.sort();
    assert_eq!(kept, newest);
    assert_eq!(files(&r).len(), 4);
}
#[test]
fn a_reader_that_has_drained_everything_keeps_nothing_for_one_that_wants_little() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    reader(&r, 1);
    let deep = reader(&r, 100);
    let mut talkers: Vec<_> = (0..4).map(|_| talker(&root)).collect();
    for (peer, _) in &mut talkers {
        peer.kill();
        r.sweep_now();
    }
    assert_eq!(found(&r, Kind::Publisher, "/talk").len(), 4, "the deep reader has read none of them");
    r.hot(deep.index).expect("hot").pending().store(0, SeqCst);
    r.sweep_now();
    let kept: Vec<u32> = found(&r, Kind::Publisher, "/talk").iter().map(|f| f.0.index).collect();
    assert_eq!(kept, [talkers[3].1], "what the other one takes in");
}

#[test]
fn a_publisher_that_leaves_in_order_is_reaped_only_after_its_readers_drained() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let s = reader(&r, 10);
    let hot = r.hot(s.index).expect("hot");
    let (mut peer, index) = talker(&root);
    hot.pending().fetch_or(1 << (index % 64), SeqCst);
    peer.tell("leave");
    assert_eq!(peer.hear().as_deref(), Some("left"));
    r.sweep_now();
    assert_eq!(files(&r).len(), 3, "it still lives");
    assert!(peer.finish());
    r.sweep_now();
    assert_eq!(files(&r).len(), 3, "it is gone, but its samples are wanted");
    hot.pending().store(0, SeqCst);
    r.sweep_now();
    assert_eq!(files(&r).len(), 2);
}

#[test]
fn a_reader_and_its_publisher_killed_together_are_gone_after_one_sweep() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    // The publisher's context comes first in the table, the reader's second.
    let mut peer = Peer::spawn(root.path(), "live");
    peer.hear().expect("ready");
    let theirs = found(&r, Kind::Publisher, "/t")[0].0;
    let mut other = Peer::spawn(root.path(), "live");
    other.hear().expect("ready");
    r.hot(theirs.index).expect("hot").head().store(1, SeqCst);
    peer.kill();
    other.kill();
    r.sweep_now();
    assert_eq!((r.usage().contexts, r.usage().slots), (1, 0));
}

#[test]
fn responses_of_a_killed_service_stay_until_its_client_has_them() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let c = enter(&r, Kind::Client, "/t", 1);
    let mut peer = Peer::spawn(root.path(), "live");
    peer.hear().expect("ready");
    let service = found(&r, Kind::Service, "/t")[0].0;
    // The service has a response table.
    r.hot(service.index).expect("hot").ring().store(1, SeqCst);
    peer.kill();
    r.sweep_now();
    assert_eq!(found(&r, Kind::Service, "/t"), [(service, SlotState::Closed)]);
    assert_eq!(found(&r, Kind::Client, "/t"), [(c, SlotState::Live)], "requests of the dead are dropped");
    r.hot(c.index).expect("hot").pending().store(0, SeqCst);
    r.sweep_now();
    assert_eq!(found(&r, Kind::Service, "/t"), []);
}
