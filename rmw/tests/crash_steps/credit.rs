//! Reliable KEEP_ALL: a reader that dies holds its publisher no longer than until that looks, and a publisher that dies
//! holds nobody.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use shoal_rmw::{ErrorKind, History, Outcome, Publisher, Qos};

use crate::common::{context, node, publisher, send, subscription, take, take_all, Bytes};
use crate::scene::{root, Scene};
use crate::victim::{Stage, Victim};

/// Samples that may be in flight.
const LIMIT: u64 = 65_536;

fn keep_all() -> Qos {
    Qos { history: History::KeepAll, ..Qos::default() }
}

fn numbered(number: u64) -> Bytes {
    Bytes(number.to_le_bytes().to_vec())
}

fn number_of(body: &[u8]) -> u64 {
    u64::from_le_bytes(body.try_into().expect("8 bytes"))
}

/// Sends samples until as many are in flight as may be, of which `read` have been read.
fn send_up_to_the_limit(publisher: &Publisher, sent: u64, read: u64) {
    for number in sent + 1..=read + LIMIT {
        assert_eq!(publisher.publish(&numbered(number)).expect("there is room"), number);
    }
}

/// Sends one more, however often that takes longer than a publish may.
fn send_in_the_end(publisher: &Publisher, number: u64) {
    while let Err(error) = publisher.publish(&numbered(number)) {
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    }
}

/// A victim that publishes until it must wait, and dies saying so.
pub fn fill_up(stage: &Stage) {
    let context = context(stage.domain);
    let publisher = publisher(&node(&context, "victim"), "/t", keep_all());
    stage.say("ready");
    stage.hear();
    send_up_to_the_limit(&publisher, 0, 0);
    stage.say("full");
    stage.hear();
    stage.arm();
    send_in_the_end(&publisher, LIMIT + 1);
}

/// A victim that takes as many samples as it is told, and dies taking the next one.
pub fn read_slowly(stage: &Stage) {
    let context = context(stage.domain);
    let reader = subscription(&node(&context, "victim"), "/t", keep_all());
    stage.say("ready");
    let [count] = stage.numbers();
    (0..count).for_each(|_| assert!(take(&reader).is_some()));
    stage.say("taken");
    stage.hear();
    stage.arm();
    take(&reader);
}

/// What the only reader has not taken of a publisher.
fn behind(publisher: &Publisher) -> Vec<Option<u64>> {
    publisher.lag().expect("the context lives").iter().map(|lag| lag.messages).collect()
}

#[test]
fn a_table_of_acknowledgements_whose_reader_dies_while_it_is_made_anew_is_whole_and_holds_nobody_for_long() {
    for step in ["acks.filled", "acks.named"] {
        let scene = Scene::new();
        let mut victim = scene.start("slow reader", step);
        let first = publisher(&scene.node, "/t", keep_all());
        victim.expect("ready");
        (1..=5).for_each(|number| assert_eq!(first.publish(&numbered(number)).expect("there is room"), number));
        victim.tell("3");
        victim.expect("taken");
        let second = publisher(&scene.node, "/t", keep_all());
        send(&second, [1]);
        victim.tell("take");
        victim.dies();
        assert_eq!((behind(&first), behind(&second)), (vec![Some(2)], vec![Some(1)]), "{step}");
        send_up_to_the_limit(&first, 5, 3);
        assert_eq!(scene.probe().usage().contexts, 3, "{step}: nobody has looked for the dead");
        send_in_the_end(&first, 3 + LIMIT + 1);
        scene.is_clean(step);
    }
}

#[test]
fn who_waits_for_room_in_vain_and_dies_leaves_all_that_it_sent() {
    let step = "credit.asked";
    let scene = Scene::new();
    let mut victim = scene.start("blocked publisher", step);
    let reader = subscription(&scene.node, "/t", keep_all());
    victim.expect("ready");
    victim.tell("fill up");
    victim.expect("full");
    victim.tell("one more");
    victim.dies();
    let half: Vec<_> = std::iter::from_fn(|| take(&reader)).take(LIMIT as usize / 2 + 10).collect();
    scene.look_for_the_dead();
    let bodies = half.into_iter().map(|(body, _)| body).chain(take_all(&reader));
    assert!(bodies.map(|body| number_of(&body)).eq(1..=LIMIT), "each once, in their order");
    scene.is_clean_after_a_look(step);
}

/// A publisher sleeps for want of room, `reader` reads one sample, and stops before it rings.
fn goes_on_by_itself(scene: &Scene, talker: &Arc<Publisher>, reader: &mut Victim) {
    let (blocked, sent) = (talker.clone(), Arc::new(AtomicU64::new(0)));
    let done = sent.clone();
    let sleeper = scene.sleeper(move |_| {
        send_in_the_end(&blocked, LIMIT + 1);
        done.store(LIMIT + 1, Ordering::Release);
        Outcome::Ready
    });
    scene.until_asleep(&sleeper);
    assert_eq!(sent.load(Ordering::Acquire), 0, "it waits for room");
    reader.tell("take");
    reader.stops();
    assert_eq!(sleeper.wakes(), Outcome::Ready, "nobody rang, and it found the room");
}

#[test]
fn room_that_a_dead_reader_did_not_tell_of_is_found_by_the_publisher_that_waits() {
    let step = "credit.acknowledged";
    let scene = Scene::new();
    let mut victim = Victim::start_to_stop(&root(), scene.domain, "slow reader", step);
    let talker = publisher(&scene.node, "/t", keep_all());
    victim.expect("ready");
    victim.tell("0");
    victim.expect("taken");
    send_up_to_the_limit(&talker, 0, 0);
    // Stopped right there it is not dead yet: so it is not the reaping of it that makes room.
    goes_on_by_itself(&scene, &talker, &mut victim);
    assert_eq!(scene.probe().usage().contexts, 3, "the reader is not dead");
    victim.dies_there();
    send_in_the_end(&talker, LIMIT + 2);
    scene.is_clean(step);
}
