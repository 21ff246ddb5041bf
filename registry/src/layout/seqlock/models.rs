use super::*;
use crate::hash::TopicHash;
use crate::ident::Kind;
use shoal_shm::model;
use shoal_shm::sync::{explore, thread, Arc};

/// A slot with a detail of two words and a head.
struct Slot {
    cell: AtomicU64,
    payload: [AtomicU64; 2],
    head: AtomicU64,
}

impl Slot {
    fn new(word: Word) -> Arc<Slot> {
        let zero = || AtomicU64::new(0);
        Arc::new(Slot { cell: AtomicU64::new(word.0), payload: [zero(), zero()], head: zero() })
    }

    /// Tenant 0 goes; tenant 1 comes, with 1 in every word, and publishes.
    fn change_hands<S: Strength>(&self) {
        let last = word(SlotState::Dying, 0);
        store(&self.cell, last);
        release_with::<S>(&self.cell, last);
        let free = load(&self.cell);
        let claimed = Word::claimed(Kind::Publisher, free.incarnation(), 0);
        assert!(claim_with::<S>(&self.cell, free, claimed));
        self.payload.iter().for_each(|w| w.store(1, Ordering::Relaxed));
        store(&self.cell, word(SlotState::Joining, free.incarnation()));
        self.head.store(1, Ordering::Release);
    }
}

fn word(state: SlotState, incarnation: u32) -> Word {
    Word::of(state, Kind::Publisher, incarnation, TopicHash(5))
}

/// A reader copies a slot that changes hands.
fn next_tenant<S: Strength + 'static>() {
    let slot = Slot::new(word(SlotState::Live, 0));
    let theirs = slot.clone();
    let tenants = thread::spawn(move || theirs.change_hands::<S>());
    let read = |_| Some(slot.payload.each_ref().map(|w| w.load(Ordering::Relaxed)));
    if let Some((after, payload)) = read_with::<S, _>(&slot.cell, read) {
        assert_eq!(payload, [u64::from(after.incarnation()); 2], "{MIXED}");
    }
    tenants.join().expect("tenants");
}

/// A reader that knows the last tenant's slot looks at its head, and then whether the slot is still that tenant's.
fn remembered_tenant<S: Strength + 'static>() {
    let slot = Slot::new(word(SlotState::Live, 0));
    let theirs = slot.clone();
    let tenants = thread::spawn(move || theirs.change_hands::<S>());
    let head = slot.head.load(Ordering::Acquire);
    let now = load(&slot.cell);
    if now.incarnation() == 0 && now.is_readable() {
        assert_eq!(head, 0, "{CONFUSED}");
    }
    tenants.join().expect("tenants");
}

/// Two contexts want the same free slot.
fn two_claimers<S: Strength + 'static>() {
    let slot = Slot::new(Word::free(0));
    let claim = |slot: &Slot, ctx| {
        let seen = Word(slot.cell.load(Ordering::Relaxed));
        seen.state() == Some(SlotState::Free)
            && claim_with::<S>(&slot.cell, seen, Word::claimed(Kind::Publisher, seen.incarnation(), ctx))
    };
    let theirs = slot.clone();
    let other = thread::spawn(move || claim(&theirs, 1));
    let won = [claim(&slot, 0), other.join().expect("the other")];
    assert!(won[0] != won[1], "{TWO}");
}

/// One thread of the owner publishes a slot that another withdraws.
fn publish_and_withdraw<S: Strength + 'static>() {
    let slot = Slot::new(word(SlotState::Joining, 0));
    let theirs = slot.clone();
    let from = [SlotState::Joining, SlotState::Live];
    let publisher = thread::spawn(move || {
        advance_with::<S>(&theirs.cell, 0, &[SlotState::Joining], SlotState::Live);
    });
    assert!(advance_with::<S>(&slot.cell, 0, &from, SlotState::Dying).is_some());
    publisher.join().expect("the publisher");
    assert_eq!(load(&slot.cell).state(), Some(SlotState::Dying), "{BACK}");
}

const MIXED: &str = "a mixture of two tenants";
const CONFUSED: &str = "the next tenant is taken for the last";
const TWO: &str = "not one winner";
const BACK: &str = "a withdrawn slot is in the graph";

struct NoClaimFence;
impl Strength for NoClaimFence {
    fn claimed() {}
}

struct NoLookFence;
impl Strength for NoLookFence {
    fn looked() {}
}

struct SameIncarnation;
impl Strength for SameIncarnation {
    fn next(incarnation: u32) -> u32 {
        incarnation
    }
}

struct NoExchange;
impl Strength for NoExchange {
    fn exchange(cell: &AtomicU64, from: Word, to: Word) -> bool {
        let is_it = cell.load(Ordering::Acquire) == from.0;
        if is_it {
            cell.store(to.0, Ordering::Release);
        }
        is_it
    }
}

model! {
    a_reader_believes_one_tenant_or_none {
        edges: ["registry.slot"],
        claim: "what is copied out of a slot that changes hands belongs to one tenant, or is not believed",
        scenes: [next_tenant::<Full>],
        twins: [
            "the fence after the claim": next_tenant::<NoClaimFence> => MIXED,
            "the fence before the second look": next_tenant::<NoLookFence> => MIXED,
        ],
    }
}

model! {
    the_next_tenant_is_not_taken_for_the_last {
        edges: ["registry.slot"],
        claim: "who remembers a slot's tenant takes nothing of the next one for its own",
        scenes: [remembered_tenant::<Full>],
        twins: ["the next incarnation": remembered_tenant::<SameIncarnation> => CONFUSED],
    }
}

model! {
    a_slot_has_one_winner {
        edges: ["registry.slot"],
        claim: "of two that claim a slot one wins, and a withdrawn slot does not come back by a publication beside it",
        scenes: [two_claimers::<Full>, publish_and_withdraw::<Full>],
        twins: [
            "the compare-and-swap of the claim": two_claimers::<NoExchange> => TWO,
            "the compare-and-swap of a step": publish_and_withdraw::<NoExchange> => BACK,
        ],
    }
}

/// What a reader does must reach the second look even when the slot changes while it reads.
#[test]
fn a_slot_that_changes_hands_while_it_is_read_is_not_believed() {
    explore(|| {
        let cell = AtomicU64::new(word(SlotState::Live, 0).0);
        let moved = |to: Word| {
            read(&cell, |_| {
                store(&cell, to);
                Some(())
            })
        };
        assert!(moved(word(SlotState::Closed, 0)).is_some(), "the state may move");
        assert_eq!(moved(word(SlotState::Closed, 1)), None);
        assert_eq!(moved(word(SlotState::Dying, 1)), None);
        assert_eq!(read(&cell, |_| Some(())), None, "not readable from the start");
    });
}
