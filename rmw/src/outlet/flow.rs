//! The flow of a stream: an outlet that has no more samples in flight than its window, and never waits.
//!
//! In flight is what was sent and not yet consumed by each consumer, that is by each reliable KEEP_ALL reader. How far they
//! are stands in their tables (`acks`). Who waits for credit says so in the word by which a blocked publisher does, and is
//! rung as that one is. There is no credit before the first consumer has come, and none after the last one has gone.

use super::{progress, Outlet, Sample, State};
use crate::endpoint::KEEP_ALL_DEPTH;
use crate::error::{Error, Result};
use crate::message::Outgoing;
use shoal_registry::{Durability, Interest};
use shoal_shm::credit;

/// What became of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It is on its way.
    Sent,
    /// There is no credit now.
    Full,
    /// Nothing is taken any more: the stream was finished, or all of its consumers have gone.
    Finished,
}

/// A stream at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamState {
    /// The most chunks in flight.
    pub window: u64,
    /// Chunks that can be sent now; 0 when the stream is over.
    pub available: u64,
    /// Chunks that were sent and that some consumer has not consumed. One that is just joining counts as having consumed
    /// none of the window.
    pub in_flight: u64,
    /// The most that ever were in flight.
    pub peak: u64,
    /// The stream was finished, or all of its consumers have gone.
    pub over: bool,
}

/// What an outlet knows of the stream that it carries.
pub(super) struct Flow {
    window: u32,
    peak: u64,
    /// The sequence that waiters for credit want consumed; 0: nobody waits.
    wish: u64,
    /// A consumer has come.
    joined: bool,
    /// The last consumer has gone.
    deserted: bool,
}

impl StreamState {
    fn comes_or_is_over(&self) -> bool {
        self.over || self.available > 0
    }
}

impl Flow {
    /// `read`: what was known to be consumed when there was room.
    pub(super) fn note_sent(&mut self, sequence: u64, read: u64) {
        self.peak = self.peak.max(sequence.saturating_sub(read));
    }
}

impl Outlet {
    /// Makes this outlet carry a stream.
    pub(crate) fn begin_stream(&self, window: usize) -> Result<()> {
        let most = KEEP_ALL_DEPTH;
        let fits = u32::try_from(window).ok().filter(|window| (1..=most).contains(window));
        let window = fits.ok_or_else(|| {
            Error::InvalidArgument(format!("a window of {window} chunks; a stream has 1 to {most} in flight"))
        })?;
        if !self.offer().is_lossless() || self.qos.durability != Durability::Volatile {
            return Err(Error::InvalidArgument(format!(
                "a stream needs a publisher that is reliable, KEEP_ALL and VOLATILE; this one is {:?}, {:?} and {:?}",
                self.qos.reliability, self.qos.history, self.qos.durability
            )));
        }
        let _using = self.context.using()?;
        {
            let state = &mut *self.state.lock();
            if state.flow.is_some() || state.queue.is_some() {
                return Err(Error::InvalidArgument("this publisher carries a stream already, or a queue".into()));
            }
            state.flow = Some(Flow { window, peak: 0, wish: 0, joined: false, deserted: false });
        }
        // Consumers that come and go ring whoever waits for credit.
        self.context.registry().want(self.slot, Interest::MATCHED);
        Ok(())
    }

    /// Ends what [`begin_stream`](Self::begin_stream) began; the publisher goes on as any other.
    pub(crate) fn end_stream(&self) {
        self.state.lock().flow = None;
        if let (Ok(_using), Ok(hot)) = (self.context.using(), self.hot()) {
            credit::stop_asking(hot.draining());
        }
    }

    /// Sends one chunk if there is credit for it.
    pub(crate) fn try_send(&self, message: &dyn Outgoing) -> Result<Offered> {
        let _using = self.context.using()?;
        let size = message.size()?;
        let state = &mut *self.state.lock();
        let mut now = self.look(state, 1)?;
        if !now.comes_or_is_over() {
            // Of who was killed nobody else tells.
            self.context.registry().sweep();
            now = self.look(state, 1)?;
        }
        match now {
            StreamState { over: true, .. } => Ok(Offered::Finished),
            StreamState { available: 0, .. } => Ok(Offered::Full),
            StreamState { .. } => {
                let sample = Sample { message, size, related: 0 };
                self.commit(state, size, |writer, scratch, _| sample.prepare(self.context.arena(), writer, scratch))?;
                Ok(Offered::Sent)
            }
        }
    }

    pub(crate) fn stream_state(&self) -> Result<StreamState> {
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        self.look(state, u64::MAX)
    }

    /// Whether there is credit, or will never be any. Where there is none, the caller, who is parked or looks again once
    /// it is, is rung when some comes back.
    pub(crate) fn has_credit(&self) -> bool {
        let Ok(_using) = self.context.using() else { return true };
        let state = &mut *self.state.lock();
        self.credit_or_wish(state).unwrap_or(true)
    }

    fn credit_or_wish(&self, state: &mut State) -> Result<bool> {
        let draining = self.hot()?.draining();
        let now = self.look(state, 1)?;
        let wish = match now.comes_or_is_over() {
            true => 0,
            false => (progress::head(state)? + 1).saturating_sub(now.window).max(1),
        };
        let before = state.flow.as_mut().map_or(wish, |flow| std::mem::replace(&mut flow.wish, wish));
        if wish == before {
            return Ok(wish == 0);
        }
        if wish == 0 {
            credit::stop_asking(draining);
            return Ok(true);
        }
        // The lowest wish of all: a flush that waits for more is rung more often for a moment.
        credit::ask_when_parked(draining, wish);
        Ok(self.look(state, 1)?.comes_or_is_over())
    }

    /// How the stream is, exactly where fewer than `want` chunks could be sent by what is known.
    fn look(&self, state: &mut State, want: u64) -> Result<StreamState> {
        let head = progress::head(state)?;
        let offer = self.offer();
        let State { readers, flow, finished, .. } = state;
        let Some(flow) = flow else { return Err(Error::Other("this publisher carries no stream".into())) };
        readers.refresh_if_moved(self.context.registry(), &offer);
        let window = u64::from(flow.window);
        let consumers = readers.lossless();
        flow.joined |= consumers > 0;
        flow.deserted |= flow.joined && consumers == 0;
        let enough = head.saturating_add(want).saturating_sub(window).min(head);
        let read = if consumers == 0 { head } else { readers.least_read(&self.context, &offer, enough).min(head) };
        let in_flight = (head - read).min(window);
        let over = *finished || flow.deserted;
        let available = if over || !flow.joined { 0 } else { window - in_flight };
        Ok(StreamState { window, available, in_flight, peak: flow.peak, over })
    }

    /// `most`, or the window of the stream where that is less.
    pub(super) fn limit(&self, state: &State, most: u32) -> u32 {
        state.flow.as_ref().map_or(most, |flow| flow.window.min(most))
    }

    /// What waiters for credit ask for; 0: nothing.
    pub(super) fn wish(&self, state: &State) -> u64 {
        state.flow.as_ref().map_or(0, |flow| flow.wish)
    }
}
