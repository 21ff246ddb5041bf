//! How far an outlet's readers are, and waiting until they have taken what was sent.
//!
//! Readers say nothing of their progress until an outlet asks for it (a bit in its hot cell, and its topic's generation
//! moved). Each then keeps a table of what it has read (`acks`), as reliable KEEP_ALL readers always do. Without a table,
//! and faster with one, a reader whose class is neither pending nor draining has nothing left to take.

use std::time::{Duration, Instant};

use shoal_registry::{gid, Kind};
use shoal_shm::futex::Deadline;
use shoal_shm::ring;
use shoal_shm::wait::{interruption, Outcome};

use super::{Outlet, State};
use crate::acks::{ask_beside, read_by, stop_asking_beside, LOOK_FOR_THE_DEAD};
use crate::error::{Error, Result};
use crate::matching::{is_drained, Reader};
use crate::peers::PeerViews;

/// How far a matched subscription is behind its publisher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReaderLag {
    /// The subscription.
    pub gid: [u8; 16],
    /// Whether its profile is reliable.
    pub reliable: bool,
    /// Samples that it has not taken; what KEEP_LAST lets it skip counts until it looks. `None`: it has not said yet,
    /// because it has not looked since it was asked.
    pub messages: Option<u64>,
    /// Bytes of those samples that are still kept for it.
    pub bytes: u64,
}

impl Outlet {
    /// How far each matched reader is behind. The first call asks the readers to say so.
    pub(crate) fn lag(&self) -> Result<Vec<ReaderLag>> {
        self.ask_progress()?;
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        let head = head(state)?;
        self.lags(state, head)
    }

    /// Waits until each matched reliable reader has taken what was sent before the call, for at most `budget` (`None`:
    /// for ever). Answers [`Outcome::Ready`], or why not and who has not.
    pub(crate) fn flush(&self, budget: Option<Duration>) -> Result<(Outcome, Vec<ReaderLag>)> {
        let end = budget.and_then(|budget| Instant::now().checked_add(budget));
        self.ask_progress()?;
        let target = head(&self.state.lock())?;
        let registry = self.context.registry();
        let ended = loop {
            self.wish_for(target.max(1))?;
            let parked = registry.park();
            // ORDERING(credit.ask): the wish and the park before the look at the tables; meets `acknowledge`.
            let late = self.late(target)?;
            let over = end.is_some_and(|end| end <= Instant::now());
            match (late.is_empty(), interruption().raised, over) {
                (true, _, _) => break (Outcome::Ready, late),
                (false, true, _) => break (Outcome::Interrupted, late),
                (false, false, true) => break (Outcome::TimedOut, late),
                (false, false, false) => {}
            }
            let left = end.map_or(LOOK_FOR_THE_DEAD, |end| end.saturating_duration_since(Instant::now()));
            // However it ends, look again.
            let _ = parked.sleep(Some(Deadline::after(left.min(LOOK_FOR_THE_DEAD))));
            drop(parked);
            registry.sweep();
        };
        let _using = self.context.using()?;
        stop_asking_beside(self.wish(&self.state.lock()), self.hot()?.draining());
        Ok(ended)
    }

    /// Has the readers ring when they have read up to `target`.
    fn wish_for(&self, target: u64) -> Result<()> {
        // The context may have been shut down while the caller slept: then the cell may be another process's.
        let _using = self.context.using()?;
        ask_beside(self.wish(&self.state.lock()), self.hot()?.draining(), target);
        Ok(())
    }

    /// The reliable readers that have not taken everything up to `target`.
    fn late(&self, target: u64) -> Result<Vec<ReaderLag>> {
        let _using = self.context.using()?;
        let lags = self.lags(&mut self.state.lock(), target)?;
        Ok(lags.into_iter().filter(|lag| lag.reliable && lag.messages != Some(0)).collect())
    }

    /// Has the readers keep tables from their next look on.
    fn ask_progress(&self) -> Result<()> {
        let _using = self.context.using()?;
        let registry = self.context.registry();
        let state = &mut *self.state.lock();
        if !std::mem::replace(&mut state.asks_progress, true) {
            registry.ask_progress(self.slot);
            state.readers.refresh_after_commit(registry, &self.offer());
            let head = head(state)?;
            state.readers.look_again(registry, self.offer().bit(), head);
        }
        Ok(())
    }

    /// How far each reader is behind `target`. With the outlet's lock held what was committed has been marked.
    fn lags(&self, state: &mut State, target: u64) -> Result<Vec<ReaderLag>> {
        let registry = self.context.registry();
        state.readers.refresh_if_moved(registry, &self.offer());
        let own = &mut PeerViews::new(registry.context_id());
        let mut lags = Vec::new();
        for reader in state.readers.list_mut() {
            let Some((read, owner)) = self.read_by(reader) else { continue };
            let gid = gid(reader.context_id, Kind::Subscription, owner);
            let messages = if target == 0 { Some(0) } else { read.map(|read| target.saturating_sub(read)) };
            let bytes = read.map_or(Ok(0), |read| self.bytes_between(own, read, target))?;
            lags.push(ReaderLag { gid, reliable: reader.reliable, messages, bytes });
        }
        Ok(lags)
    }

    /// What a reader has read, as far as it has said so, and its number; `None` when it is gone.
    fn read_by(&self, reader: &mut Reader) -> Option<(Option<u64>, u32)> {
        let registry = self.context.registry();
        let cell = registry.hot(reader.slot.index)?;
        let read = match is_drained(cell, self.offer().bit()) {
            true => Some(u64::MAX),
            false => read_by(&reader.views.reach(self.context.peers()), cell.ring(), self.slot)
                .or((reader.known > 0).then_some(reader.known)),
        };
        let (_, endpoint) = cell.owner();
        registry.slot_state(reader.slot).map(|_| (read, endpoint))
    }

    /// Bytes of the samples after `read`, as far as the ring still has them.
    fn bytes_between(&self, own: &mut PeerViews, read: u64, target: u64) -> Result<u64> {
        let (peers, ring) = (self.context.peers(), self.hot()?.ring());
        let reach = own.reach(peers);
        // Newest first: before the first one that is gone there is nothing either.
        let sizes =
            (read.saturating_add(1)..=target).rev().map_while(|sequence| ring::read_size(&reach, ring, sequence));
        Ok(sizes.map(u64::from).sum())
    }
}

pub(super) fn head(state: &State) -> Result<u64> {
    state.writer.as_ref().map(|writer| writer.head()).ok_or(Error::ShutDown)
}
