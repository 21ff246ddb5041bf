//! Taking a sample without copying it.

use std::cell::Cell;

use shoal_shm::ring::{self, Payload, ReadError, Segments, SlotMeta};
use shoal_shm::sync::AtomicU64;

use super::read::views_of;
use super::{Inlet, State, Taken};
use crate::error::Result;
use crate::loan::{Copier, Held, Loan};
use crate::message::{Incoming, CDR_LITTLE_ENDIAN};
use crate::peers::Reach;

impl Inlet {
    /// As [`take`](Self::take), but the sample is lent where it lies if it can be: it must be out of its slot, of the
    /// native byte order and at least `in_place` bytes long, and a hazard word must be free. Otherwise, and always with
    /// `None`, `copy` makes a private message.
    pub(crate) fn take_loan(&self, in_place: Option<usize>, copy: Copier<'_>) -> Result<Option<(Taken, Loan)>> {
        let mut lent = None;
        let taken = self.take_by(&mut |state, index, sequence| {
            let read = self.lend(state, index, sequence, in_place, copy)?;
            Ok(read.map(|read| {
                read.map(|(taken, loan)| {
                    lent = Some(loan);
                    taken
                })
            }))
        })?;
        Ok(taken.zip(lent))
    }

    /// Lends one sample. `Ok(None)`: as for [`read`](Self::read).
    fn lend(
        &self,
        state: &mut State,
        index: usize,
        sequence: u64,
        in_place: Option<usize>,
        copy: Copier<'_>,
    ) -> Result<Option<Result<(Taken, Loan)>>> {
        let source = state.sources[index];
        let registry = self.context.registry();
        let word = in_place.and_then(|least| Some((least, registry.hazards().acquire_for_loan()?)));
        let Some((least, word)) = word else { return self.lend_copy(state, index, sequence, copy) };
        let Some(outlet) = registry.hot(source.slot.index) else { return Ok(None) };
        let views = views_of(&mut state.views, source.context_id);
        let reach = Noting { reach: state.views[views].reach(self.context.peers()), payload_in: Cell::new(None) };
        let loan = match ring::read_loan(&reach, outlet.ring(), source.context, sequence, word) {
            Ok(loan) => loan,
            Err(ReadError::Lapped | ReadError::NotYet | ReadError::Invalid(_)) => {
                return reach.reach.granted().map(|()| None);
            }
        };
        if registry.slot_state(source.slot).is_none() {
            return Ok(None);
        }
        let (meta, payload, in_place) = (loan.meta(), loan.payload(), loan.is_in_place());
        let view = reach.payload_in.get().filter(|_| in_place && fits(&meta, payload, least));
        let lent = match view.and_then(|segment| reach.reach.shared(segment)) {
            Some(view) => {
                let held = |ticket| Held::new(&self.context, ticket, view);
                loan.into_ticket().map(|ticket| Loan::in_place(payload.ptr, held(ticket)))
            }
            // The hazard stands until the copy is made.
            None => match copy(incoming(&meta, payload)) {
                Ok(words) => Some(Loan::private(words)),
                Err(error) => return Ok(Some(Err(error))),
            },
        };
        Ok(lent.map(|lent| Ok((self.taken(state, &source, sequence, meta), lent))))
    }

    fn lend_copy(
        &self,
        state: &mut State,
        index: usize,
        sequence: u64,
        copy: Copier<'_>,
    ) -> Result<Option<Result<(Taken, Loan)>>> {
        let mut words = None;
        let read = self.read(state, index, sequence, &mut |sample| {
            words = Some(copy(sample)?);
            Ok(())
        })?;
        let lent = read.map(|read| read.map(|taken| words.map(|words| (taken, Loan::private(words)))).transpose());
        Ok(lent.flatten())
    }
}

fn incoming(meta: &SlotMeta, payload: Payload) -> Incoming {
    Incoming { encapsulation: meta.encapsulation.to_le_bytes(), ptr: payload.ptr, len: payload.len }
}

/// Whether the body is a message as it lies: its first field is where the body starts, on a line of its own.
fn fits(meta: &SlotMeta, payload: Payload, least: usize) -> bool {
    meta.encapsulation.to_le_bytes() == CDR_LITTLE_ENDIAN && payload.len >= least && payload.ptr.addr() % 8 == 0
}

/// A peer's memory that notes which segment a payload was found in.
struct Noting<'a> {
    reach: Reach<'a>,
    payload_in: Cell<Option<u16>>,
}

impl Segments for Noting<'_> {
    fn words(&self, segment: u16, offset: u64, count: usize) -> Option<&[AtomicU64]> {
        self.reach.words(segment, offset, count)
    }

    fn bytes(&self, segment: u16, offset: u64, len: usize) -> Option<*const u8> {
        self.payload_in.set(Some(segment));
        self.reach.bytes(segment, offset, len)
    }
}
