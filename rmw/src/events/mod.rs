//! QoS events: what an endpoint is told about its peers, its deadline, its peers' liveliness and its losses.
//!
//! Nothing here has a thread. What depends on peers is computed from the registry when somebody looks and the topic's
//! generation has moved; what depends on time is computed when somebody looks, and a wait sleeps no longer than
//! until the next moment that could change it. An endpoint that is watched says so in its hot cell, and peers whose
//! coming or going concerns it ring.

mod count;
mod deadline;
mod liveliness;
mod lost;
mod peers;

use std::sync::Arc;

use shoal_registry::{Kind, PolicyKind, Qos, Registry, SlotId};

use crate::error::{Error, Result};
use crate::matching::Channel;
use crate::publisher::Publisher;
use crate::subscription::Subscription;

pub(crate) use deadline::{Offered, Requested};
pub(crate) use liveliness::Assertions;
pub(crate) use lost::Lost;
pub(crate) use peers::PeerEvents;

/// What can happen to a publisher or subscription (`rmw_event_type_t`, for both sides).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Peers that match came or went.
    Matched,
    /// A peer came whose profile does not fit.
    IncompatibleQos,
    /// A peer came that has another type.
    IncompatibleType,
    /// A deadline period passed without a sample: offered by a publisher, requested by a subscription.
    DeadlineMissed,
    /// A publisher did not say in time that it is alive; to a subscription, publishers began or ceased to be alive.
    Liveliness,
    /// A subscription missed samples for another reason than its own KEEP_LAST; never happens to a publisher.
    MessageLost,
}

/// How often something happened, and how often of these since the status was last taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Since the endpoint was created.
    pub total: u64,
    /// Since the last take.
    pub change: u64,
}

/// `rmw_matched_status_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchedStatus {
    /// Matches ever made.
    pub ever: Totals,
    /// Peers matched now.
    pub current: u64,
    /// By how much that differs from the last take.
    pub current_change: i64,
}

/// `rmw_liveliness_changed_status_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LivelinessStatus {
    /// Matched publishers that are alive.
    pub alive: u64,
    /// Publishers that did not say so in time, and those whose process died.
    pub not_alive: u64,
    /// By how much that differs from the last take.
    pub alive_change: i64,
    /// By how much that differs from the last take.
    pub not_alive_change: i64,
}

/// What a take of an event gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Of [`EventKind::Matched`].
    Matched(MatchedStatus),
    /// Of [`EventKind::IncompatibleQos`]: how often, and a policy that did not fit the last time.
    IncompatibleQos(Totals, Option<PolicyKind>),
    /// Of [`EventKind::Liveliness`] of a subscription.
    Liveliness(LivelinessStatus),
    /// Of events that are only counted.
    Counted(Totals),
}

/// One kind of event of one endpoint. Several of the same kind share what was taken.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    of: Of<'a>,
    kind: EventKind,
}

#[derive(Clone, Copy)]
enum Of<'a> {
    Publisher(&'a Publisher),
    Subscription(&'a Subscription),
}

/// An endpoint as its events see it.
pub(crate) struct Endpoint<'a> {
    pub(crate) registry: &'a Arc<Registry>,
    pub(crate) slot: SlotId,
    pub(crate) channel: Channel,
    pub(crate) qos: &'a Qos,
    pub(crate) kind: Kind,
}

impl Publisher {
    /// An event of this publisher. The first call for a kind makes peers ring for it.
    pub fn event(&self, kind: EventKind) -> Event<'_> {
        Event { of: Of::Publisher(self), kind }.watched()
    }
}

impl Subscription {
    /// An event of this subscription. The first call for a kind makes peers ring for it.
    pub fn event(&self, kind: EventKind) -> Event<'_> {
        Event { of: Of::Subscription(self), kind }.watched()
    }
}

impl Event<'_> {
    fn watched(self) -> Self {
        self.peers().watch(&self.endpoint(), self.kind);
        self
    }

    fn endpoint(&self) -> Endpoint<'_> {
        match self.of {
            Of::Publisher(publisher) => publisher.endpoint(),
            Of::Subscription(subscription) => subscription.endpoint(),
        }
    }

    fn peers(&self) -> &PeerEvents {
        match self.of {
            Of::Publisher(publisher) => publisher.peers(),
            Of::Subscription(subscription) => subscription.peers(),
        }
    }

    /// How often it happened since the endpoint was created: a number that only grows.
    pub fn happened(&self) -> u64 {
        self.counts().0
    }

    /// How often it happened since the last take.
    pub fn pending_count(&self) -> u64 {
        let (happened, taken) = self.counts();
        happened - taken
    }

    fn counts(&self) -> (u64, u64) {
        match (self.kind, self.of) {
            (EventKind::DeadlineMissed, Of::Publisher(publisher)) => publisher.offered().counts(),
            (EventKind::DeadlineMissed, Of::Subscription(reader)) => reader.requested().counts(reader.inlet()),
            (EventKind::Liveliness, Of::Publisher(publisher)) => publisher.assertions().counts(),
            (EventKind::MessageLost, Of::Publisher(_)) => (0, 0),
            (EventKind::MessageLost, Of::Subscription(reader)) => reader.lost().counts(reader.inlet()),
            _ => self.peers().counts(&self.endpoint(), self.kind),
        }
    }

    /// Whether something happened since the last take.
    pub fn is_ready(&self) -> bool {
        let (happened, taken) = self.counts();
        happened != taken
    }

    /// What happened; the changes count from here on anew. Also when nothing happened.
    ///
    /// # Errors
    /// The context belongs to the parent of this forked process.
    pub fn take(&self) -> Result<Status> {
        if self.registry().is_forked() {
            return Err(Error::Forked);
        }
        let counted = match (self.kind, self.of) {
            (EventKind::DeadlineMissed, Of::Publisher(publisher)) => publisher.offered().take(),
            (EventKind::DeadlineMissed, Of::Subscription(reader)) => reader.requested().take(reader.inlet()),
            (EventKind::Liveliness, Of::Publisher(publisher)) => publisher.assertions().take(),
            (EventKind::MessageLost, Of::Publisher(_)) => Totals::default(),
            (EventKind::MessageLost, Of::Subscription(reader)) => reader.lost().take(reader.inlet()),
            _ => return Ok(self.peers().take(&self.endpoint(), self.kind)),
        };
        Ok(Status::Counted(counted))
    }

    /// When it may happen next without anybody ringing, in ns of CLOCK_MONOTONIC.
    pub fn next_moment(&self) -> Option<u64> {
        match (self.kind, self.of) {
            (EventKind::DeadlineMissed, Of::Publisher(publisher)) => publisher.offered().next_moment(),
            (EventKind::DeadlineMissed, Of::Subscription(reader)) => reader.requested().next_moment(),
            (EventKind::Liveliness, Of::Publisher(publisher)) => publisher.assertions().next_moment(),
            (EventKind::Liveliness, Of::Subscription(reader)) => reader.peers().next_moment(),
            _ => None,
        }
    }

    /// Whether it depends on peers that may be killed, which cannot ring.
    pub fn depends_on_the_living(&self) -> bool {
        match self.of {
            Of::Publisher(_) => self.kind == EventKind::Matched,
            Of::Subscription(_) => matches!(self.kind, EventKind::Matched | EventKind::Liveliness),
        }
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        match self.of {
            Of::Publisher(publisher) => publisher.registry(),
            Of::Subscription(subscription) => subscription.registry(),
        }
    }
}
