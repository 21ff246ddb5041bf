//! The table of response rings in a service's memory, as the service writes it and as its clients read it.
//!
//! Entries of 64 bytes, `{client GID: 2 words | head | ring descriptor | in use | 0 0 0}`. The service's hot cell names the
//! table as if it were a ring of such entries. An entry keeps its index when the table grows. Written by the service
//! alone. If it dies between any two stores, a client sees an entry that is not in use, or a head from before the
//! response.

use shoal_shm::arena::{AllocError, Arena, Block};
use shoal_shm::crash_point;
use shoal_shm::ring::{RingDesc, Segments};
use shoal_shm::sync::{fence, AtomicU64, Ordering};

const ENTRY_BYTES: usize = 64;
const ENTRY_WORDS: usize = ENTRY_BYTES / 8;
pub(super) const HEAD: usize = 2;
pub(super) const RING: usize = 3;
const IN_USE: usize = 4;
/// More replacements than a table can have: each doubles it.
const MAX_MOVES: usize = 32;
/// A table that a client searches has at most so many entries; more are a sign of a broken peer.
const ENTRIES_MAX: u64 = 1 << 16;

/// What the models weaken.
trait Strength {
    // ORDERING(responses.entry): Release: who still sees the last tenant's entry in use, but the new GID in it, sees the
    // head that goes with that GID; and the GID stands before the entry is in use. Meets `find_entry`.
    const ENTERED: Ordering = Ordering::Release;

    // ORDERING(responses.table): Release: the copied entries stand before the table is named. Meets `find_entry`.
    const NAMED: Ordering = Ordering::Release;

    /// Between the name of a new table and another use of the old one's memory.
    // ORDERING(responses.table): meets `SEEN`: who read a word written after it sees the new name.
    fn replaced() {
        fence(Ordering::Release);
    }

    // ORDERING(responses.table): Acquire; meets `replaced`: what was read of an old table shows that it has been replaced.
    // ORDERING(responses.entry): Acquire: the GID comes before the entry's use, and the head that goes with it after.
    // Meets Table::enter. ORDERING(ring.head): Acquire: the responses up to the head come before it. Meets Responses::write.
    const SEEN: Ordering = Ordering::Acquire;
}

struct Full;
impl Strength for Full {}

/// The table as its service knows it.
pub(super) struct Table {
    pub(super) block: Block,
    pub(super) log2_capacity: u32,
    generation: u64,
    pub(super) used: usize,
}

impl Table {
    /// A table of twice the size with the same entries, named in `ring` from now on. The old one may be freed, later.
    pub(super) fn replaced(arena: &mut Arena, ring: &AtomicU64, old: Option<&Table>) -> Result<Table, AllocError> {
        Table::replaced_with::<Full>(arena, ring, old)
    }

    fn replaced_with<S: Strength>(
        arena: &mut Arena,
        ring: &AtomicU64,
        old: Option<&Table>,
    ) -> Result<Table, AllocError> {
        let larger = Table::grown(arena, old)?;
        crash_point!("responses.table_copied");
        if let Some(desc) = larger.descriptor() {
            ring.store(desc.word(), S::NAMED);
        }
        crash_point!("responses.table_named");
        S::replaced();
        Ok(larger)
    }

    /// Gives a free entry to a client.
    pub(super) fn enter(&self, arena: &Arena, index: usize, client: [u8; 16]) {
        self.enter_with::<Full>(arena, index, client);
    }

    fn enter_with<S: Strength>(&self, arena: &Arena, index: usize, client: [u8; 16]) {
        let entry = self.entry(arena, index);
        let (low, high) = gid_words(client);
        entry[HEAD].store(0, Ordering::Relaxed);
        entry[RING].store(0, Ordering::Relaxed);
        entry[0].store(low, S::ENTERED);
        entry[1].store(high, S::ENTERED);
        crash_point!("responses.entry_filled");
        entry[IN_USE].store(1, S::ENTERED);
        crash_point!("responses.entry_named");
    }

    /// Takes a client's entry back.
    pub(super) fn leave(&self, arena: &Arena, index: usize) {
        self.entry(arena, index)[IN_USE].store(0, Ordering::Release);
    }

    /// A table of twice the size with the same entries; the first has four.
    fn grown(arena: &mut Arena, old: Option<&Table>) -> Result<Table, AllocError> {
        let log2_capacity = old.map_or(2, |old| old.log2_capacity + 1);
        let block = arena.alloc(ENTRY_BYTES << log2_capacity)?;
        let table = Table {
            block,
            log2_capacity,
            generation: old.map_or(0, |old| old.generation + 1),
            used: old.map_or(0, |old| old.used),
        };
        let copied: Vec<u64> = old
            .map(|old| arena.words(old.block).iter().map(|word| word.load(Ordering::Relaxed)).collect())
            .unwrap_or_default();
        for (index, word) in arena.words(block).iter().enumerate() {
            word.store(copied.get(index).copied().unwrap_or(0), Ordering::Relaxed);
        }
        Ok(table)
    }

    fn descriptor(&self) -> Option<RingDesc> {
        let Block { segment, offset, .. } = self.block;
        RingDesc::pack(segment, offset, self.log2_capacity, ENTRY_BYTES, self.generation)
    }

    pub(super) fn entry<'a>(&self, arena: &'a Arena, index: usize) -> &'a [AtomicU64] {
        &arena.words(self.block)[index * ENTRY_WORDS..(index + 1) * ENTRY_WORDS]
    }
}

fn gid_words(gid: [u8; 16]) -> (u64, u64) {
    let whole = u128::from_le_bytes(gid);
    (whole as u64, (whole >> 64) as u64)
}

/// A client's entry in a service's table.
pub(crate) struct Entry<'a> {
    words: &'a [AtomicU64],
    table: u64,
}

impl Entry<'_> {
    /// The ring's descriptor word.
    pub(crate) fn ring(&self) -> &AtomicU64 {
        &self.words[RING]
    }

    /// Whether what was read through this entry counts: the table was not replaced meanwhile.
    pub(crate) fn is_current(&self, service: &AtomicU64) -> bool {
        // ORDERING(responses.table): what was read of an old table shows that the table has been replaced.
        fence(Ordering::Acquire);
        service.load(Ordering::Relaxed) == self.table
    }
}

/// The entry of `client` and the head in it. Looks again for as long as the table is being replaced: whether the client
/// is in an old one, which may be gone or hold anything, says nothing.
pub(crate) fn find_head<'a>(
    segments: &'a dyn Segments,
    service: &AtomicU64,
    client: [u8; 16],
    hint: &mut usize,
) -> Option<(Entry<'a>, u64)> {
    find_head_with::<Full>(segments, service, client, hint)
}

fn find_head_with<'a, S: Strength>(
    segments: &'a dyn Segments,
    service: &AtomicU64,
    client: [u8; 16],
    hint: &mut usize,
) -> Option<(Entry<'a>, u64)> {
    for _ in 0..MAX_MOVES {
        let table = service.load(Ordering::Relaxed);
        let found =
            find_entry::<S>(segments, service, client, hint).map(|entry| (entry.words[HEAD].load(S::SEEN), entry));
        if service.load(Ordering::Relaxed) == table {
            return found.map(|(head, entry)| (entry, head));
        }
    }
    None
}

/// Finds the entry of `client` in the table that `service` (a service's ring word) names. Every size is checked.
fn find_entry<'a, S: Strength>(
    segments: &'a dyn Segments,
    service: &AtomicU64,
    client: [u8; 16],
    hint: &mut usize,
) -> Option<Entry<'a>> {
    // ORDERING(responses.table): Acquire: a new table's entries come before its name. Meets Table::replaced.
    let table = service.load(Ordering::Acquire);
    let desc = RingDesc::checked(table)?;
    if desc.stride() != ENTRY_BYTES || desc.capacity() > ENTRIES_MAX {
        return None;
    }
    let entries = usize::try_from(desc.capacity()).ok()?;
    let words = segments.words(desc.segment(), desc.offset(), entries * ENTRY_WORDS)?;
    let wanted = gid_words(client);
    let is_own = |entry: &&[AtomicU64]| {
        entry[IN_USE].load(S::SEEN) == 1 && (entry[0].load(S::SEEN), entry[1].load(S::SEEN)) == wanted
    };
    let at = |index: usize| words.get(index * ENTRY_WORDS..(index + 1) * ENTRY_WORDS);
    let hinted = at(*hint).filter(is_own);
    let found = hinted.or_else(|| {
        *hint = (0..entries).find(|index| at(*index).filter(is_own).is_some())?;
        at(*hint)
    })?;
    Some(Entry { words: found, table })
}

#[cfg(test)]
mod models;

#[cfg(test)]
mod tests {
    use super::*;

    /// A service that replaces its table while a client looks at it.
    struct Moving {
        service: AtomicU64,
        old: Vec<AtomicU64>,
        new: Vec<AtomicU64>,
        /// The old table's memory is gone already.
        unlinked: bool,
    }

    const CLIENT: [u8; 16] = [7; 16];

    fn table(head: u64) -> Vec<AtomicU64> {
        let (low, high) = gid_words(CLIENT);
        let entry = [low, high, head, 0, u64::from(head != 0), 0, 0, 0];
        entry.into_iter().chain([0; 24]).map(AtomicU64::new).collect()
    }

    fn descriptor(segment: u16) -> u64 {
        RingDesc::pack(segment, 0, 2, ENTRY_BYTES, u64::from(segment)).expect("it fits").word()
    }

    impl Segments for Moving {
        fn words(&self, segment: u16, _: u64, count: usize) -> Option<&[AtomicU64]> {
            if segment == 2 {
                return self.new.get(..count);
            }
            self.service.store(descriptor(2), Ordering::Release);
            if self.unlinked {
                None
            } else {
                self.old.get(..count)
            }
        }

        fn bytes(&self, _: u16, _: u64, _: usize) -> Option<*const u8> {
            None
        }
    }

    /// Else a response that was announced would be taken for read.
    #[test]
    fn a_client_is_found_while_the_table_is_replaced() {
        for (old, unlinked) in [(0, false), (4, false), (4, true)] {
            let service = AtomicU64::new(descriptor(1));
            let moving = Moving { service, old: table(old), new: table(5), unlinked };
            let found = find_head(&moving, &moving.service, CLIENT, &mut 0);
            let (entry, head) = found.expect("the client is in the new table");
            assert_eq!(head, 5);
            assert!(entry.is_current(&moving.service));
        }
    }
}
