//! Subscriptions that die while they read.

use std::collections::BTreeSet;

use shoal_rmw::Publisher;

use crate::common::loans::{body, borrower, lender, LARGE};
use crate::common::{context, depth, node, publisher, send, subscription, take, usage};
use crate::scene::Scene;
use crate::victim::Stage;

/// A victim that dies taking a sample.
pub fn subscribe(stage: &Stage) {
    let context = context(stage.domain);
    let reader = subscription(&node(&context, "victim"), "/t", depth(10));
    stage.say("ready");
    stage.hear();
    stage.arm();
    take(&reader);
}

/// The same, of a type that can be lent.
pub fn borrow(stage: &Stage) {
    let context = context(stage.domain);
    let reader = borrower(&node(&context, "victim"), "/t", LARGE, depth(1));
    stage.say("ready");
    stage.hear();
    stage.arm();
    take(&reader);
}

const SAMPLE: usize = 1 << 20;

#[test]
fn what_a_dead_reader_has_not_read_is_given_back_after_the_next_look_for_the_dead() {
    for step in ["drain.covered", "drain.taken"] {
        let scene = Scene::new();
        let mut victim = scene.start("subscriber", step);
        let talker = publisher(&scene.node, "/t", depth(10));
        victim.expect("ready");
        let before = usage(scene.domain);
        (0..3).for_each(|_| assert!(send(&talker, vec![1; SAMPLE]) > 0));
        victim.tell("take");
        victim.dies();
        drop(talker);
        scene.collect();
        // The dead reader's own node and subscription are in the graph until somebody looks.
        assert_eq!(scene.hidden_slots(), 1, "{step}: the closed publisher counts as unread");
        let kept = usage(scene.domain) - before;
        assert!(kept >= 3 * SAMPLE as u64, "{step}: {kept} bytes are kept for the dead");
        scene.is_clean_after_a_look(step);
        let kept = usage(scene.domain) - before;
        assert!(kept < SAMPLE as u64, "{step}: {kept} bytes are kept for nobody");
    }
}

/// The addresses of memory that `rounds` samples are sent in.
fn send_in_loans(talker: &Publisher, rounds: usize) -> BTreeSet<usize> {
    let send_one = |number: usize| {
        let at = talker.borrow_loan().expect("memory to fill");
        // SAFETY: lent memory of LARGE bytes.
        unsafe { at.as_ptr().copy_from_nonoverlapping(body(number as u8, LARGE).as_ptr(), LARGE) };
        talker.publish_loan(at.as_ptr()).expect("a loan can be sent");
        at.addr().get()
    };
    (0..rounds).map(send_one).collect()
}

#[test]
fn a_payload_that_a_dead_reader_announced_is_used_again_after_the_next_look_for_the_dead() {
    let step = "reader.announced";
    let scene = Scene::new();
    let mut victim = scene.start("borrower", step);
    let talker = lender(&scene.node, "/t", LARGE, depth(1));
    victim.expect("ready");
    let before = usage(scene.domain);
    let read = send_in_loans(&talker, 1);
    victim.tell("take");
    victim.dies();
    let meanwhile = send_in_loans(&talker, 20);
    assert!(meanwhile.is_disjoint(&read), "the dead one's hazard stands: {read:x?} {meanwhile:x?}");
    scene.is_clean_after_a_look(step);
    let afterwards = send_in_loans(&talker, 20);
    assert!(afterwards.is_superset(&read), "writers see it no more: {read:x?} {afterwards:x?}");
    // Whose publisher goes looks at everybody's hazards.
    while send_in_loans(&talker, 1) != read {}
    drop(talker);
    scene.collect();
    let kept = usage(scene.domain) - before;
    assert!(kept < LARGE as u64, "{kept} bytes are kept for a hazard of the dead");
}
