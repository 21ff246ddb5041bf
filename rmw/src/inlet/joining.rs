//! Joining publishers anew: one that shed the reader, or all publishers of several readers at one instant each.
//!
//! The reader has stood in the registry all along, so each commit is followed by a mark (or found one that is set). Its
//! class enters the draining word, and only then the head is loaded: whatever is above that head is committed later, and
//! its mark finds a reader that looks for it; what a mark told of that was taken before is at or below the head.

use parking_lot::MutexGuard;
use shoal_registry::{gid, HotCell, Kind, SlotId};
use shoal_shm::ring;
use shoal_shm::sync::Ordering;

use super::{Inlet, State};
use crate::error::{Error, Result};
use crate::matching::class_bit;
use crate::outlet::hot_cell;

/// Looks at the heads of one process's publishers until none of them moves in between.
const TRIES: usize = 100_000;

/// One source of one of several readers.
struct Place {
    context_id: u64,
    reader: usize,
    source: usize,
}

impl Inlet {
    /// Joins a publisher again; the bound between history and live. `None`: it is not known, or never read.
    pub(crate) fn rejoin(&self, publisher: &[u8; 16]) -> Result<Option<u64>> {
        let _using = self.context.using()?;
        let hot = hot_cell(self.context.registry(), self.slot)?;
        let state = &mut *self.state.lock();
        self.scan_if_moved(state);
        let found = state
            .sources
            .iter()
            .position(|source| !source.muted && gid(source.context_id, Kind::Publisher, source.endpoint) == *publisher);
        let Some(index) = found else { return Ok(None) };
        let slot = state.sources[index].slot;
        let Some(outlet) = self.context.registry().hot(slot.index) else { return Ok(None) };
        hot.draining().fetch_or(class_bit(slot), Ordering::AcqRel);
        let head = ring::head_after_registering(outlet.head());
        self.begin_at(state, index, outlet, head);
        Ok(Some(head))
    }

    /// Reads a source as if the reader joined it when its head was `head`. Its class is in the draining word.
    fn begin_at(&self, state: &mut State, index: usize, outlet: &HotCell, head: u64) {
        let slot = state.sources[index].slot;
        self.forget_passed(slot);
        let watermark = self.start_at(outlet.qos(), head, state.reach);
        let source = &mut state.sources[index];
        (source.shed, source.waiting, source.next, source.weighed) = (false, None, None, 0);
        (source.start, source.bound, source.watermark) = (watermark, head, watermark);
        source.count_to(watermark);
        state.active |= class_bit(slot);
        self.acknowledge(state, index);
    }

    /// Has each of the readers join all of its publishers anew, those of one process at one instant.
    ///
    /// # Errors
    /// A process published so fast that no such instant was found; then nobody has joined anew. A context was shut down.
    pub(crate) fn join_many(inlets: &[&Inlet]) -> Result<()> {
        let mut inlets = inlets.to_vec();
        // In one order, so that two calls do not wait for each other, and each once.
        inlets.sort_by_key(|inlet| std::ptr::from_ref(*inlet).addr());
        inlets.dedup_by_key(|inlet| std::ptr::from_ref(*inlet).addr());
        let _using = inlets.iter().map(|inlet| inlet.context.using()).collect::<Result<Vec<_>>>()?;
        let mut states: Vec<_> = inlets.iter().map(|inlet| inlet.state.lock()).collect();
        let places = places(&inlets, &mut states)?;
        let mut heads = Vec::new();
        for of_process in places.chunk_by(|one, next| one.context_id == next.context_id) {
            heads.extend(heads_of(&inlets, &states, of_process)?);
        }
        for (place, head) in places.iter().zip(heads) {
            let (inlet, state) = (inlets[place.reader], &mut *states[place.reader]);
            if let Some(outlet) = inlet.context.registry().hot(state.sources[place.source].slot.index) {
                inlet.begin_at(state, place.source, outlet, head);
            }
        }
        Ok(())
    }

    /// What passed a filter and was not taken is history now.
    fn forget_passed(&self, slot: SlotId) {
        self.filtering.lock().forget(slot);
    }
}

/// The sources that are read, by the process that writes them; each one's class is in its reader's draining word.
fn places(inlets: &[&Inlet], states: &mut [MutexGuard<'_, State>]) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    for (reader, (inlet, state)) in inlets.iter().zip(states).enumerate() {
        inlet.scan_if_moved(state);
        let hot = hot_cell(inlet.context.registry(), inlet.slot)?;
        let State { sources, active, .. } = &mut **state;
        for (source, known) in sources.iter().enumerate().filter(|(_, known)| !known.muted) {
            *active |= class_bit(known.slot);
            places.push(Place { context_id: known.context_id, reader, source });
        }
        hot.draining().fetch_or(state.active, Ordering::AcqRel);
    }
    places.sort_by_key(|place| place.context_id);
    Ok(places)
}

/// The heads of one process's publishers at one instant.
fn heads_of(inlets: &[&Inlet], states: &[MutexGuard<'_, State>], places: &[Place]) -> Result<Vec<u64>> {
    let cells = places.iter().filter_map(|place| {
        let slot = states[place.reader].sources[place.source].slot;
        inlets[place.reader].context.registry().hot(slot.index).map(HotCell::head)
    });
    let cells: Vec<_> = cells.collect();
    let found = (0..TRIES).find_map(|_| ring::heads_at_once(&cells));
    found.ok_or_else(|| {
        let count = cells.len();
        Error::Timeout(format!(
            "{count} publishers of one process did not stand still for a moment in {TRIES} looks; join again, or fewer \
             topics at once"
        ))
    })
}
