//! What became of the streams that a reader reads: ends, breaks and ends of days, each behind the last sample before it.
//!
//! Nothing is recorded until somebody asks; from then on the registry keeps an ended outlet until this reader has looked
//! at it, as it does for samples. An ending is recorded by whoever finds that the stream is read to its end.

use std::collections::VecDeque;
use std::sync::Arc;

use shoal_registry::{gid, Ending, Interest, Kind, SlotState};
use shoal_shm::sync::Ordering;
use shoal_shm::wait::Outcome;

use super::sources::Source;
use super::{Inlet, State};
use crate::error::Result;
use crate::notify::{Countable, Tally};
use crate::outlet::hot_cell;

/// What became of a stream. It is given out behind the stream's last sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamEvent {
    /// [`Outcome::EndOfStream`], [`Outcome::Broken`], [`Outcome::EndOfDay`] or [`Outcome::Shed`].
    pub outcome: Outcome,
    /// The publisher; `None` for the topic, all of whose publishers have ended.
    pub publisher: Option<[u8; 16]>,
    /// Sequence number of the publisher's last sample, of the day where that is what ended, or the last one that
    /// was taken by a subscription that was shed; 0 for the topic, and for a
    /// publisher that sent none.
    pub last_sequence: u64,
}

/// Events beyond which ends of days stay with their publishers until some are taken.
const EVENTS_KEPT: usize = 1024;

#[derive(Default)]
pub(super) struct Streams {
    /// Not taken yet, oldest first.
    events: VecDeque<StreamEvent>,
    recorded: u64,
    /// How many of them ended a wait that reports each once.
    told: u64,
    /// How the worst stream ended since the topic's last event.
    worst: Option<Outcome>,
}

impl Streams {
    pub(super) fn record(&mut self, event: StreamEvent) {
        self.events.push_back(event);
        self.recorded += 1;
    }
}

impl Inlet {
    /// From now on endings are recorded, and wake who waits.
    pub(crate) fn watch_streams(&self) {
        if self.watching.swap(true, Ordering::Relaxed) {
            return;
        }
        // ORDERING(registry.interest): the wish, then the look at each outlet; meets `mark_for`.
        self.context.registry().want(self.slot, Interest::ENDINGS);
        let state = &mut *self.state.lock();
        self.look_at_streams(state);
    }

    pub(crate) fn watches_streams(&self) -> bool {
        self.watching.load(Ordering::Relaxed)
    }

    /// What the oldest event that was not taken says.
    pub(crate) fn stream_outcome(&self) -> Option<Outcome> {
        let state = &mut *self.state.lock();
        self.look_at_streams(state);
        state.streams.events.front().map(|event| event.outcome)
    }

    /// As [`stream_outcome`](Self::stream_outcome), where there is one behind which its stream goes on: that is told before
    /// the samples that follow.
    pub(crate) fn outcome_before_samples(&self) -> Option<Outcome> {
        let state = &mut *self.state.lock();
        self.look_at_streams(state);
        let events = &state.streams.events;
        events.front().filter(|_| events.iter().any(|event| event.outcome.goes_on())).map(|event| event.outcome)
    }

    /// Whether something was recorded since the last call with `tell`.
    pub(crate) fn has_stream_news(&self, tell: bool) -> bool {
        let state = &mut *self.state.lock();
        self.look_at_streams(state);
        let streams = &mut state.streams;
        let news = streams.recorded > streams.told && !streams.events.is_empty();
        if tell {
            streams.told = streams.recorded;
        }
        news
    }

    /// Takes the oldest event.
    pub(crate) fn take_stream_event(&self) -> Result<Option<StreamEvent>> {
        self.watch_streams();
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        self.look_at_streams(state);
        Ok(state.streams.events.pop_front())
    }

    fn look_at_streams(&self, state: &mut State) {
        let Ok(_using) = self.context.using() else { return };
        let Ok(hot) = hot_cell(self.context.registry(), self.slot) else { return };
        if !self.watches_streams() {
            return;
        }
        self.poll(state, hot);
        self.scan_if_moved(state);
        // Whoever claims is told of an error.
        let _ = self.look_at_work(state, hot);
        self.prune(state, hot);
        (0..state.sources.len()).for_each(|index| self.note_end(state, index));
        self.note_topic(state);
    }

    /// Records the ending of a source that is read to its end, where it has one.
    pub(super) fn note_end(&self, state: &mut State, index: usize) {
        if !self.watches_streams() || state.sources[index].ended {
            return;
        }
        let read = state.sources[index].taken();
        self.note_days(&mut state.streams, &mut state.sources[index], read);
        let source = state.sources[index];
        let ending = self.context.registry().ending(source.slot, source.context_id);
        // The last sample may have come since the caller looked for it.
        if ending.is_some() && !self.unread(&source) {
            state.sources[index].ended = true;
            record(&mut state.streams, &source, ending);
        }
    }

    /// Records the endings of sources that the registry does not show any more.
    pub(super) fn note_gone(&self, streams: &mut Streams, gone: &mut [Source]) {
        if self.watches_streams() {
            for source in gone.iter_mut().filter(|source| !source.ended) {
                self.note_days(streams, source, u64::MAX);
                record(streams, source, self.context.registry().ending(source.slot, source.context_id));
            }
        }
    }

    /// Records the ends of days of a source that has been read up to `read`.
    fn note_days(&self, streams: &mut Streams, source: &mut Source, read: u64) {
        let days = self.context.registry().days_after(source.slot, source.context_id, source.days);
        let Some(days) = days.filter(|_| !source.muted) else { return };
        let publisher = Some(gid(source.context_id, Kind::Publisher, source.endpoint));
        while source.days < days.count && streams.events.len() < EVENTS_KEPT {
            let last_sequence = days.end_of(source.days + 1);
            if last_sequence > read {
                return;
            }
            source.days += 1;
            streams.record(StreamEvent { outcome: Outcome::EndOfDay, publisher, last_sequence });
        }
    }

    /// Records the topic's ending when its last publisher has ended, and at least one did so by an ending of its own.
    fn note_topic(&self, state: &mut State) {
        let Some(outcome) = state.streams.worst else { return };
        let goes_on = |source: &Source| {
            let in_graph =
                matches!(self.context.registry().slot_state(source.slot), Some(SlotState::Joining | SlotState::Live));
            !source.muted && !source.ended && (in_graph || self.unread(source))
        };
        if !state.sources.iter().any(goes_on) {
            state.streams.worst = None;
            state.streams.record(StreamEvent { outcome, publisher: None, last_sequence: 0 });
        }
    }
}

fn record(streams: &mut Streams, source: &Source, ending: Option<Ending>) {
    let (outcome, last_sequence) = match ending {
        Some(Ending::Finished(last)) => (Outcome::EndOfStream, last),
        Some(Ending::Broken(last)) => (Outcome::Broken, last),
        None => return,
    };
    if source.muted {
        return;
    }
    let publisher = Some(gid(source.context_id, Kind::Publisher, source.endpoint));
    streams.record(StreamEvent { outcome, publisher, last_sequence });
    if streams.worst != Some(Outcome::Broken) {
        streams.worst = Some(outcome);
    }
}

/// What became of a reader's streams, for callbacks.
pub(crate) struct StreamNews(pub(crate) Arc<Inlet>);

impl Countable for StreamNews {
    fn tally(&self) -> Tally {
        let state = &mut *self.0.state.lock();
        self.0.look_at_streams(state);
        let streams = &state.streams;
        Tally { arrived: streams.recorded, available: streams.events.len() as u64 }
    }

    fn depends_on_the_living(&self) -> bool {
        true
    }
}
