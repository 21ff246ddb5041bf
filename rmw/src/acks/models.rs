use super::*;
use crate::testing::Memory;
use shoal_shm::model;
use shoal_shm::sync::{thread, Arc};

const OTHER: SlotId = SlotId { index: 5, incarnation: 0 };
const OWN: SlotId = SlotId { index: 3, incarnation: 0 };

/// A reader that has read 4 of a publisher makes its table anew, with another publisher in the old one's place, and has
/// then read 6. A word of the old table's memory is used for something else at once.
fn table_made_anew<S: Strength + 'static>(word: usize) {
    let mut memory = Memory::new(1024);
    let (mut acks, ring) = (Acks::default(), Arc::new(AtomicU64::new(0)));
    acks.rebuild_with::<S>(&mut memory.arena, &ring, &[(OWN, 4)]).expect("room");
    let (publisher, name) = (memory.peer(), ring.clone());
    let reader = thread::spawn(move || {
        let old = acks.table.expect("a table");
        acks.rebuild_with::<S>(&mut memory.arena, &name, &[(OTHER, 9), (OWN, 6)]).expect("room");
        memory.scribble(old, word);
    });
    let read = read_by_with::<S>(&publisher, &ring, OWN);
    assert!(matches!(read, None | Some(4 | 6)), "{NOT_READ}: {read:?}");
    reader.join().expect("the reader");
}

const NOT_READ: &str = "a publisher is told what its reader never said";

struct WeakName;
impl Strength for WeakName {
    const NAMED: Ordering = Ordering::Relaxed;
}

struct NoFenceOfTheReader;
impl Strength for NoFenceOfTheReader {
    fn replaced() {}
}

struct NoFence;
impl Strength for NoFence {
    fn looked() {}
}

model! {
    a_table_of_acknowledgements_is_read_whole {
        edges: ["acks.table"],
        claim: "a publisher finds in a table that is made anew what its reader said, or nothing",
        scenes: [|| table_made_anew::<Full>(0), || table_made_anew::<Full>(1)],
        twins: [
            "the Release of the table's name": || table_made_anew::<WeakName>(0) => NOT_READ,
            "the fence before the old table's memory is used again": || table_made_anew::<NoFenceOfTheReader>(1) => NOT_READ,
            "the fence before the second look at the name": || table_made_anew::<NoFence>(0) => NOT_READ,
        ],
    }
}
