//! A ring that its writer filled, damaged before and during each kind of read.

use std::cell::{Cell, RefCell};
use std::sync::OnceLock;

use shoal_shm::arena::Arena;
use shoal_shm::doorbell::Doorbell;
use shoal_shm::hazard::{scan, HazardTable};
use shoal_shm::ring::{read, read_loan, read_meta, InlineBuf, Payload, Segments, SlotMeta, Writer};
use shoal_shm::sync::{AtomicU32, AtomicU64, Ordering};
use shoal_shm::{credit, drain};

use crate::input::Input;

const OWNER: u16 = 7;
const HAZARDS: usize = 64;
/// Looks at memory that one read may make: each of its retries makes at most three.
const MOST_LOOKS: u32 = 3 * 32;

/// The memory of a writer that published, word for word.
struct Image {
    segments: Vec<Vec<u64>>,
    /// Byte offsets of words that mean something.
    marked: Vec<usize>,
    head: u64,
    desc: u64,
}

/// Rings of different shapes: stride, window, and the sizes that are published.
const SHAPES: [(usize, u32, &[usize]); 4] = [
    (64, 1, &[0, 8, 16]),
    (256, 4, &[200, 0, 300, 5000, 64, 1]),
    (1984, 8, &[1936, 1937, 3, 40_000, 7, 7, 7, 100, 2000]),
    (128, 16, &[10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180]),
];

fn publish((stride, window, sizes): (usize, u32, &[usize])) -> Image {
    let (mut arena, mut writer) = (Arena::heap(), Writer::new(OWNER, stride, window));
    let (head, desc) = (AtomicU64::new(0), AtomicU64::new(0));
    for (n, size) in sizes.iter().enumerate() {
        let mut reserved = writer.reserve(&mut arena, *size).expect("a heap without a limit");
        if let Some(mut chunk) = reserved.body(&arena) {
            chunk.fill(n as u8);
        }
        let meta = SlotMeta { source_timestamp: n as i64, ..SlotMeta::default() };
        let body = vec![n as u8; *size];
        writer.commit(&mut arena, reserved, meta, &body, &head, &desc, &mut |_| false).expect("a heap without a limit");
    }
    let segments = (0..).map_while(|number| arena.segment(number)).map(|segment| {
        let words = segment.words(0, segment.len() / 8).expect("all of it");
        words.iter().map(|word| word.load(Ordering::Relaxed)).collect()
    });
    let segments: Vec<Vec<u64>> = segments.collect();
    let of_slots = segments[0].iter().enumerate().filter(|(_, word)| **word != 0).map(|(at, _)| at * 8);
    let marked = of_slots.take(512).collect();
    Image { marked, segments, head: head.load(Ordering::Relaxed), desc: desc.load(Ordering::Relaxed) }
}

fn images() -> &'static [Image] {
    static IMAGES: OnceLock<Vec<Image>> = OnceLock::new();
    IMAGES.get_or_init(|| SHAPES.into_iter().map(publish).collect())
}

/// The writer's memory as a reader sees it, in allocations of exactly that length. Each look may find it changed.
struct Memory<'a> {
    segments: Vec<Box<[AtomicU64]>>,
    image: &'a Image,
    desc: &'a AtomicU64,
    input: RefCell<Input<'a>>,
    looks: Cell<u32>,
}

impl Memory<'_> {
    fn damage(&self) {
        let input = &mut *self.input.borrow_mut();
        let place = input.byte();
        if place % 4 == 0 {
            self.desc.store(input.changed(self.image.desc), Ordering::Relaxed);
            return;
        }
        let segment = &self.segments[usize::from(place >> 4) % self.segments.len()];
        let at = match place % 4 {
            1 => input.below(segment.len().min(1 << 16)),
            _ => self.image.marked[input.below(self.image.marked.len())] / 8,
        };
        if let Some(word) = segment.get(at) {
            word.store(input.changed(word.load(Ordering::Relaxed)), Ordering::Relaxed);
        }
    }

    fn look(&self) {
        self.looks.set(self.looks.get() + 1);
        let chance = self.input.borrow_mut().byte();
        if chance % 4 == 3 {
            self.damage();
        }
    }
}

impl Segments for Memory<'_> {
    fn words(&self, segment: u16, offset: u64, n: usize) -> Option<&[AtomicU64]> {
        self.look();
        let from = usize::try_from(offset).ok().filter(|offset| offset % 8 == 0)? / 8;
        self.segments.get(usize::from(segment))?.get(from..from.checked_add(n)?)
    }

    fn bytes(&self, segment: u16, offset: u64, len: usize) -> Option<*const u8> {
        self.look();
        let segment = self.segments.get(usize::from(segment))?;
        let offset = usize::try_from(offset).ok()?;
        let inside = offset.checked_add(len).is_some_and(|end| end <= segment.len() * 8);
        inside.then(|| segment.as_ptr().cast::<u8>().wrapping_add(offset))
    }
}

/// Reads each byte of a payload: a sanitizer sees one that is not there.
fn touch(payload: Payload) -> usize {
    // SAFETY: what the reader gives out is readable for its length; that is what is tested here.
    let sum = (0..payload.len).fold(0_u8, |sum, at| sum ^ unsafe { payload.ptr.wrapping_add(at).read_volatile() });
    std::hint::black_box(sum);
    payload.len
}

fn read_everywhere(memory: &Memory<'_>, hazards: &HazardTable<'_>, seq: u64) {
    let bounded = |memory: &Memory<'_>| assert!(memory.looks.replace(0) <= MOST_LOOKS, "a read without end");
    let _ = read_meta(memory, memory.desc, seq);
    bounded(memory);
    if let Some(slot) = hazards.acquire() {
        let _ = read(memory, memory.desc, OWNER, seq, &slot, &mut InlineBuf::new(), |_, payload| touch(payload));
        bounded(memory);
    }
    let loans: Vec<_> = std::iter::from_fn(|| hazards.acquire_for_loan()).take(2).collect();
    let loans: Vec<_> = loans.into_iter().map(|slot| read_loan(memory, memory.desc, OWNER, seq, slot)).collect();
    memory.looks.set(0);
    for loan in loans.into_iter().flatten() {
        touch(loan.payload());
        if let Some(ticket) = loan.into_ticket() {
            hazards.end(ticket);
        }
    }
}

/// The small protocols on words that may say anything.
fn ring_and_drain(input: &mut Input<'_>, hazards: &[AtomicU64]) {
    let word = |input: &mut Input<'_>| AtomicU64::new(input.changed(0));
    let (pending, draining) = (word(input), word(input));
    let class = drain::class_of(input.word() as u32);
    drain::mark(&pending, class);
    let taken = drain::take_pending(&pending, &draining);
    drain::finish(&draining, taken);
    assert!(drain::is_drained(&pending, &draining, u64::MAX));
    let bell = AtomicU32::new(input.word() as u32);
    Doorbell(&bell).ring();
    assert!(!Doorbell(&bell).is_parked());
    let armed = Doorbell(&bell).arm();
    assert!(armed == bell.load(Ordering::Relaxed) && Doorbell(&bell).ring());
    let _ = credit::acknowledge(&word(input), input.word(), &word(input));
    scan(hazards, input.word());
    scan(&hazards[..input.below(HAZARDS)], hazards[1].load(Ordering::Relaxed));
}

pub(super) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let image = &images()[input.below(SHAPES.len())];
    let owned = |words: &Vec<u64>| words.iter().copied().map(AtomicU64::new).collect::<Box<[AtomicU64]>>();
    let (segments, desc) = (image.segments.iter().map(owned).collect(), AtomicU64::new(image.desc));
    let words: Vec<AtomicU64> = (0..HAZARDS).map(|_| AtomicU64::new(0)).collect();
    let hazards = HazardTable::new(&words);
    if input.byte() % 4 == 0 {
        words[input.below(HAZARDS)].store(input.word(), Ordering::Relaxed);
    }
    ring_and_drain(&mut input, &words);
    let (before, odd) = (input.below(4), input.changed(image.head));
    let memory = Memory { segments, image, desc: &desc, input: RefCell::new(input), looks: Cell::new(0) };
    (0..before).for_each(|_| memory.damage());
    for seq in (image.head.saturating_sub(9)..=image.head + 1).chain([odd, 0, u64::MAX]) {
        read_everywhere(&memory, &hazards, seq);
    }
    let all: Vec<_> = std::iter::from_fn(|| hazards.acquire()).take(HAZARDS).collect();
    assert_eq!(all.len(), 62, "a hazard word was lost");
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    // Shape, no hazard damaged, then words as they come: each place, and each kind of change.
    let seed = |shape: u8| -> Vec<u8> {
        [shape, 1].into_iter().chain((0..120_u8).map(|i| i.wrapping_mul(37).wrapping_add(shape))).collect()
    };
    (0..SHAPES.len() as u8).map(seed).chain([vec![], vec![1, 1]]).collect()
}
