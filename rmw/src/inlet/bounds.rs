//! A reader that is too far behind, by bounds of its own: it skips samples, or is shed.
//!
//! A publisher keeps no more samples for a bounded reader than its bound on messages (`Registry::set_bound`) and waits for
//! none of them, so a reader that is stopped costs that much memory and nobody's time. It finds out itself, at its next
//! look, that it is too far behind: by the publisher's head, the sizes and times in the ring, or a sample that is gone. A
//! reader that is shed reads nothing of that publisher, which so need not keep anything for it, until it joins it again.

use shoal_registry::{gid, Kind};
use shoal_shm::ring;
use shoal_shm::wait::Outcome;

use super::read::views_of;
use super::sources::Source;
use super::streams::StreamEvent;
use super::{Inlet, State};
use crate::bounds::Limits;
use crate::clock::wall_ns;
use crate::error::Result;

/// How far a subscription is behind one of its publishers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLag {
    /// The publisher.
    pub publisher: [u8; 16],
    /// Samples that were sent since the last one that was taken.
    pub messages: u64,
    /// Bytes of those samples that are still kept.
    pub bytes: u64,
    /// The subscription was shed, and did not join again.
    pub shed: bool,
}

impl State {
    /// Nothing is given up in silence.
    pub(super) fn sheds(&self) -> bool {
        self.limits.is_some_and(|limits| limits.sheds)
    }
}

impl Inlet {
    /// Has the reader keep to these limits from now on.
    pub(crate) fn set_limits(&self, limits: Limits) -> Result<()> {
        if limits.sheds {
            // Else nobody would be told.
            self.watch_streams();
        }
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        state.limits = Some(limits);
        if limits.waits {
            // Before they are told to wait for it.
            state.acks.get_or_insert_default();
            self.tell_progress(state);
        }
        self.settle_reach(state);
        state.sources.iter_mut().for_each(|source| source.weighed = 0);
        Ok(())
    }

    /// Does what the limits say of a source that is too far behind.
    pub(super) fn enforce(&self, state: &mut State, index: usize) {
        // Of shared work nobody is behind: it waits for whoever comes.
        let Some(limits) = state.limits.filter(|_| state.work.is_none()) else { return };
        while let Some(floor) = self.floor(state, index, limits) {
            if limits.sheds {
                return self.shed(state, index);
            }
            state.sources[index].watermark = floor;
            self.acknowledge(state, index);
        }
    }

    /// The sequence that must have been read, where it was not; `None`: the source is within its limits.
    fn floor(&self, state: &mut State, index: usize, limits: Limits) -> Option<u64> {
        let source = state.sources[index];
        let head = self.head(&source).filter(|_| self.is_behind(&source) || source.waiting.is_some())?;
        let read = if limits.sheds { source.taken() } else { source.watermark };
        let by_count = head.saturating_sub(limits.messages);
        if by_count > read {
            return Some(by_count);
        }
        let by_weight = self.too_heavy(state, index, read, head, limits.bytes);
        if by_weight.is_some() {
            return by_weight;
        }
        if limits.age == i64::MAX || head == source.watermark {
            return None;
        }
        let time = self.next_time(state, index);
        // One that is gone already is for the reader to find out.
        let is_old = time != i64::MIN && time.saturating_add(limits.age) < wall_ns();
        is_old.then_some(source.watermark + 1)
    }

    /// The newest sample with which those after `read` are more than `most` bytes, unless it is the head.
    fn too_heavy(&self, state: &mut State, index: usize, read: u64, head: u64, most: u64) -> Option<u64> {
        // With nothing new it can only have become less.
        if most == u64::MAX || std::mem::replace(&mut state.sources[index].weighed, head) == head {
            return None;
        }
        let mut left = most;
        let source = state.sources[index];
        self.sizes(state, &source, read, head, &mut |sequence, size| {
            let fits = left.checked_sub(size).map(|rest| left = rest).is_some();
            (!fits && sequence != head).then_some(sequence)
        })
    }

    /// Asks `found` for each sample after `read`, the newest first, until one is gone or `found` has an answer.
    fn sizes(
        &self,
        state: &mut State,
        source: &Source,
        read: u64,
        head: u64,
        found: &mut dyn FnMut(u64, u64) -> Option<u64>,
    ) -> Option<u64> {
        let outlet = self.context.registry().hot(source.slot.index)?;
        let views = views_of(&mut state.views, source.context_id);
        let reach = state.views[views].reach(self.context.peers());
        for sequence in (read + 1..=head).rev() {
            let size = ring::read_size(&reach, outlet.ring(), sequence)?;
            if let Some(answer) = found(sequence, size.into()) {
                return Some(answer);
            }
        }
        None
    }

    /// Reads no more of this source, and says so.
    pub(super) fn shed(&self, state: &mut State, index: usize) {
        let source = &mut state.sources[index];
        if std::mem::replace(&mut source.shed, true) {
            return;
        }
        let last_sequence = source.taken();
        (source.watermark, source.waiting) = (last_sequence, None);
        let publisher = Some(gid(source.context_id, Kind::Publisher, source.endpoint));
        state.streams.record(StreamEvent { outcome: Outcome::Shed, publisher, last_sequence });
        self.acknowledge(state, index);
        // Another thread may wait for it.
        self.context.registry().doorbell().ring();
    }

    /// How far the reader is behind each publisher that it reads.
    pub(crate) fn lag(&self) -> Result<Vec<SourceLag>> {
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        self.scan_if_moved(state);
        let mut lags = Vec::new();
        for index in 0..state.sources.len() {
            let source = state.sources[index];
            let Some(head) = self.head(&source).filter(|_| !source.muted) else { continue };
            let (read, mut bytes) = (source.taken(), 0u64);
            self.sizes(state, &source, read, head, &mut |_, size| {
                bytes = bytes.saturating_add(size);
                None
            });
            let publisher = gid(source.context_id, Kind::Publisher, source.endpoint);
            lags.push(SourceLag { publisher, messages: head.saturating_sub(read), bytes, shed: source.shed });
        }
        Ok(lags)
    }
}
