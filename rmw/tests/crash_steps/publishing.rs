//! Publishers that die while they publish.

use std::sync::Arc;

use shoal_rmw::{wait, wait_in, Manner, Outcome, Qos, Subscription, Waitable};

use crate::common::loans::body;
use crate::common::{context, depth, latched, node, publisher, send, subscription, take_all};
use crate::scene::{Scene, Sleeper};
use crate::victim::{Stage, Victim};

const INLINE: usize = 100;
const CHUNK: usize = 64 << 10;

/// A victim that sends `count` samples of `len` bytes, keeps `history` of them, and dies sending the next one.
pub fn publish(stage: &Stage) {
    let [count, len, history] = stage.numbers();
    let context = context(stage.domain);
    let qos = if history > 0 { latched(history as u32) } else { depth(10) };
    let publisher = publisher(&node(&context, "victim"), "/t", qos);
    stage.say("ready");
    stage.hear();
    (1..=count).for_each(|number| assert!(send(&publisher, body(number as u8, len)) > 0));
    stage.say("sent");
    stage.hear();
    stage.arm();
    send(&publisher, body(count as u8 + 1, len));
}

/// A victim that sends `count` samples, and dies saying that nothing follows.
pub fn finish(stage: &Stage) {
    let [count] = stage.numbers();
    let context = context(stage.domain);
    let publisher = publisher(&node(&context, "victim"), "/t", depth(10));
    stage.say("ready");
    stage.hear();
    (1..=count).for_each(|number| assert!(send(&publisher, [number as u8]) > 0));
    stage.say("sent");
    stage.hear();
    stage.arm();
    publisher.finish().expect("it finishes");
}

/// A victim that sends `count` samples, and dies ending the day.
pub fn end_day(stage: &Stage) {
    let [count] = stage.numbers();
    let context = context(stage.domain);
    let publisher = publisher(&node(&context, "victim"), "/t", depth(10));
    stage.say("ready");
    stage.hear();
    (1..=count).for_each(|number| assert!(send(&publisher, [number as u8]) > 0));
    stage.say("sent");
    stage.hear();
    stage.arm();
    publisher.end_of_day().expect("it ends");
}

fn bodies(numbers: std::ops::RangeInclusive<usize>, len: usize) -> Vec<Vec<u8>> {
    numbers.map(|number| body(number as u8, len)).collect()
}

/// A thread that sleeps until `subscription` has something to take.
pub fn sleep_on(scene: &Scene, subscription: &Arc<Subscription>) -> Sleeper {
    let subscription = subscription.clone();
    let sleeper = scene.sleeper(move |context| {
        wait(context, &[Waitable::Subscription(&subscription)], &mut [false], None).expect("waiting works")
    });
    scene.until_asleep(&sleeper);
    sleeper
}

/// The readers of a publisher that died sending a sample: one that had taken everything before and sleeps, and one
/// that had taken nothing.
struct Audience {
    scene: Scene,
    prompt: Arc<Subscription>,
    lazy: Arc<Subscription>,
    sleeper: Sleeper,
}

/// The publisher has sent `sent` samples and dies at `step`, sending the next one.
fn killed_sending(step: &'static str, sent: usize, len: usize) -> Audience {
    let scene = Scene::new();
    let victim = scene.start("publisher", step);
    let [prompt, lazy] = [(); 2].map(|()| subscription(&scene.node, "/t", depth(10)));
    let sleeper = play(victim, &format!("{sent} {len} 10"), || {
        assert_eq!(take_all(&prompt), bodies(1..=sent, len), "{step}");
        sleep_on(&scene, &prompt)
    });
    Audience { scene, prompt, lazy, sleeper }
}

/// Leads a victim to its death; `before` is what happens right before.
fn play<T>(mut victim: Victim, numbers: &str, before: impl FnOnce() -> T) -> T {
    victim.tell(numbers);
    victim.expect("ready");
    victim.tell("send");
    victim.expect("sent");
    let found = before();
    victim.tell("go on");
    victim.dies();
    found
}

/// Everybody, late joiners too, has got the `sent` samples once, and nobody the one that its publisher died with.
fn is_never_published(step: &'static str, sent: usize, len: usize) {
    let Audience { scene, prompt, lazy, sleeper } = killed_sending(step, sent, len);
    let late = || subscription(&scene.node, "/t", latched(10));
    assert!(sleeper.is_asleep() && !prompt.has_data(), "{step}: there is nothing to be told of");
    let early = late();
    assert_eq!(take_all(&early), bodies(1..=sent, len), "{step}: the dead publisher's ring is whole");
    scene.look_for_the_dead();
    assert_eq!(take_all(&lazy), bodies(1..=sent, len), "{step}: after the look for the dead");
    assert_eq!(take_all(&early), Vec::<Vec<u8>>::new(), "{step}: nothing comes again");
    let next = publisher(&scene.node, "/t", latched(10));
    send(&next, [9]);
    assert_eq!(sleeper.wakes(), Outcome::Ready, "{step}");
    for reader in [&prompt, &lazy, &early] {
        assert_eq!(take_all(reader), [[9]], "{step}: a publisher that lives");
    }
    scene.is_clean_after_a_look(step);
}

#[test]
fn a_sample_whose_publisher_dies_before_its_head_moves_was_never_published() {
    for step in ["ring.slot_opened", "ring.slot_filled", "ring.slot_committed"] {
        for len in [INLINE, CHUNK] {
            is_never_published(step, 2, len);
        }
    }
}

#[test]
fn a_ring_whose_publisher_dies_while_it_grows_is_whole() {
    for step in ["ring.region_prepared", "ring.moved"] {
        // A ring's first region has four slots.
        for (sent, len) in [(0, INLINE), (4, INLINE), (4, CHUNK)] {
            is_never_published(step, sent, len);
        }
    }
}

#[test]
fn a_sample_whose_publisher_dies_before_it_rings_is_delivered_once_after_the_next_look_for_the_dead() {
    for (step, told) in [("ring.head_moved", false), ("publish.marked", true)] {
        for len in [INLINE, CHUNK] {
            let Audience { scene, prompt, lazy, sleeper } = killed_sending(step, 2, len);
            assert_eq!(prompt.has_data(), told, "{step}: marks");
            assert!(sleeper.is_asleep(), "{step}: nobody rang");
            scene.look_for_the_dead();
            assert_eq!(sleeper.wakes(), Outcome::Ready, "{step}");
            assert_eq!(take_all(&prompt), bodies(3..=3, len), "{step}");
            assert_eq!(take_all(&lazy), bodies(1..=3, len), "{step}");
            scene.is_clean_after_a_look(step);
            assert!(!prompt.has_data() && !lazy.has_data(), "{step}: nothing comes again");
        }
    }
}

/// What a reader of depth 1 gets that reads, or not, between a publisher's first sample and its death with the second.
fn read_around_a_retirement(step: &'static str, first_is_read: bool) -> Vec<Vec<u8>> {
    let scene = Scene::new();
    let victim = scene.start("publisher", step);
    let reader = subscription(&scene.node, "/t", depth(1));
    play(victim, &format!("1 {CHUNK} 0"), || {
        if first_is_read {
            assert_eq!(take_all(&reader), bodies(1..=1, CHUNK), "{step}");
        }
    });
    assert!(!scene.files_of_the_dead().is_empty(), "{step}: the chunk is in the dead context's memory");
    scene.look_for_the_dead();
    let read = take_all(&reader);
    scene.is_clean_after_a_look(step);
    read
}

#[test]
fn a_retired_sample_whose_publisher_dies_before_its_chunk_is_free_is_not_read() {
    let step = "ring.retired";
    assert_eq!(read_around_a_retirement(step, false), bodies(2..=2, CHUNK), "the second one pushed it out");
    assert_eq!(read_around_a_retirement(step, true), Vec::<Vec<u8>>::new(), "its chunk was to be the second one's");
}

/// A reader's wait that tells how streams end.
fn sleep_until_told(scene: &Scene, reader: &Arc<Subscription>) -> Sleeper {
    let reader = reader.clone();
    scene.sleeper(move |context| {
        let items = [Waitable::Subscription(&reader)];
        wait_in(Manner::UntilResumed, context, &items, &mut [false], None).expect("waiting works")
    })
}

#[test]
fn a_stream_whose_publisher_dies_before_it_tells_of_its_end_has_ended_and_is_not_broken() {
    let step = "stream.finished";
    for sent in [0, 2] {
        let scene = Scene::new();
        let victim = scene.start("finisher", step);
        let reader = subscription(&scene.node, "/t", Qos::default());
        reader.watch_streams();
        let sleeper = play(victim, &sent.to_string(), || {
            assert_eq!(take_all(&reader).len(), sent);
            sleep_until_told(&scene, &reader)
        });
        scene.look_for_the_dead();
        assert_eq!(sleeper.wakes(), Outcome::EndOfStream, "{sent} samples");
        let next = || reader.take_stream_event().expect("the context lives");
        let [of_publisher, of_topic] = [(); 2].map(|()| next().expect("an end"));
        assert_eq!((of_publisher.outcome, of_publisher.last_sequence), (Outcome::EndOfStream, sent as u64));
        assert!(of_publisher.publisher.is_some(), "{of_publisher:?}");
        assert_eq!((of_topic.outcome, of_topic.publisher), (Outcome::EndOfStream, None));
        assert_eq!(next(), None);
        scene.is_clean_after_a_look(step);
    }
}

#[test]
fn a_day_whose_publisher_dies_before_it_tells_of_its_end_has_ended_once_it_is_counted() {
    for (step, ended) in [("day.marked", false), ("day.counted", true)] {
        for sent in [0, 2] {
            let scene = Scene::new();
            let victim = scene.start("day ender", step);
            let reader = subscription(&scene.node, "/t", Qos::default());
            reader.watch_streams();
            let sleeper = play(victim, &sent.to_string(), || {
                assert_eq!(take_all(&reader).len(), sent);
                sleep_until_told(&scene, &reader)
            });
            scene.look_for_the_dead();
            let (day, broken) = (Outcome::EndOfDay, Outcome::Broken);
            assert_eq!(sleeper.wakes(), if ended { day } else { broken }, "{step}: {sent} samples");
            let next = || reader.take_stream_event().expect("the context lives");
            let told: Vec<_> = std::iter::from_fn(next).map(|event| (event.outcome, event.last_sequence)).collect();
            let last = sent as u64;
            let all = [(day, last), (broken, last), (broken, 0)];
            assert_eq!(told, if ended { &all[..] } else { &all[1..] }, "{step}: {sent} samples");
            scene.is_clean_after_a_look(step);
        }
    }
}
