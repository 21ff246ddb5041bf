//! Models of the ring: `slots` of one slot, one head, one move; `delivery` of all of it, from the publication to the
//! pull; `memory` of payloads. `cargo xtask loom` runs them.

mod cut;
mod delivery;
mod memory;
mod slots;

use super::reader::read_with;
use super::testing::{body, bytes_of, Bench, Cell, Peer, OWNER};
use super::{InlineBuf, Payload, ReadError, Segments, SlotMeta, Strength};
use crate::hazard::HazardTable;
use crate::sync::{fence, Ordering};
use std::sync::Arc;

macro_rules! weakened {
    ($($name:ident: $step:ident => $weak:expr;)*) => {$(
        #[doc = concat!("The full protocol, but for `", stringify!($step), "`.")]
        struct $name;
        impl Strength for $name {
            fn $step() {
                $weak
            }
        }
    )*};
}

weakened! {
    NoSlotOpened: slot_opened => ();
    NoSlotRead: slot_read => ();
    NoMoved: moved => ();
    WeakPublished: published => fence(Ordering::AcqRel);
    WeakRegistered: registered => fence(Ordering::AcqRel);
    WeakAnnounced: announced => fence(Ordering::AcqRel);
    WeakRetired: retired => fence(Ordering::AcqRel);
}

/// Samples are committed, but nothing says that they are.
struct Unpublished;
impl Strength for Unpublished {
    const COMMITTED: Ordering = Ordering::Relaxed;
    const HEAD: Ordering = Ordering::Relaxed;
}

/// A reader's things, to be moved to its thread.
struct Reader<P = Peer> {
    cell: Arc<Cell>,
    peer: P,
}

impl Reader {
    fn of<S: Strength>(bench: &Bench<S>) -> Reader {
        Reader { cell: bench.cell.clone(), peer: Peer::Heap(bench.pool.segment.clone()) }
    }
}

impl<P: Segments> Reader<P> {
    fn read<S: Strength, R>(&self, seq: u64, f: impl FnOnce(SlotMeta, Payload) -> R) -> Result<R, ReadError> {
        let hazard = HazardTable::new(&self.cell.table).acquire().expect("a hazard");
        read_with::<S, R>(&self.peer, &self.cell.desc, OWNER, seq, &hazard, &mut InlineBuf::new(), f)
    }

    /// Reads an inline sample and checks every word of it.
    fn check<S: Strength>(&self, seq: u64) -> Result<(), ReadError> {
        self.read::<S, _>(seq, |meta, at| {
            let whole = meta.source_timestamp == seq as i64 && meta.related == !seq && bytes_of(at) == body(seq, 8);
            assert!(whole, "{TORN}");
        })
    }
}

const TORN: &str = "a torn or wrong sample was read";
const NOT_THERE: &str = "what the head promises is not there";
