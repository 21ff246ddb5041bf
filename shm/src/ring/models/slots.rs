//! One slot, one head, one joiner, one move.

use super::super::edge::{generation_with, head_with, newest};
use super::super::grow::FIRST_LOG2;
use super::super::testing::Bench;
use super::super::{Full, ReadError, Strength};
use super::{NoMoved, NoSlotOpened, NoSlotRead, Reader, Unpublished, WeakPublished, WeakRegistered, NOT_THERE, TORN};
use crate::model;
use crate::sync::{thread, AtomicU64, Ordering};
use std::sync::Arc;

/// The sample that takes the slot of sample 1.
const LAST: u64 = 1 + (1 << FIRST_LOG2);

/// A writer laps the reader of sample `seq`.
fn lapped_reader<W: Strength + Send + 'static, R: Strength>(seq: u64) {
    let mut bench: Bench<W> = Bench::on_heap(64 << FIRST_LOG2, 64, 1);
    bench.publish(1, 8).expect("room");
    let reader = Reader::of(&bench);
    let writer = thread::spawn(move || (2..=LAST).for_each(|seq| assert_eq!(bench.publish(seq, 8).ok(), Some(seq))));
    let found = reader.check::<R>(seq);
    let may_be = if seq == 1 { ReadError::Lapped } else { ReadError::NotYet };
    assert!(found.is_ok() || found == Err(may_be), "{found:?}");
    writer.join().expect("the writer");
}

model! {
    a_slot_is_read_whole_or_not_at_all {
        edges: ["ring.slot"],
        claim: "who reads a sample while its slot is filled or lapped gets all of it or nothing",
        scenes: [|| lapped_reader::<Full, Full>(1), || lapped_reader::<Full, Full>(LAST)],
        twins: [
            "the writer's fence": || lapped_reader::<NoSlotOpened, Full>(1) => TORN,
            "the reader's fence": || lapped_reader::<Full, NoSlotRead>(1) => TORN,
            "the Release of the even state": || lapped_reader::<Unpublished, Full>(LAST) => TORN,
        ],
    }
}

/// A reader whom the writer knows looks at the head.
fn head_and_sample<S: Strength + Send + 'static>() {
    let mut bench: Bench<S> = Bench::on_heap(64 << FIRST_LOG2, 64, 1);
    let reader = Reader::of(&bench);
    let writer = thread::spawn(move || bench.publish(1, 8).expect("room"));
    if newest(&reader.cell.head) == 1 {
        assert_eq!(reader.check::<Full>(1), Ok(()), "{NOT_THERE}");
    }
    writer.join().expect("the writer");
}

model! {
    what_the_head_names_is_committed {
        edges: ["ring.head"],
        claim: "a sample up to the head is in the ring",
        scenes: [head_and_sample::<Full>],
        twins: ["the Release of the head": head_and_sample::<Unpublished> => NOT_THERE],
    }
}

/// A joiner that wants no history, beside a publication.
fn publisher_and_joiner<S: Strength + Send + 'static>() {
    let mut bench: Bench<S> = Bench::on_heap(64 << FIRST_LOG2, 64, 1);
    let reader = Reader::of(&bench);
    let generation = Arc::new(AtomicU64::new(0));
    let moved = generation.clone();
    let publisher = thread::spawn(move || {
        bench.publish(1, 8).expect("room");
        generation_with::<S>(&generation) == 1
    });
    moved.fetch_add(1, Ordering::Release);
    let start = head_with::<S>(&reader.cell.head);
    if start == 1 {
        assert!(reader.check::<Full>(1).is_ok(), "{NOT_THERE}");
    }
    let saw_joiner = publisher.join().expect("the publisher");
    assert!(start == 1 || saw_joiner, "neither saw the other");
}

model! {
    publisher_or_joiner_sees_the_other {
        edges: ["ring.join", "ring.head"],
        claim: "a sample is at or below the head from which its joiner starts, or its writer saw the joiner",
        scenes: [publisher_and_joiner::<Full>],
        twins: [
            "the publisher's fence": publisher_and_joiner::<WeakPublished> => "neither saw the other",
            "the joiner's fence": publisher_and_joiner::<WeakRegistered> => "neither saw the other",
        ],
    }
}

/// A ring moves under a reader, and its old region is used for something else at once. `after`: how far beyond what the
/// first region holds.
fn growing_ring<W: Strength + Send + 'static>(after: u64) {
    let full = 1 << FIRST_LOG2;
    let mut bench: Bench<W> = Bench::on_heap((3 * 64) << FIRST_LOG2, 64, full);
    bench.pool.scribble = true;
    let full = u64::from(full);
    (1..=full).for_each(|seq| assert_eq!(bench.publish(seq, 8).ok(), Some(seq)));
    let reader = Reader::of(&bench);
    let writer = thread::spawn(move || assert_eq!(bench.publish(full + 1, 8).ok(), Some(full + 1)));
    let seq = full + after;
    let found = reader.check::<Full>(seq);
    assert!(found.is_ok() || after == 1 && found == Err(ReadError::NotYet), "{found:?}");
    writer.join().expect("the writer");
    assert_eq!(reader.check::<Full>(seq), Ok(()), "a kept sample is not there");
}

model! {
    a_reader_across_growth_gets_the_right_sample {
        edges: ["ring.move"],
        claim: "who meets a ring on the move finds a kept sample in its old or its new region, and a later one later",
        scenes: [|| growing_ring::<Full>(0), || growing_ring::<Full>(1)],
        twins: ["the fence after the move": || growing_ring::<NoMoved>(0) => TORN],
    }
}
