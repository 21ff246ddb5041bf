//! Messages that a publisher has lent to its user, to be filled in place and then sent or given back.

use std::collections::HashMap;
use std::ptr::NonNull;

use shoal_shm::ring::{Reservation, Writer};

use super::{no_memory, Outlet, Prepared, State};
use crate::error::{Error, Result};
use crate::loan::not_on_loan;
use crate::message::CDR_LITTLE_ENDIAN;

/// The chunks that are lent, by the address of their first byte.
pub(super) type Loans = HashMap<usize, Reservation>;

impl Outlet {
    /// Lends memory for a body of `size` bytes, which starts on a cache line. Its content is whatever was there.
    pub(crate) fn borrow_loan(&self, size: usize) -> Result<NonNull<u8>> {
        self.context.check()?;
        let state = &mut *self.state.lock();
        let State { writer: Some(writer), loans, .. } = state else { return Err(Error::ShutDown) };
        let arena = &mut *self.context.arena().lock();
        let mut reserved = writer.reserve_chunk(arena, size).map_err(|source| no_memory(size, source))?;
        let at = reserved.body(arena).and_then(|mut body| NonNull::new(body.as_mut_ptr()));
        match at {
            Some(at) => {
                loans.insert(at.addr().get(), reserved);
                Ok(at)
            }
            None => {
                writer.abandon(arena, reserved);
                Err(Error::Other(format!("the memory for a message of {size} bytes is not mapped")))
            }
        }
    }

    /// Sends a message that was lent, as it lies. When that fails it is given back, unless it was never lent.
    pub(crate) fn send_loan(&self, at: *const u8) -> Result<u64> {
        let _using = self.context.using()?;
        let unknown = || not_on_loan(at, "publisher");
        let size = self.state.lock().loans.get(&at.addr()).map(Reservation::size).ok_or_else(unknown)?;
        let sent = self.deliver(size, |_, _, loans| {
            let reserved = loans.remove(&at.addr()).ok_or_else(unknown)?;
            Ok(Prepared { reserved, encapsulation: CDR_LITTLE_ENDIAN, related: 0 })
        });
        if sent.is_err() {
            // A commit that failed has given it back already.
            drop(self.return_loan(at));
        }
        sent
    }

    /// Takes a message back that was lent and not sent.
    pub(crate) fn return_loan(&self, at: *const u8) -> Result<()> {
        if self.context.registry().is_forked() {
            return Err(Error::Forked);
        }
        let state = &mut *self.state.lock();
        let reserved = state.loans.remove(&at.addr()).ok_or_else(|| not_on_loan(at, "publisher"))?;
        if let Some(writer) = &mut state.writer {
            writer.abandon(&mut *self.context.arena().lock(), reserved);
        }
        Ok(())
    }

    /// Takes back whatever is still lent; the ring is not used after this.
    pub(super) fn close_loans(&mut self) -> Option<Writer> {
        let state = self.state.get_mut();
        let mut writer = state.writer.take()?;
        if !self.context.registry().is_forked() {
            let arena = &mut *self.context.arena().lock();
            state.loans.drain().for_each(|(_, reserved)| writer.abandon(arena, reserved));
        }
        Some(writer)
    }
}
