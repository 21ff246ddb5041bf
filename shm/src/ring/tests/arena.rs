//! The ring over the real arena, on heap memory and on files.

use super::super::testing::{body, bytes_of, Scratch, OWNER};
use super::super::{read, InlineBuf, Memory, RingDesc, Segments, SlotMeta, Writer};
use crate::arena::{AllocError, Arena, Block};
use crate::hazard::{scan, HazardSlot, HazardTable};
use crate::segment::{Access, DomainDir};
use crate::sync::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// An owner that reads its own memory.
struct Own<'a>(&'a Arena);

impl Segments for Own<'_> {
    fn words(&self, segment: u16, offset: u64, n: usize) -> Option<&[AtomicU64]> {
        self.0.segment(segment)?.words(offset as usize, n)
    }

    fn bytes(&self, segment: u16, offset: u64, len: usize) -> Option<*const u8> {
        self.0.segment(segment)?.bytes_mut_ptr(offset as usize, len).map(<*mut u8>::cast_const)
    }
}

struct Ring {
    arena: Arena,
    writer: Writer,
    head: AtomicU64,
    desc: AtomicU64,
    table: Vec<AtomicU64>,
}

impl Ring {
    fn over(arena: Arena, window: u32) -> Ring {
        let table = (0..64).map(|_| AtomicU64::new(0)).collect();
        let writer = Writer::new(OWNER, 512, window);
        Ring { arena, writer, head: AtomicU64::new(0), desc: AtomicU64::new(0), table }
    }

    fn fill(&self, block: Block, bytes: &[u8]) {
        for (word, eight) in Memory::words(&self.arena, block).iter().zip(bytes.chunks(8)) {
            let mut padded = [0; 8];
            padded[..eight.len()].copy_from_slice(eight);
            word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
        }
    }

    fn publish(&mut self, seed: u64, size: usize) -> Result<u64, AllocError> {
        let bytes = body(seed, size);
        let room = self.writer.reserve(&mut self.arena, size)?;
        if let Some(block) = room.block() {
            self.fill(block, &bytes);
        }
        let Ring { arena, writer, head, desc, table } = self;
        writer.commit(arena, room, SlotMeta::default(), &bytes, head, desc, &mut |id| scan(table, id))
    }

    fn read(&self, seq: u64, hazard: &HazardSlot<'_>) -> Vec<u8> {
        let own: &dyn Segments = &Own(&self.arena);
        read(own, &self.desc, OWNER, seq, hazard, &mut InlineBuf::new(), |_, at| bytes_of(at)).unwrap()
    }
}

fn lives_and_closes(arena: Arena) {
    let mut ring = Ring::over(arena, 5);
    let sizes = [0, 464, 465, 4096, 70_000, 13];
    for seq in 1..=60 {
        assert_eq!(ring.publish(seq, sizes[seq as usize % 6]).unwrap(), seq);
        let hazard = HazardTable::new(&ring.table).acquire().unwrap();
        for kept in seq.saturating_sub(4).max(1)..=seq {
            assert_eq!(ring.read(kept, &hazard), body(kept, sizes[kept as usize % 6]));
        }
    }
    let Ring { arena, writer, desc, .. } = &mut ring;
    arena.set_grace(Duration::ZERO);
    assert!(writer.close(arena, desc, &mut |_| false));
    arena.trim();
    assert_eq!(arena.in_use(), 0, "everything was given back");
}

#[test]
fn a_ring_on_an_arena_lives_and_closes() {
    lives_and_closes(Arena::heap());
    let scratch = Scratch::new();
    let dir = DomainDir::open_or_create(&scratch.1, Access::Owner, "1").unwrap();
    lives_and_closes(Arena::new(Arc::new(dir), "00000000000000aa".into()));
}

/// A reader looks at slots without a hazard: a page that was given back under it would be SIGBUS on a full file system.
#[test]
fn a_region_keeps_its_pages_for_readers_in_the_middle_of_a_look() {
    let mut ring = Ring::over(Arena::heap(), 64);
    ring.arena.set_grace(Duration::MAX);
    for seq in 1..=16 {
        ring.publish(seq, 400).unwrap();
    }
    let look = |ring: &Ring, region: RingDesc| {
        let own = Own(&ring.arena);
        let slot = own.words(region.segment(), region.slot_offset(3), 64).unwrap();
        slot.iter().map(|word| word.load(Ordering::Relaxed)).collect::<Vec<_>>()
    };
    let old = RingDesc::checked(ring.desc.load(Ordering::Relaxed)).unwrap();
    let before = look(&ring, old);
    for seq in 17..=40 {
        ring.publish(seq, 400).unwrap();
    }
    let last = RingDesc::checked(ring.desc.load(Ordering::Relaxed)).unwrap();
    assert_ne!(old, last, "the ring has moved");
    ring.arena.trim();
    assert_eq!(look(&ring, old), before, "outgrown");
    let Ring { arena, writer, desc, .. } = &mut ring;
    assert!(writer.close(arena, desc, &mut |_| false));
    arena.trim();
    assert_eq!(look(&ring, last)[1..], before[1..], "closed");
}

#[test]
fn a_full_arena_is_an_error_and_the_ring_goes_on_when_there_is_room() {
    let mut ring = Ring::over(Arena::heap_with_budget(256 * 1024), 8);
    let mut last = 0;
    while let Ok(seq) = ring.publish(last + 1, 50_000) {
        last = seq;
        assert!(last < 8, "the budget holds no eight of them");
    }
    assert!(last > 0);
    let hazard = HazardTable::new(&ring.table).acquire().unwrap();
    assert!((1..=last).all(|seq| ring.read(seq, &hazard) == body(seq, 50_000)), "nothing is lost");
    drop(hazard);
    ring.writer.set_window(1);
    assert_eq!(ring.publish(last + 1, 8).unwrap(), last + 1);
    assert_eq!(ring.publish(last + 2, 50_000).unwrap(), last + 2);
}

#[test]
fn a_closed_arena_refuses_commits() {
    let mut ring = Ring::over(Arena::heap(), 1);
    ring.publish(1, 8).unwrap();
    ring.arena.close();
    ring.publish(2, 500).expect_err("closed");
    let head = ring.head.load(Ordering::Relaxed);
    assert_eq!(head, ring.writer.head());
}

#[test]
fn a_chunk_reserved_for_a_loan_may_be_shortened_and_empty() {
    let mut ring = Ring::over(Arena::heap(), 2);
    for (reserved, used) in [(0, 0), (16, 16), (1000, 10), (1000, 0)] {
        let mut room = ring.writer.reserve_chunk(&mut ring.arena, reserved).unwrap();
        ring.fill(room.block().unwrap(), &body(1, used));
        room.shrink(used);
        room.shrink(5000);
        let Ring { arena, writer, head, desc, table } = &mut ring;
        let seq = writer.commit(arena, room, SlotMeta::default(), &[], head, desc, &mut |id| scan(table, id)).unwrap();
        let hazard = HazardTable::new(&ring.table).acquire().unwrap();
        assert_eq!(ring.read(seq, &hazard), body(1, used));
    }
}
