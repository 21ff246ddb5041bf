//! Races that a test must not hope for: a hook in the protocol's fences makes the other side act right there.

use super::super::reader::read_with;
use super::super::testing::{bytes_of, id_of, OWNER};
use super::super::{Full, InlineBuf, SlotMeta, Strength};
use super::*;
use crate::hazard::HazardTable;
use crate::sync::Ordering;
use std::cell::RefCell;
use std::panic::{catch_unwind, AssertUnwindSafe};

const ROOM: usize = 1 << 16;

type Hook = Box<dyn FnOnce()>;

thread_local! {
    static AT_SLOT_READ: RefCell<Option<Hook>> = const { RefCell::new(None) };
    static AT_ANNOUNCED: RefCell<Option<Hook>> = const { RefCell::new(None) };
    static AT_SLOT_OPENED: RefCell<Option<Hook>> = const { RefCell::new(None) };
}

fn run(hook: &RefCell<Option<Hook>>) {
    let hook = hook.borrow_mut().take();
    if let Some(hook) = hook {
        hook();
    }
}

/// The full protocol, with the hooks in it.
struct Interrupted;

impl Strength for Interrupted {
    fn slot_read() {
        AT_SLOT_READ.with(run);
        Full::slot_read();
    }
    fn announced() {
        AT_ANNOUNCED.with(run);
        Full::announced();
    }
    fn slot_opened() {
        AT_SLOT_OPENED.with(run);
        Full::slot_opened();
    }
}

fn read_interrupted(bench: &RefCell<Bench>, seq: u64) -> Result<(SlotMeta, Vec<u8>), ReadError> {
    let at = bench.as_ptr();
    // SAFETY: one thread; the reader uses the peer's view and the shared words, which the hooks' writer changes only
    // through atomics, and never the fields of the writer or the pool.
    let (peer, cell) = unsafe { (&(*at).peer, (*at).cell.clone()) };
    let hazard = HazardTable::new(&cell.table).acquire().unwrap();
    let buf = &mut InlineBuf::new();
    read_with::<Interrupted, _>(peer, &cell.desc, OWNER, seq, &hazard, buf, |meta, at| (meta, bytes_of(at)))
}

fn shared(bench: Bench) -> std::rc::Rc<RefCell<Bench>> {
    std::rc::Rc::new(RefCell::new(bench))
}

fn publish_in_hook(
    bench: &std::rc::Rc<RefCell<Bench>>,
    seqs: std::ops::RangeInclusive<u64>,
    size: usize,
) -> Option<Hook> {
    let bench = bench.clone();
    Some(Box::new(move || {
        for seq in seqs {
            let bench = &mut *bench.borrow_mut();
            bench.publish(seq, size).unwrap();
        }
    }))
}

#[test]
fn a_slot_overwritten_while_it_is_copied_is_lapped() {
    on_both(ROOM, 64, 1, |bench| {
        let bench = shared(bench);
        bench.borrow_mut().publish(1, 16).unwrap();
        AT_SLOT_READ.set(publish_in_hook(&bench, 2..=5, 16));
        assert_eq!(read_interrupted(&bench, 1), Err(ReadError::Lapped));
        assert_eq!(read_interrupted(&bench, 5).unwrap().1, body(5, 16));
    });
}

#[test]
fn a_ring_that_grows_while_a_slot_is_copied_gives_the_right_sample() {
    on_both(ROOM, 64, 4, |bench| {
        let bench = shared(bench);
        (1..=4).for_each(|seq| assert_eq!(bench.borrow_mut().publish(seq, 16).unwrap(), seq));
        let old = bench.borrow().cell.desc.load(Ordering::Relaxed);
        let publish = publish_in_hook(&bench, 5..=5, 16).unwrap();
        let scribble = bench.clone();
        AT_SLOT_READ.set(Some(Box::new(move || {
            publish();
            let bench = scribble.borrow();
            assert_ne!(bench.cell.desc.load(Ordering::Relaxed), old, "the ring has grown");
            let words = bench.pool.segment.words(0, 32).unwrap();
            words.iter().for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
        })));
        assert_eq!(read_interrupted(&bench, 3).unwrap().1, body(3, 16));
        assert_eq!(bench.borrow().read(2).unwrap().1, body(2, 16));
    });
}

#[test]
fn a_chunk_announced_in_time_waits_in_limbo() {
    on_both(ROOM, 64, 1, |bench| {
        let bench = shared(bench);
        bench.borrow_mut().publish(1, 500).unwrap();
        AT_ANNOUNCED.set(publish_in_hook(&bench, 2..=4, 500));
        assert_eq!(read_interrupted(&bench, 1), Err(ReadError::Lapped));
        assert_eq!(bench.borrow().writer.in_limbo(), 1);
        bench.borrow_mut().reclaim();
        assert_eq!(bench.borrow().writer.in_limbo(), 0);
    });
}

#[test]
fn a_chunk_reused_between_look_and_announcement_is_not_read() {
    on_both(ROOM, 64, 1, |bench| {
        let bench = shared(bench);
        bench.borrow_mut().publish(1, 500).unwrap();
        let chunk = bench.borrow().writer.chunks[0].unwrap();
        let hook = bench.clone();
        AT_ANNOUNCED.set(Some(Box::new(move || {
            // As if the writer had scanned before the announcement: the words it sees hold nothing.
            let bench = &mut *hook.borrow_mut();
            assert!(bench.cell.held(id_of(chunk), Ordering::Acquire));
            bench.cell.table[1].store(0, Ordering::Relaxed);
            bench.publish(2, 500).unwrap();
            bench.publish(3, 500).unwrap();
            assert_eq!(bench.writer.chunks[0], Some(chunk), "the chunk has a new sample in it");
            bench.cell.table[1].store(id_of(chunk), Ordering::Relaxed);
        })));
        assert_eq!(read_interrupted(&bench, 1), Err(ReadError::Lapped));
    });
}

#[test]
fn a_slot_filled_behind_a_reader_that_passed_it_empty_is_still_read() {
    on_both(ROOM, 64, 2, |mut bench| {
        assert_eq!(bench.read(1), Err(ReadError::NotYet), "no ring yet");
        bench.publish(1, 16).unwrap();
        for seq in 2..=40 {
            assert_eq!(bench.read(seq), Err(ReadError::NotYet), "slot never used, or of a lap before");
            bench.publish(seq, 16).unwrap();
            assert_eq!(bench.read(seq).unwrap().1, body(seq, 16));
        }
    });
}

#[test]
fn a_writer_that_died_inside_of_a_slot_leaves_everything_else_readable() {
    for laps in [1, 6] {
        let mut bench: Bench<Interrupted> = Bench::on_heap(ROOM, 64, 2);
        (1..=laps).for_each(|seq| assert_eq!(bench.publish(seq, 16).unwrap(), seq));
        AT_SLOT_OPENED.set(Some(Box::new(|| std::panic::panic_any("dies here"))));
        catch_unwind(AssertUnwindSafe(|| bench.publish(laps + 1, 16))).expect_err("it dies");
        assert_eq!(bench.cell.head.load(Ordering::Relaxed), laps);
        assert_eq!(bench.read(laps + 1), Err(ReadError::NotYet));
        assert_eq!(bench.read(laps).unwrap().1, body(laps, 16));
        assert_eq!(bench.read(laps.saturating_sub(3).max(1)).is_ok(), laps == 1);
    }
}

#[test]
fn a_read_inside_of_a_read_with_the_same_hazard_is_refused() {
    on_both(ROOM, 64, 2, |mut bench| {
        bench.publish(1, 500).unwrap();
        let hazard = HazardTable::new(&bench.cell.table).acquire().unwrap();
        let read = |f: &dyn Fn() -> bool| {
            super::super::read(&bench.peer, &bench.cell.desc, OWNER, 1, &hazard, &mut InlineBuf::new(), |_, _| f())
        };
        assert_eq!(read(&|| matches!(read(&|| true), Err(ReadError::Invalid(_)))), Ok(true));
        assert_eq!(read(&|| true), Ok(true), "the first read has cleared its announcement");
    });
}
