//! Reading one sample out of its writer's memory.

use shoal_registry::Registry;
use shoal_shm::hazard::HazardSlot;
use shoal_shm::ring::{self, ReadError, SlotMeta};

use super::sources::Source;
use super::{Inlet, State, Taken};
use crate::error::{Error, Result};
use crate::message::{Incoming, Sink};
use crate::peers::PeerViews;

impl Inlet {
    /// Reads one sample into the sink. `Ok(None)`: it was lapped, or its memory is not what it should be.
    pub(super) fn read(
        &self,
        state: &mut State,
        index: usize,
        sequence: u64,
        sink: Sink<'_>,
    ) -> Result<Option<Result<Taken>>> {
        let source = state.sources[index];
        let read = self.show(state, index, sequence, |meta, sample| sink(sample).map(|()| meta))?;
        Ok(read.map(|read| read.map(|meta| self.taken(state, &source, sequence, meta))))
    }

    /// Shows one sample to somebody. `Ok(None)`: as for [`read`](Self::read). Where this process may not map it that is an
    /// error, and the sample stays unread.
    pub(super) fn show<R>(
        &self,
        state: &mut State,
        index: usize,
        sequence: u64,
        look: impl FnOnce(SlotMeta, Incoming) -> R,
    ) -> Result<Option<R>> {
        let source = state.sources[index];
        let registry = self.context.registry();
        let hazard = hazard(registry)?;
        let Some(outlet) = registry.hot(source.slot.index) else { return Ok(None) };
        let views = views_of(&mut state.views, source.context_id);
        let reach = state.views[views].reach(self.context.peers());
        let buffer = state.buffer.get_or_insert_default();
        let seen = ring::read(&reach, outlet.ring(), source.context, sequence, &hazard, buffer, |meta, body| {
            // The slot may have changed hands since it was looked at: then this is somebody else's sample.
            registry.slot_state(source.slot)?;
            let encapsulation = meta.encapsulation.to_le_bytes();
            Some(look(meta, Incoming { encapsulation, ptr: body.ptr, len: body.len }))
        });
        match seen {
            Ok(seen) => Ok(seen),
            Err(ReadError::Lapped | ReadError::NotYet | ReadError::Invalid(_)) => reach.granted().map(|()| None),
        }
    }

    pub(super) fn taken(&self, state: &mut State, source: &Source, sequence: u64, meta: SlotMeta) -> Taken {
        state.taken += 1;
        let received = meta.source_timestamp.max(self.joined_at).max(state.last_received);
        state.last_received = received;
        Taken {
            meta,
            sequence,
            received,
            reception: state.taken,
            outlet: source.slot,
            endpoint: source.endpoint,
            context_id: source.context_id,
        }
    }
}

/// Index of a peer's mappings, made when missing.
pub(super) fn views_of(views: &mut Vec<PeerViews>, context_id: u64) -> usize {
    views.iter().position(|views| views.context() == context_id).unwrap_or_else(|| {
        views.push(PeerViews::new(context_id));
        views.len() - 1
    })
}

/// Looks for a hazard word, when all are in use by threads that read at this moment.
const HAZARD_TRIES: usize = 100_000;

/// A hazard word of this context, for one read. Loans never take the last few.
pub(crate) fn hazard(registry: &Registry) -> Result<HazardSlot<'_>> {
    let acquire = || registry.hazards().acquire();
    let slow = || {
        (0..HAZARD_TRIES).find_map(|_| {
            std::thread::yield_now();
            acquire()
        })
    };
    acquire().or_else(slow).ok_or_else(|| {
        Error::Other("all hazard words of this context are in use: too many threads take at the same time".into())
    })
}
