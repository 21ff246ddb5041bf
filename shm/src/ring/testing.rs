//! A small world for tests and models: one segment with an allocator that reuses greedily, a peer's view of it, a ring,
//! and the reader's hazard words.

use super::desc::ChunkRef;
use super::slot::SlotMeta;
use super::{read, InlineBuf, Memory, Payload, ReadError, Segments, Writer};
use crate::arena::{AllocError, Block};
use crate::hazard::{scan, scan_with, HazardTable};
use crate::segment::{Access, DomainDir, Segment, View};
use crate::sync::{AtomicU64, Ordering, Witness};
use std::path::PathBuf;
use std::sync::Arc;

/// The one segment's number: not 0, so that a forgotten number shows.
pub(super) const SEGMENT: u16 = 3;
/// The context index of the ring's owner.
pub(super) const OWNER: u16 = 7;
const LINE: usize = 64;

/// First-fit over one segment, so that what is freed is reused at once.
pub(super) struct Pool {
    pub segment: Arc<Segment>,
    used: Vec<bool>,
    /// Allocations still granted.
    pub grants: usize,
    /// Overwrite the seventh word of every line that is freed, where a slot's body starts, as its next user would.
    pub scribble: bool,
    /// What is freed.
    pub freed: Arc<Witness>,
}

impl Pool {
    pub(super) fn new(segment: Arc<Segment>) -> Pool {
        let lines = segment.len() / LINE;
        Pool { segment, used: vec![false; lines], grants: usize::MAX, scribble: false, freed: Arc::default() }
    }

    pub(super) fn in_use(&self) -> usize {
        self.used.iter().filter(|&&used| used).count() * LINE
    }

    /// Writes a body into a chunk, word by word, as the words of a peer's memory are to be written.
    pub(super) fn write(&self, block: Block, body: &[u8]) {
        for (word, bytes) in self.words(block).iter().zip(body.chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            word.store(u64::from_ne_bytes(eight), Ordering::Relaxed);
        }
    }
}

fn range(block: Block) -> std::ops::Range<usize> {
    let start = block.offset as usize / LINE;
    start..start + (block.len as usize).div_ceil(LINE)
}

impl Memory for Pool {
    fn alloc(&mut self, len: usize) -> Result<Block, AllocError> {
        let lines = len.div_ceil(LINE);
        let fits = |start: &usize| self.used[*start..*start + lines].iter().all(|used| !used);
        let start = (0..(self.used.len() + 1).saturating_sub(lines)).find(fits);
        let (Some(start), true) = (start, self.grants > 0) else {
            return Err(AllocError::TooLarge { asked: len as u64, most: 0 });
        };
        self.grants -= 1;
        let block = Block { segment: SEGMENT, offset: (start * LINE) as u64, len: len as u64 };
        self.used[range(block)].fill(true);
        Ok(block)
    }

    fn free(&mut self, block: Block) {
        assert!(self.used[range(block)].iter().all(|&used| used), "freed twice: {block:?}");
        self.used[range(block)].fill(false);
        self.freed.write();
        let scribbled = self.words(block).iter().skip(6).step_by(LINE / 8).filter(|_| self.scribble);
        scribbled.for_each(|word| word.store(u64::MAX, Ordering::Relaxed));
    }

    fn words(&self, block: Block) -> &[AtomicU64] {
        self.segment.words(block.offset as usize, (block.len as usize).div_ceil(8)).expect("a block of this pool")
    }
}

/// What a reader sees: the owner's heap memory, or its own read-only mapping of the owner's file.
pub(super) enum Peer {
    Heap(Arc<Segment>),
    Mapped(View),
}

impl Segments for Peer {
    fn words(&self, segment: u16, offset: u64, n: usize) -> Option<&[AtomicU64]> {
        let offset = (segment == SEGMENT).then_some(offset as usize)?;
        match self {
            Peer::Heap(heap) => heap.words(offset, n),
            Peer::Mapped(view) => view.words(offset, n),
        }
    }

    fn bytes(&self, segment: u16, offset: u64, len: usize) -> Option<*const u8> {
        let offset = (segment == SEGMENT).then_some(offset as usize)?;
        match self {
            Peer::Heap(heap) => heap.bytes_mut_ptr(offset, len).map(<*mut u8>::cast_const),
            Peer::Mapped(view) => view.bytes_ptr(offset, len),
        }
    }
}

/// The words that stand in the registry: the ring's hot cell, and the reader's hazards.
pub(super) struct Cell {
    pub head: AtomicU64,
    pub desc: AtomicU64,
    /// Hazards of the reader under test.
    pub table: Vec<AtomicU64>,
    /// Hazards of [`Bench::read`], as if of another context.
    looks: Vec<AtomicU64>,
}

impl Cell {
    pub(super) fn new(hazards: usize) -> Cell {
        let words = |n| (0..n).map(|_| AtomicU64::new(0)).collect();
        Cell { head: AtomicU64::new(0), desc: AtomicU64::new(0), table: words(hazards + 1), looks: words(2) }
    }

    /// `cleared`: with which a hazard is looked at.
    pub(super) fn held(&self, id: u64, cleared: Ordering) -> bool {
        scan_with(&self.table, id, cleared) || scan(&self.looks, id)
    }
}

/// A writer with everything around it.
pub(super) struct Bench<S = super::Full> {
    pub pool: Pool,
    pub peer: Peer,
    pub cell: Arc<Cell>,
    pub writer: Writer<S>,
    pub cleared: Ordering,
}

impl<S: super::Strength> Bench<S> {
    pub(super) fn on_heap(len: usize, stride: usize, window: u32) -> Bench<S> {
        let segment = Arc::new(Segment::heap(len));
        Bench::with(segment.clone(), Peer::Heap(segment), stride, window)
    }

    fn with(segment: Arc<Segment>, peer: Peer, stride: usize, window: u32) -> Bench<S> {
        let writer = Writer::with_strength(OWNER, stride, window);
        Bench { pool: Pool::new(segment), peer, cell: Arc::new(Cell::new(63)), writer, cleared: Ordering::Acquire }
    }

    pub(super) fn on_file(dir: &DomainDir, len: usize, stride: usize, window: u32) -> Bench<S> {
        let segment = Segment::create(dir, "ring", len).expect("a segment");
        let view = View::open(dir, "ring").expect("a view");
        dir.unlink("ring").expect("unlink");
        Bench::with(Arc::new(segment), Peer::Mapped(view), stride, window)
    }

    /// Publishes `body(seed, size)`.
    pub(super) fn publish(&mut self, seed: u64, size: usize) -> Result<u64, AllocError> {
        let body = body(seed, size);
        let reservation = self.writer.reserve(&mut self.pool, size)?;
        if let Some(block) = reservation.block() {
            self.pool.write(block, &body);
        }
        let meta =
            SlotMeta { source_timestamp: seed as i64, related: !seed, encapsulation: seed as u32, aux: seed << 32 };
        let (cell, pool, cleared) = (self.cell.clone(), &mut self.pool, self.cleared);
        let held = &mut |id| cell.held(id, cleared);
        self.writer.commit(pool, reservation, meta, &body, &self.cell.head, &self.cell.desc, held)
    }

    /// Reads a sample with a hazard of its own.
    pub(super) fn read(&self, seq: u64) -> Result<(SlotMeta, Vec<u8>), ReadError> {
        let hazard = HazardTable::new(&self.cell.looks).acquire().expect("a hazard");
        read(&self.peer, &self.cell.desc, OWNER, seq, &hazard, &mut InlineBuf::new(), |meta, at| (meta, bytes_of(at)))
    }

    pub(super) fn reclaim(&mut self) {
        let (cell, cleared) = (self.cell.clone(), self.cleared);
        self.writer.reclaim(&mut self.pool, &mut |id| cell.held(id, cleared));
    }

    pub(super) fn close(&mut self) -> bool {
        let (cell, cleared) = (self.cell.clone(), self.cleared);
        self.writer.close(&mut self.pool, &cell.desc, &mut |id| cell.held(id, cleared))
    }
}

/// Copies a payload.
pub(super) fn bytes_of(at: Payload) -> Vec<u8> {
    let mut copy = vec![0; at.len];
    // SAFETY: the reader checked that `len` bytes are mapped there, and the hazard or the buffer keeps them still.
    unsafe { std::ptr::copy_nonoverlapping(at.ptr, copy.as_mut_ptr(), at.len) };
    copy
}

/// A body that tells its seed at every byte: mixing two of them, or cutting one short, cannot go unseen.
pub(super) fn body(seed: u64, size: usize) -> Vec<u8> {
    let word = |index: u64| (seed ^ index << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).to_ne_bytes();
    (0..size.div_ceil(8) as u64).flat_map(word).take(size).collect()
}

/// Runs a test on heap memory and on a mapped file.
pub(super) fn on_both(len: usize, stride: usize, window: u32, test: impl Fn(Bench)) {
    test(Bench::on_heap(len, stride, window));
    let dir = Scratch::new();
    test(Bench::on_file(&dir.0, len, stride, window));
}

/// A domain directory of a test, removed at its end.
pub(super) struct Scratch(pub DomainDir, pub PathBuf);

impl Scratch {
    pub(super) fn new() -> Scratch {
        use std::sync::atomic::AtomicUsize;
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("shoal-ring-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&root).expect("a scratch directory");
        Scratch(DomainDir::open_or_create(&root, Access::Owner, "0").expect("a domain"), root)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.1);
    }
}

/// The id a reader announces for a block.
pub(super) fn id_of(block: Block) -> u64 {
    ChunkRef::pack(block.segment, block.offset).expect("a line").id(OWNER)
}
