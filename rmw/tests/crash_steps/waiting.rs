//! Processes that die while they ring, or while they go to sleep.

use std::time::Duration;

use shoal_rmw::{wait, Outcome, Waitable};

use crate::common::{context, depth, node, publisher, send, subscription, take_all};
use crate::publishing::sleep_on;
use crate::scene::Scene;
use crate::victim::Stage;

/// A victim that dies going to sleep.
pub fn wait_for_samples(stage: &Stage) {
    let context = context(stage.domain);
    let reader = subscription(&node(&context, "victim"), "/t", depth(10));
    stage.say("ready");
    stage.hear();
    stage.arm();
    let _ = wait(&context, &[Waitable::Subscription(&reader)], &mut [false], Some(Duration::from_secs(60)));
}

#[test]
fn the_next_ringer_wakes_whom_a_dead_one_announced_a_ring_to() {
    let step = "doorbell.announced";
    let scene = Scene::new();
    let mut victim = scene.start("publisher", step);
    let reader = subscription(&scene.node, "/t", depth(10));
    victim.tell("0 100 0");
    victim.expect("ready");
    let next = publisher(&scene.node, "/t", depth(10));
    let sleeper = sleep_on(&scene, &reader);
    victim.tell("send");
    victim.expect("sent");
    victim.tell("go on");
    victim.dies();
    assert!(sleeper.is_asleep() && scene.is_parked("survivor"), "announced, and not woken");
    send(&next, [9]);
    assert_eq!(sleeper.wakes(), Outcome::Ready);
    let taken = take_all(&reader);
    assert_eq!((taken.len(), &taken[1]), (2, &vec![9]), "the dead one's sample comes first, and both once");
    scene.look_for_the_dead();
    assert!(!reader.has_data(), "nothing comes again");
    scene.is_clean_after_a_look(step);
}

#[test]
fn who_dies_going_to_sleep_costs_a_ring_and_keeps_nobody() {
    let step = "doorbell.armed";
    let scene = Scene::new();
    let mut victim = scene.start("waiter", step);
    let talker = publisher(&scene.node, "/t", depth(10));
    victim.expect("ready");
    let bell = scene.context_of("victim");
    let parked = || scene.probe().doorbell_of(bell).map(|bell| (bell.is_parked(), bell.rings()));
    victim.tell("go on");
    victim.dies();
    assert_eq!(parked(), Some((true, 0)), "the dead one says that it sleeps");
    (1..=3).for_each(|number| assert_eq!(send(&talker, [number]), u64::from(number)));
    assert_eq!(parked(), Some((false, 1)), "one futile ring, and then none");
    scene.is_clean_after_a_look(step);
}
