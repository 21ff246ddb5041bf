//! One model per memory-order edge of the ring, and for each fence a twin without it, which must fail.
//! `RUSTFLAGS="--cfg loom" cargo test -p shoal-shm --release models`

use super::edge::{generation_with, head_with};
use super::grow::FIRST_LOG2;
use super::reader::read_with;
use super::testing::{body, bytes_of, must_break, Bench, Cell, Peer, OWNER};
use super::{Full, InlineBuf, Payload, ReadError, SlotMeta, Strength};
use crate::hazard::HazardTable;
use crate::sync::{fence, model, thread, AtomicU64, Ordering};
use std::sync::Arc;

macro_rules! weakened {
    ($($name:ident: $step:ident => $weak:expr;)*) => {$(
        #[doc = concat!("The full protocol, but for `", stringify!($step), "`.")]
        struct $name;
        impl Strength for $name {
            fn $step() {
                $weak
            }
        }
    )*};
}

weakened! {
    NoSlotOpened: slot_opened => ();
    NoSlotRead: slot_read => ();
    NoMoved: moved => ();
    WeakPublished: published => fence(Ordering::AcqRel);
    WeakRegistered: registered => fence(Ordering::AcqRel);
    WeakAnnounced: announced => fence(Ordering::AcqRel);
    WeakRetired: retired => fence(Ordering::AcqRel);
}

/// A reader's things, to be moved to its thread.
struct Reader {
    cell: Arc<Cell>,
    peer: Peer,
}

impl Reader {
    fn of<S: Strength>(bench: &Bench<S>) -> Reader {
        Reader { cell: bench.cell.clone(), peer: Peer::Heap(bench.pool.segment.clone()) }
    }

    fn read<S: Strength, R>(&self, seq: u64, f: impl FnOnce(SlotMeta, Payload) -> R) -> Result<R, ReadError> {
        let hazard = HazardTable::new(&self.cell.table).acquire().expect("a hazard");
        read_with::<S, R>(&self.peer, &self.cell.desc, OWNER, seq, &hazard, &mut InlineBuf::new(), f)
    }

    /// Reads an inline sample and checks every word of it.
    fn check<S: Strength>(&self, seq: u64) -> Result<(), ReadError> {
        self.read::<S, _>(seq, |meta, at| {
            let whole = meta.source_timestamp == seq as i64 && meta.related == !seq && bytes_of(at) == body(seq, 8);
            assert!(whole, "a torn or wrong sample was read");
        })
    }
}

const TORN: &str = "a torn or wrong sample was read";

/// The sample that takes the slot of sample 1.
const LAST: u64 = 1 + (1 << FIRST_LOG2);

/// Claim (ring.slot): whoever reads sample n while the writer laps it gets all of n or nothing.
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

#[test]
fn a_lapped_slot_is_read_whole_or_not_at_all() {
    model(|| lapped_reader::<Full, Full>(1));
}

#[test]
fn a_slot_being_filled_is_read_whole_or_not_at_all() {
    model(|| lapped_reader::<Full, Full>(LAST));
}

#[test]
fn without_the_writers_fence_a_slot_is_read_torn() {
    must_break(TORN, || lapped_reader::<NoSlotOpened, Full>(1));
}

#[test]
fn without_the_readers_fence_a_slot_is_read_torn() {
    must_break(TORN, || lapped_reader::<Full, NoSlotRead>(1));
}

/// Claim (ring.join): a sample is at or below the head its joiner starts from, or its writer saw the joiner.
fn publisher_and_joiner<S: Strength + Send + 'static>() {
    let mut bench: Bench<S> = Bench::on_heap(64 << FIRST_LOG2, 64, 1);
    bench.pool.grants = 1;
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
        assert!(reader.check::<Full>(1).is_ok(), "what the head promises is not there");
    }
    let saw_joiner = publisher.join().expect("the publisher");
    assert!(start == 1 || saw_joiner, "neither saw the other");
}

#[test]
fn publisher_or_joiner_sees_the_other() {
    model(publisher_and_joiner::<Full>);
}

#[test]
fn without_the_publishers_fence_a_sample_is_missed() {
    must_break("neither saw the other", publisher_and_joiner::<WeakPublished>);
}

#[test]
fn without_the_joiners_fence_a_sample_is_missed() {
    must_break("neither saw the other", publisher_and_joiner::<WeakRegistered>);
}

/// Claim (hazard.reuse): a payload does not change under a reader that has validated its announcement, and is reused
/// only after its last look (hazard.clear). The pool scribbles over a chunk's seventh word as soon as it is freed.
fn payload_reuse<W: Strength + Send + 'static, R: Strength>() {
    const SIZE: usize = 56;
    let mut bench: Bench<W> = Bench::on_heap((64 << FIRST_LOG2) + 2 * 64, 64, 1);
    bench.pool.scribble = true;
    bench.publish(1, SIZE).expect("room");
    let reader = Reader::of(&bench);
    let segment = bench.pool.segment.clone();
    let writer = thread::spawn(move || assert_eq!(bench.publish(2, SIZE).ok(), Some(2)));
    let base = segment.bytes_mut_ptr(0, 0).expect("the start") as usize;
    let found = reader.read::<R, _>(1, |_, at| {
        let words = segment.words(at.ptr as usize - base, SIZE / 8).expect("a chunk");
        let last = words[6].load(Ordering::Relaxed).to_ne_bytes();
        assert_eq!(last, body(1, SIZE)[48..], "the payload changed under its reader");
    });
    assert!(matches!(found, Ok(()) | Err(ReadError::Lapped)), "{found:?}");
    writer.join().expect("the writer");
}

#[test]
fn an_announced_payload_does_not_change() {
    model(payload_reuse::<Full, Full>);
}

#[test]
fn without_the_readers_full_fence_a_payload_changes() {
    must_break("the payload changed", payload_reuse::<Full, WeakAnnounced>);
}

#[test]
fn without_the_writers_full_fence_a_payload_changes() {
    must_break("the payload changed", payload_reuse::<WeakRetired, Full>);
}

/// Claim (ring.move): a reader that meets a ring on the move gets the right sample, though the old region is used for
/// something else at once; and a slot it passed while empty is delivered later. `after`: how far beyond what the first
/// region holds.
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

#[test]
fn a_reader_across_growth_gets_the_right_sample() {
    model(|| growing_ring::<Full>(0));
}

#[test]
fn a_slot_passed_while_empty_is_delivered_later() {
    model(|| growing_ring::<Full>(1));
}

#[test]
fn without_the_fence_after_a_move_the_old_region_is_believed() {
    must_break(TORN, || growing_ring::<NoMoved>(0));
}
