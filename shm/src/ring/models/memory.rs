//! Payloads: their reuse, their return to the file system, and the segments in which they lie.

use super::super::edge::newest;
use super::super::grow::FIRST_LOG2;
use super::super::testing::{body, Bench, Cell, OWNER};
use super::super::{Full, Memory, ReadError, Segments, SlotMeta, Strength, Writer};
use super::{Reader, Unpublished, WeakAnnounced, WeakRetired, NOT_THERE};
use crate::arena::{AllocError, Arena, Block};
use crate::model;
use crate::segment::Segment;
use crate::sync::{thread, AtomicU64, Ordering, Witness};
use std::sync::{Arc, OnceLock};

/// A chunk's slot is retired under its reader. The pool scribbles over the chunk as soon as it is freed.
fn payload_reuse<W: Strength + Send + 'static, R: Strength>(cleared: Ordering) {
    const SIZE: usize = 56;
    let mut bench: Bench<W> = Bench::on_heap((64 << FIRST_LOG2) + 2 * 64, 64, 1);
    bench.cleared = cleared;
    bench.pool.scribble = true;
    bench.publish(1, SIZE).expect("room");
    let reader = Reader::of(&bench);
    let (segment, freed) = (bench.pool.segment.clone(), bench.pool.freed.clone());
    let writer = thread::spawn(move || {
        assert_eq!(bench.publish(2, SIZE).ok(), Some(2));
        bench.reclaim();
    });
    let base = segment.bytes_mut_ptr(0, 0).expect("the start") as usize;
    let found = reader.read::<R, _>(1, |_, at| {
        freed.read();
        let words = segment.words(at.ptr as usize - base, SIZE / 8).expect("a chunk");
        let last = words[6].load(Ordering::Relaxed).to_ne_bytes();
        assert_eq!(last, body(1, SIZE)[48..], "the payload changed under its reader");
    });
    assert!(matches!(found, Ok(()) | Err(ReadError::Lapped)), "{found:?}");
    writer.join().expect("the writer");
}

model! {
    an_announced_payload_does_not_change {
        edges: ["hazard.reuse"],
        claim: "no payload changes under a reader that validated its announcement; a late announcement is refused",
        scenes: [|| payload_reuse::<Full, Full>(Ordering::Acquire)],
        twins: [
            "the reader's full fence": || payload_reuse::<Full, WeakAnnounced>(Ordering::Acquire) => Witness::RACE,
            "the writer's full fence": || payload_reuse::<WeakRetired, Full>(Ordering::Acquire) => Witness::RACE,
        ],
    }
}

model! {
    a_payload_is_reused_after_its_reader_is_done {
        edges: ["hazard.clear"],
        claim: "a chunk that waited for a hazard is freed after its reader's last look",
        scenes: [|| payload_reuse::<Full, Full>(Ordering::Acquire)],
        twins: ["the Acquire of the scan": || payload_reuse::<Full, Full>(Ordering::Relaxed) => Witness::RACE],
    }
}

/// The segments that have a name: what a peer may map. Each has a word that says whether it has one, changed and read at
/// its newest value, as the kernel does.
#[derive(Default)]
struct Names {
    named: [AtomicU64; 3],
    segments: [OnceLock<Arc<Segment>>; 3],
}

impl Names {
    fn find(&self, number: u16) -> Option<&Segment> {
        let named = self.named.get(usize::from(number))?.fetch_or(0, Ordering::Relaxed) == 1;
        self.segments[usize::from(number)].get().filter(|_| named).map(Arc::as_ref)
    }
}

impl Segments for Arc<Names> {
    fn words(&self, segment: u16, offset: u64, n: usize) -> Option<&[AtomicU64]> {
        self.find(segment)?.words(offset as usize, n)
    }

    fn bytes(&self, segment: u16, offset: u64, len: usize) -> Option<*const u8> {
        self.find(segment)?.bytes_mut_ptr(offset as usize, len).map(<*mut u8>::cast_const)
    }
}

/// A real arena that gives back at once what it can, with the names of its segments.
struct Files {
    arena: Arena,
    names: Arc<Names>,
}

impl Memory for Files {
    fn alloc(&mut self, len: usize) -> Result<Block, AllocError> {
        let block = self.arena.alloc(len)?;
        let number = usize::from(block.segment);
        self.names.segments[number].get_or_init(|| self.arena.segment(block.segment).expect("its own").clone());
        self.names.named[number].fetch_or(1, Ordering::Relaxed);
        Ok(block)
    }

    fn free(&mut self, block: Block) {
        self.arena.free(block);
        self.arena.trim();
        if self.arena.segment(block.segment).is_none() {
            self.names.named[usize::from(block.segment)].fetch_and(0, Ordering::Relaxed);
        }
    }

    fn words(&self, block: Block) -> &[AtomicU64] {
        self.arena.words(block)
    }
}

/// A publisher with an arena.
struct Publisher<S> {
    files: Files,
    cell: Arc<Cell>,
    writer: Writer<S>,
}

/// Two of them do not fit into one segment of a model.
const LARGE: usize = 512;

impl<S: Strength> Publisher<S> {
    fn new() -> Publisher<S> {
        let files = Files { arena: Arena::heap(), names: Arc::default() };
        Publisher { files, cell: Arc::new(Cell::new(3)), writer: Writer::with_strength(OWNER, 64, 1) }
    }

    fn publish(&mut self) {
        let reservation = self.writer.reserve(&mut self.files, LARGE).expect("room");
        let seq = self.writer.head() + 1;
        self.files.words(reservation.block().expect("a chunk"))[0].store(seq, Ordering::Relaxed);
        let (cell, files) = (self.cell.clone(), &mut self.files);
        let held = &mut |id| cell.held(id, Ordering::Acquire);
        self.writer.commit(files, reservation, SlotMeta::default(), &[], &cell.head, &cell.desc, held).expect("room");
    }
}

/// Reads the first word of a large sample.
fn first_word<S: Strength>(reader: &Reader<Arc<Names>>, seq: u64) -> Result<u64, ReadError> {
    reader.read::<S, _>(seq, |_, at| {
        let segments = reader.peer.segments.iter().filter_map(OnceLock::get);
        let found = segments.filter_map(|segment| {
            let start = segment.bytes_mut_ptr(0, 0)? as usize;
            segment.words((at.ptr as usize).checked_sub(start)?, 1)
        });
        let words = found.into_iter().next().expect("it lies in a segment");
        words[0].load(Ordering::Relaxed)
    })
}

/// The arena grows for the second sample, which a reader meets.
fn growing_arena<S: Strength + Send + 'static>() {
    let mut publisher: Publisher<S> = Publisher::new();
    publisher.publish();
    let reader = Reader { cell: publisher.cell.clone(), peer: publisher.files.names.clone() };
    let writer = thread::spawn(move || publisher.publish());
    if newest(&reader.cell.head) == 2 {
        assert_eq!(first_word::<Full>(&reader, 2), Ok(2), "{NOT_THERE}");
    }
    writer.join().expect("the writer");
}

model! {
    a_chunk_in_a_new_segment_is_there_when_it_is_named {
        edges: ["ring.head", "ring.slot"],
        claim: "the segment with which an arena grows is whole before a sample names a chunk in it",
        scenes: [growing_arena::<Full>],
        twins: ["the Release of state and head": growing_arena::<Unpublished> => NOT_THERE],
    }
}

/// The second sample, alone in its segment, is overwritten under its reader, and the segment given back.
fn arena_that_gives_back<W: Strength + Send + 'static, R: Strength>() {
    let mut publisher: Publisher<W> = Publisher::new();
    (1..=2).for_each(|_| publisher.publish());
    let reader = Reader { cell: publisher.cell.clone(), peer: publisher.files.names.clone() };
    let writer = thread::spawn(move || publisher.publish());
    let found = first_word::<R>(&reader, 2);
    assert!(matches!(found, Ok(2) | Err(ReadError::Lapped)), "{GONE}: {found:?}");
    writer.join().expect("the writer");
}

const GONE: &str = "a payload was given back under its reader";

model! {
    an_announced_chunk_is_not_given_back {
        edges: ["hazard.reuse"],
        claim: "who validated its announcement finds the segment of the chunk; an arena unlinks it later",
        scenes: [arena_that_gives_back::<Full, Full>],
        twins: [
            "the reader's full fence": arena_that_gives_back::<Full, WeakAnnounced> => GONE,
            "the writer's full fence": arena_that_gives_back::<WeakRetired, Full> => GONE,
        ],
    }
}
