//! Work queues: what a producer or a worker leaves that dies in the middle of an item.

use std::sync::Arc;
use std::time::Duration;

use shoal_rmw::{wait_in, History, Manner, Outcome, Publisher, Qos, Subscription, Waitable, WorkItem};

use crate::common::{context, node, publisher, send, subscription};
use crate::scene::Scene;
use crate::victim::Stage;

/// Longer than any test.
const LEASE: Duration = Duration::from_secs(3600);
const LOST: Duration = Duration::from_secs(60);

fn keep_all() -> Qos {
    Qos { history: History::KeepAll, ..Qos::default() }
}

fn queue(node: &Arc<shoal_rmw::Node>) -> Arc<Publisher> {
    let publisher = publisher(node, "/t", keep_all());
    publisher.make_queue(4, LEASE).expect("a queue");
    publisher
}

fn worker(node: &Arc<shoal_rmw::Node>) -> Arc<Subscription> {
    let worker = subscription(node, "/t", keep_all());
    worker.share_work().expect("it is reliable and KEEP_ALL");
    worker
}

fn claim(worker: &Subscription) -> Option<WorkItem> {
    worker.claim(&mut |_| Ok(())).expect("claiming works").map(|(_, item)| item)
}

/// A victim that sends an item, and dies sending the next one.
pub fn produce(stage: &Stage) {
    let context = context(stage.domain);
    let queue = queue(&node(&context, "victim"));
    stage.say("ready");
    stage.hear();
    send(&queue, [1]);
    stage.arm();
    send(&queue, [2]);
}

/// A victim that dies claiming an item.
pub fn claim_one(stage: &Stage) {
    let context = context(stage.domain);
    let worker = worker(&node(&context, "victim"));
    stage.say("ready");
    stage.hear();
    stage.arm();
    claim(&worker);
}

/// A victim that claims an item, and dies acknowledging it.
pub fn acknowledge(stage: &Stage) {
    let context = context(stage.domain);
    let worker = worker(&node(&context, "victim"));
    stage.say("ready");
    stage.hear();
    let item = claim(&worker).expect("an item");
    stage.say("claimed");
    stage.hear();
    stage.arm();
    assert!(worker.acknowledge(&item).expect("it lives"));
}

fn wait_for(scene: &Scene, worker: &Subscription) -> Outcome {
    let items = [Waitable::Subscription(worker)];
    wait_in(Manner::UntilResumed, &scene.context, &items, &mut [false], Some(LOST)).expect("waiting works")
}

#[test]
fn an_item_whose_producer_dies_before_it_commits_it_was_never_sent() {
    let step = "claim.opened";
    let scene = Scene::new();
    let mut victim = scene.start("queue", step);
    victim.expect("ready");
    let worker = worker(&scene.node);
    worker.watch_streams();
    victim.tell("send");
    victim.dies();
    let item = claim(&worker).expect("the first one");
    assert_eq!((item.sequence, claim(&worker)), (1, None));
    assert!(worker.acknowledge(&item).expect("it lives"));
    assert_eq!(wait_for(&scene, &worker), Outcome::Broken);
    let event = worker.take_stream_event().expect("it lives").expect("an ending");
    assert_eq!(event.last_sequence, 1);
    scene.is_clean_after_a_look(step);
}

#[test]
fn an_item_whose_worker_dies_claiming_it_is_given_on_after_the_next_look_for_the_dead() {
    let step = "claim.claimed";
    let scene = Scene::new();
    let queue = queue(&scene.node);
    let mut victim = scene.start("worker", step);
    victim.expect("ready");
    send(&queue, [1]);
    victim.tell("claim");
    victim.dies();
    let worker = worker(&scene.node);
    assert_eq!(claim(&worker), None, "nobody has looked for the dead");
    assert_eq!(wait_for(&scene, &worker), Outcome::Ready, "the wait does");
    let item = claim(&worker).expect("the dead one's");
    assert!(worker.acknowledge(&item).expect("it lives"));
    scene.is_clean_after_a_look(step);
}

#[test]
fn the_end_of_a_queue_is_found_although_the_last_worker_dies_before_it_tells() {
    let step = "claim.acked";
    let scene = Scene::new();
    let queue = queue(&scene.node);
    let worker = worker(&scene.node);
    let mut victim = scene.start("acknowledger", step);
    victim.expect("ready");
    send(&queue, [1]);
    queue.finish().expect("it finishes");
    victim.tell("claim");
    victim.expect("claimed");
    worker.watch_streams();
    assert_eq!(worker.take_stream_event().expect("it lives"), None, "it is not acknowledged");
    victim.tell("acknowledge");
    victim.dies();
    assert_eq!(wait_for(&scene, &worker), Outcome::EndOfStream);
    assert_eq!(claim(&worker), None, "it was acknowledged");
    scene.is_clean_after_a_look(step);
}
