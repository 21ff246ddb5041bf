//! Reliable KEEP_ALL: how far each reader has read each writer, and how a writer waits for room.
//!
//! A reliable KEEP_ALL subscription keeps a table in its own memory, which its hot cell's ring word names as if it were a
//! ring of 64-byte slots: entries of two words, `{key of the publisher | last sequence read}`. The reader alone writes it;
//! a publisher that has run out of room maps it and looks. Whoever is not in the table has read nothing yet.
//! If the reader dies between any two stores, the publisher sees a smaller number than the truth, until the reader is
//! reaped.

use std::time::{Duration, Instant};

use shoal_registry::{HotCell, Registry, SlotId};
use shoal_shm::arena::{AllocError, Arena, Block};
use shoal_shm::crash_point;
use shoal_shm::credit;
use shoal_shm::futex::Deadline;
use shoal_shm::ring::{RingDesc, Segments};
use shoal_shm::sync::{fence, AtomicU64, Ordering};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::matching::{ring_context, Offer, Readers};
use crate::queue::Table;

const LINE: usize = 64;
const ENTRY_WORDS: usize = 2;
const ENTRIES_PER_LINE: usize = LINE / 8 / ENTRY_WORDS;

/// A domain has no more publishers; a table with more lines is a broken peer's, and as long to search as its file.
const LINES_MAX: u64 = (1 << 16) / ENTRIES_PER_LINE as u64;

/// How long a publish waits for room before it fails (the DDS default of `max_blocking_time`).
const MAX_BLOCKING: Duration = Duration::from_millis(100);

/// Bytes that a publisher keeps for readers that are behind.
const BYTES_IN_FLIGHT: u64 = 256 << 20;

/// How often a blocked writer looks for readers that were killed.
pub(crate) const LOOK_FOR_THE_DEAD: Duration = Duration::from_millis(20);

/// What the models weaken.
trait Strength {
    // ORDERING(acks.table): Release: the entries come before the name. Meets `read_by`.
    const NAMED: Ordering = Ordering::Release;

    /// Between the name of a new table and another use of the old one's memory.
    // ORDERING(acks.table): meets `looked`: who read a word written after it sees the new name.
    fn replaced() {
        fence(Ordering::Release);
    }

    /// Between the reads of a table and the second look at its name.
    // ORDERING(acks.table): meets `replaced`: what was read of a replaced table shows that it has been replaced.
    fn looked() {
        fence(Ordering::Acquire);
    }
}

struct Full;
impl Strength for Full {}

/// A reader's table.
#[derive(Default)]
pub(crate) struct Acks {
    table: Option<Block>,
    generation: u64,
}

impl Acks {
    /// Makes the table anew for these publishers, each with the sequence that was read last.
    pub(crate) fn rebuild(
        &mut self,
        arena: &mut Arena,
        ring: &AtomicU64,
        sources: &[(SlotId, u64)],
    ) -> std::result::Result<(), AllocError> {
        self.rebuild_with::<Full>(arena, ring, sources)
    }

    fn rebuild_with<S: Strength>(
        &mut self,
        arena: &mut Arena,
        ring: &AtomicU64,
        sources: &[(SlotId, u64)],
    ) -> std::result::Result<(), AllocError> {
        let log2_lines = sources.len().div_ceil(ENTRIES_PER_LINE).max(1).next_power_of_two().trailing_zeros();
        let block = arena.alloc(LINE << log2_lines)?;
        let words = arena.words(block);
        words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        for (entry, (outlet, read)) in words.chunks_exact(ENTRY_WORDS).zip(sources) {
            entry[0].store(outlet.word(), Ordering::Relaxed);
            entry[1].store(*read, Ordering::Relaxed);
        }
        crash_point!("acks.filled");
        self.generation += 1;
        let desc = RingDesc::pack(block.segment, block.offset, log2_lines, LINE, self.generation);
        ring.store(desc.map_or(0, RingDesc::word), S::NAMED);
        crash_point!("acks.named");
        S::replaced();
        if let Some(old) = self.table.replace(block) {
            arena.free_later(old);
        }
        Ok(())
    }

    /// Says that a publisher has been read up to `sequence`, and wakes it where it waits for that. `index` is where its
    /// entry would be if the table were made anew now.
    pub(crate) fn acknowledge(&self, context: &Context, slot: SlotId, outlet: &HotCell, index: usize, sequence: u64) {
        let arena = context.arena().lock();
        let Some(entry) = self.entry(&arena, slot, index) else { return };
        if credit::acknowledge(entry, sequence, outlet.draining()) {
            ring_context(context.registry(), outlet.owner().0);
        }
    }

    /// Where a publisher finds how far it has been read; elsewhere than at `index` in a table that could not be replaced.
    fn entry<'a>(&self, arena: &'a Arena, outlet: SlotId, index: usize) -> Option<&'a AtomicU64> {
        let mut entries = arena.words(self.table?).chunks_exact(ENTRY_WORDS);
        let own = |entry: &&[AtomicU64]| entry[0].load(Ordering::Relaxed) == outlet.word();
        entries.clone().nth(index).filter(own).or_else(|| entries.find(own)).map(|entry| &entry[1])
    }

    /// Gives the table back.
    pub(crate) fn free(&mut self, arena: &mut Arena) {
        self.table.take().into_iter().for_each(|table| arena.free_later(table));
    }
}

/// How far a reader has read a publisher. `None`: its table is being replaced, or is not what it should be.
pub(crate) fn read_by(segments: &dyn Segments, reader: &AtomicU64, outlet: SlotId) -> Option<u64> {
    read_by_with::<Full>(segments, reader, outlet)
}

fn read_by_with<S: Strength>(segments: &dyn Segments, reader: &AtomicU64, outlet: SlotId) -> Option<u64> {
    // ORDERING(acks.table): Acquire: the table's entries come before its name. Meets `Acks::rebuild`.
    let word = reader.load(Ordering::Acquire);
    let desc = RingDesc::checked(word).filter(|desc| desc.stride() == LINE && desc.capacity() <= LINES_MAX)?;
    let count = usize::try_from(desc.capacity()).ok()?.checked_mul(LINE / 8)?;
    let words = segments.words(desc.segment(), desc.offset(), count)?;
    let own = |entry: &&[AtomicU64]| entry[0].load(Ordering::Relaxed) == outlet.word();
    let read = words.chunks_exact(ENTRY_WORDS).find(own).map_or(0, |entry| credit::acked(&entry[1]));
    S::looked();
    (reader.load(Ordering::Relaxed) == word).then_some(read)
}

/// Waits until the publisher may have one more sample in flight.
pub(crate) struct Room<'a> {
    pub(crate) context: &'a Context,
    pub(crate) offer: &'a Offer<'a>,
    pub(crate) hot: &'a HotCell,
    /// The last committed sequence.
    pub(crate) head: u64,
    /// The most samples in flight.
    pub(crate) window: u64,
    /// What waiters for the credit of a stream ask for; 0: there are none.
    pub(crate) wish: u64,
    /// Of a queue: what says that items are acknowledged.
    pub(crate) queue: Option<&'a Table>,
}

/// Has readers ring when they have read up to `sequence`, without losing the `wish` of those that wait for credit.
pub(crate) fn ask_beside(wish: u64, wanted: &AtomicU64, sequence: u64) {
    credit::ask(wanted, if wish == 0 { sequence } else { sequence.min(wish) });
}

/// Ends [`ask_beside`].
pub(crate) fn stop_asking_beside(wish: u64, wanted: &AtomicU64) {
    match wish {
        0 => credit::stop_asking(wanted),
        // It was never above: whoever got there has rung.
        wish => credit::ask(wanted, wish),
    }
}

impl Room<'_> {
    /// Fewer large samples than small ones may be in flight.
    pub(crate) fn window(most: u32, size: usize) -> u64 {
        (BYTES_IN_FLIGHT / (size as u64).max(1)).clamp(1, u64::from(most))
    }

    /// # Errors
    /// [`Error::Timeout`]: a reader is that far behind, and did not read on in time.
    pub(crate) fn wait(&self, readers: &mut Readers) -> Result<()> {
        let enough = (self.head + 1).saturating_sub(self.window);
        let has_room = |readers: &mut Readers| match self.queue {
            // What came before it was done when it was sent.
            Some(queue) => queue.is_done(enough),
            None => readers.least_read(self.context, self.offer, enough) >= enough,
        };
        if has_room(readers) {
            return Ok(());
        }
        let end = Instant::now() + MAX_BLOCKING;
        // Half the window at once: a writer that is woken for each sample read would spend its time on waking.
        let enough_for_half = self.head + 1 - self.window.div_ceil(2).min(self.head);
        // Items are acknowledged in any order: it is this one that counts.
        let wanted = if self.queue.is_some() { enough } else { enough_for_half };
        ask_beside(self.wish, self.hot.draining(), wanted.max(1));
        let outcome = loop {
            let parked = self.context.registry().park();
            if has_room(readers) {
                break Ok(());
            }
            if Instant::now() >= end {
                break Err(self.timeout(enough));
            }
            // However it ends, look again.
            let _ = parked.sleep(Some(Deadline::after(LOOK_FOR_THE_DEAD)));
            drop(parked);
            self.look_for_the_dead(readers);
        };
        stop_asking_beside(self.wish, self.hot.draining());
        outcome
    }

    fn timeout(&self, enough: u64) -> Error {
        let (window, waited) = (self.window, MAX_BLOCKING.as_millis());
        Error::Timeout(match self.queue {
            Some(_) => format!(
                "{window} items are in flight and item {enough} was not acknowledged for {waited} ms; publish again, or less"
            ),
            None => format!(
                "{window} samples are in flight and a reliable KEEP_ALL subscription has not read on for {waited} ms; \
                 publish again, publish less, or use KEEP_LAST"
            ),
        })
    }

    fn look_for_the_dead(&self, readers: &mut Readers) {
        let registry: &Registry = self.context.registry();
        registry.sweep();
        readers.refresh_if_moved(registry, self.offer);
    }
}

/// Waits, for a while, until one more sample is within the bounds of the readers that want to be waited for. Those that are
/// not there by then are given up.
pub(crate) fn wait_for_bounded(room: &Room<'_>, readers: &mut Readers) {
    if readers.held_back_by(room.context, room.offer, room.head).is_none() {
        return;
    }
    let end = Instant::now() + MAX_BLOCKING;
    while let Some(wanted) = readers.held_back_by(room.context, room.offer, room.head) {
        if Instant::now() >= end {
            readers.give_up(room.context, room.offer, room.head);
            break;
        }
        ask_beside(room.wish, room.hot.draining(), wanted);
        let parked = room.context.registry().park();
        // The wish and the park come before this look at the tables.
        if readers.held_back_by(room.context, room.offer, room.head).is_some() {
            // However it ends, look again.
            let _ = parked.sleep(Some(Deadline::after(LOOK_FOR_THE_DEAD)));
        }
        drop(parked);
        room.look_for_the_dead(readers);
    }
    stop_asking_beside(room.wish, room.hot.draining());
}

#[cfg(test)]
mod models;

#[cfg(test)]
mod tests {
    use super::*;

    /// Else one publisher would be told how far another has been read, and write over what nobody has read.
    #[test]
    fn a_table_that_cannot_be_replaced_stays_right() {
        let (old, new) = (SlotId { index: 5, incarnation: 0 }, SlotId { index: 3, incarnation: 0 });
        let mut arena = Arena::heap_with_budget(64 << 10);
        let (mut acks, ring) = (Acks::default(), AtomicU64::new(0));
        acks.rebuild(&mut arena, &ring, &[(old, 7)]).expect("there is room");
        let mut hog = 32 << 10;
        while hog >= 64 {
            hog = if arena.alloc(hog).is_ok() { hog } else { hog / 2 };
        }
        acks.rebuild(&mut arena, &ring, &[(new, 0), (old, 7)]).expect_err("there is none left");
        assert!(acks.entry(&arena, new, 0).is_none(), "who is not in the table waits");
        let entry = acks.entry(&arena, old, 1).expect("in its old place");
        assert_eq!(credit::acked(entry), 7);
    }

    struct Memory(Vec<AtomicU64>);

    impl Segments for Memory {
        fn words(&self, segment: u16, offset: u64, n: usize) -> Option<&[AtomicU64]> {
            let from = usize::try_from(offset).ok().filter(|_| segment == 1)? / 8;
            self.0.get(from..from.checked_add(n)?)
        }

        fn bytes(&self, _: u16, _: u64, _: usize) -> Option<*const u8> {
            None
        }
    }

    #[test]
    fn a_table_longer_than_any_domain_needs_is_not_searched() {
        let outlet = SlotId { index: 5, incarnation: 0 };
        let entry = [outlet.word(), 7];
        let memory = Memory(entry.into_iter().chain(std::iter::repeat_n(0, 1 << 18)).map(AtomicU64::new).collect());
        let read = |log2| {
            let desc = RingDesc::pack(1, 0, log2, LINE, 0).expect("it fits");
            read_by(&memory, &AtomicU64::new(desc.word()), outlet)
        };
        assert_eq!((read(0), read(14), read(15)), (Some(7), Some(7), None));
    }

    proptest::proptest! {
        #[test]
        fn a_table_of_a_broken_reader_says_anything_but_ends_nobody(desc: u64, words in proptest::collection::vec(0..u64::MAX, 64)) {
            let memory = Memory(words.into_iter().map(AtomicU64::new).collect());
            for desc in [desc, desc & 0x0001_ffff_ffff_ffff | 1 << 48, 1 << 48 | 3 << 15 | 1 << 10] {
                let read = read_by(&memory, &AtomicU64::new(desc), SlotId { index: 5, incarnation: 0 });
                assert!(read.is_none_or(|read| read == 0), "no entry has this key");
            }
        }
    }
}
