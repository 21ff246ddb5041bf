use super::*;
use crate::testing::Memory;
use shoal_shm::model;
use shoal_shm::sync::{thread, Arc};

const LAST: [u8; 16] = [7; 16];
const NEXT: [u8; 16] = [9; 16];

/// A service whose first client has four responses.
fn service() -> (Memory, Arc<AtomicU64>, Table) {
    let mut memory = Memory::new(1024);
    let name = Arc::new(AtomicU64::new(0));
    let table = Table::replaced(&mut memory.arena, &name, None).expect("room");
    table.enter(&memory.arena, 0, LAST);
    table.entry(&memory.arena, 0)[HEAD].store(4, Ordering::Release);
    (memory, name, table)
}

/// The entry of a client that is gone is given to the next one, which has no response yet.
fn next_client<S: Strength + 'static>() {
    let (memory, name, table) = service();
    let peer = memory.peer();
    let service = thread::spawn(move || {
        table.leave(&memory.arena, 0);
        table.enter_with::<S>(&memory.arena, 0, NEXT);
    });
    let head = find_head_with::<S>(&peer, &name, NEXT, &mut 0).map(|(_, head)| head);
    assert!(matches!(head, None | Some(0)), "{FOREIGN}: {head:?}");
    service.join().expect("the service");
}

/// The table grows under a client that looks for its responses, and the old one's memory is used again at once.
fn growing_table<S: Strength + 'static>(word: usize) {
    let (mut memory, name, table) = service();
    let (peer, ring) = (memory.peer(), name.clone());
    let service = thread::spawn(move || {
        let _larger = Table::replaced_with::<S>(&mut memory.arena, &ring, Some(&table)).expect("room");
        memory.scribble(table.block, word);
    });
    let head = find_head_with::<S>(&peer, &name, LAST, &mut 0).map(|(_, head)| head);
    assert_eq!(head, Some(4), "{ASTRAY}");
    service.join().expect("the service");
}

const FOREIGN: &str = "another client's head";
const ASTRAY: &str = "a client does not find its responses";

struct WeakEntry;
impl Strength for WeakEntry {
    const ENTERED: Ordering = Ordering::Relaxed;
}

struct WeakName;
impl Strength for WeakName {
    const NAMED: Ordering = Ordering::Relaxed;
}

struct NoFenceOfTheService;
impl Strength for NoFenceOfTheService {
    fn replaced() {}
}

struct WeakLook;
impl Strength for WeakLook {
    const SEEN: Ordering = Ordering::Relaxed;
}

model! {
    a_client_never_sees_the_head_of_another {
        edges: ["responses.entry"],
        claim: "a client that gets the entry of one that is gone finds its own head there, or nothing",
        scenes: [next_client::<Full>],
        twins: ["the Releases of the entry": next_client::<WeakEntry> => FOREIGN],
    }
}

model! {
    a_client_finds_its_responses_while_the_table_grows {
        edges: ["responses.table"],
        claim: "a client is found, with its own head, in the old table or in the new one",
        scenes: [|| growing_table::<Full>(HEAD), || growing_table::<Full>(0)],
        twins: [
            "the Release of the table's name": || growing_table::<WeakName>(HEAD) => ASTRAY,
            "the fence before the old table's memory is used again": || growing_table::<NoFenceOfTheService>(HEAD) => ASTRAY,
            "the Acquire of the look at an entry": || growing_table::<WeakLook>(HEAD) => ASTRAY,
        ],
    }
}
