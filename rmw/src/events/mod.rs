//! QoS events: what an endpoint is told about its peers, its deadline, its peers' liveliness and its losses.
//!
//! Nothing here has a thread. What depends on peers is computed from the registry when somebody looks and the topic's
//! generation has moved; what depends on time is computed when somebody looks, and a wait sleeps no longer than
//! until the next moment that could change it. An endpoint that is watched says so in its hot cell, and peers whose
//! coming or going concerns it ring.

mod callbacks;
mod count;
mod deadline;
mod liveliness;
mod lost;
mod peers;
mod status;
mod unread;

use std::sync::Arc;

use shoal_registry::{Kind, Qos, Registry, SlotId};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::inlet::Inlet;
use crate::matching::Channel;
use crate::notify::Callback;
use crate::outlet::Outlet;

pub(crate) use callbacks::EventCallbacks;
use deadline::{Offered, Requested};
use liveliness::Assertions;
use lost::Lost;
use peers::PeerEvents;
pub use status::{EventKind, LivelinessStatus, MatchedStatus, Status, Totals};

/// One kind of event of one endpoint. Several of the same kind share what was taken.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    context: &'a Arc<Context>,
    events: &'a Arc<Events>,
    callbacks: &'a EventCallbacks,
    kind: EventKind,
}

/// The events of one endpoint.
pub(crate) struct Events {
    endpoint: Endpoint,
    peers: PeerEvents,
    own: Own,
}

/// An endpoint as its events see it.
pub(crate) struct Endpoint {
    pub(crate) registry: Arc<Registry>,
    pub(crate) slot: SlotId,
    pub(crate) channel: Channel,
    pub(crate) qos: Qos,
    pub(crate) kind: Kind,
}

/// What only one of the two sides has.
enum Own {
    Publisher { offered: Offered, assertions: Assertions },
    Subscription { inlet: Arc<Inlet>, requested: Requested, lost: Lost },
}

impl Events {
    pub(crate) fn of_publisher(topic: &str, outlet: &Outlet) -> Arc<Self> {
        let endpoint = Endpoint {
            registry: outlet.context().registry().clone(),
            slot: outlet.slot(),
            channel: outlet.channel(),
            qos: *outlet.qos(),
            kind: Kind::Publisher,
        };
        let own = Own::Publisher { offered: Offered::new(outlet.qos()), assertions: Assertions::new(outlet.qos()) };
        Arc::new(Self { endpoint, peers: PeerEvents::new(topic), own })
    }

    pub(crate) fn of_subscription(topic: &str, inlet: &Arc<Inlet>) -> Arc<Self> {
        let endpoint = Endpoint {
            registry: inlet.context().registry().clone(),
            slot: inlet.slot(),
            channel: inlet.channel(),
            qos: *inlet.qos(),
            kind: Kind::Subscription,
        };
        let requested = Requested::new(inlet.qos());
        let own = Own::Subscription { inlet: inlet.clone(), requested, lost: Lost::default() };
        Arc::new(Self { endpoint, peers: PeerEvents::new(topic), own })
    }

    /// The event of a kind. The first call for a kind makes peers ring for it.
    pub(crate) fn event<'a>(
        self: &'a Arc<Self>,
        kind: EventKind,
        context: &'a Arc<Context>,
        callbacks: &'a EventCallbacks,
    ) -> Event<'a> {
        self.peers.watch(&self.endpoint, kind);
        Event { context, events: self, callbacks, kind }
    }

    /// The publisher says that it is alive. True when it was not until now: then watchers have to be told.
    pub(crate) fn assert_liveliness(&self) -> bool {
        let Own::Publisher { assertions, .. } = &self.own else { return false };
        assertions.are_needed()
            && self.endpoint.registry.hot(self.endpoint.slot.index).is_some_and(|hot| assertions.assert(hot.asserted()))
    }

    /// The publisher sent a sample; `revived` is what [`assert_liveliness`](Self::assert_liveliness) said before it.
    pub(crate) fn published(&self, revived: bool) {
        let Own::Publisher { offered, .. } = &self.own else { return };
        if offered.published() || revived {
            // Whoever waits for this publisher's deadline or lease sleeps without an alarm until now.
            self.endpoint.registry.doorbell().ring();
        }
    }

    fn counts(&self, kind: EventKind) -> (u64, u64) {
        let Events { endpoint, peers, own } = self;
        match (kind, own) {
            (EventKind::DeadlineMissed, Own::Publisher { offered, .. }) => offered.counts(),
            (EventKind::DeadlineMissed, Own::Subscription { inlet, requested, .. }) => requested.counts(inlet),
            (EventKind::Liveliness, Own::Publisher { assertions, .. }) => assertions.counts(),
            (EventKind::MessageLost, Own::Publisher { .. }) => (0, 0),
            (EventKind::MessageLost, Own::Subscription { inlet, lost, .. }) => lost.counts(inlet),
            _ => peers.counts(endpoint, kind),
        }
    }

    fn next_moment(&self, kind: EventKind) -> Option<u64> {
        match (kind, &self.own) {
            (EventKind::DeadlineMissed, Own::Publisher { offered, .. }) => offered.next_moment(),
            (EventKind::DeadlineMissed, Own::Subscription { requested, .. }) => requested.next_moment(),
            (EventKind::Liveliness, Own::Publisher { assertions, .. }) => assertions.next_moment(),
            (EventKind::Liveliness, Own::Subscription { .. }) => self.peers.next_moment(),
            _ => None,
        }
    }

    fn depends_on_the_living(&self, kind: EventKind) -> bool {
        match self.own {
            Own::Publisher { .. } => kind == EventKind::Matched,
            Own::Subscription { .. } => matches!(kind, EventKind::Matched | EventKind::Liveliness),
        }
    }
}

impl Event<'_> {
    /// How often it happened since the endpoint was created: a number that only grows.
    pub fn happened(&self) -> u64 {
        self.events.counts(self.kind).0
    }

    /// How often it happened since the last take.
    pub fn pending_count(&self) -> u64 {
        let (happened, taken) = self.events.counts(self.kind);
        happened - taken
    }

    /// Whether something happened since the last take.
    pub fn is_ready(&self) -> bool {
        match self.kind {
            EventKind::DeadlineMissed | EventKind::MessageLost => self.pending_count() > 0,
            EventKind::Liveliness if self.events.endpoint.kind == Kind::Publisher => self.pending_count() > 0,
            _ => self.events.peers.is_ready(&self.events.endpoint, self.kind),
        }
    }

    /// What happened; the changes count from here on anew. Also when nothing happened.
    ///
    /// # Errors
    /// The context belongs to the parent of this forked process.
    pub fn take(&self) -> Result<Status> {
        let Events { endpoint, peers, own } = &**self.events;
        if endpoint.registry.is_forked() {
            return Err(Error::Forked);
        }
        let counted = match (self.kind, own) {
            (EventKind::DeadlineMissed, Own::Publisher { offered, .. }) => offered.take(),
            (EventKind::DeadlineMissed, Own::Subscription { inlet, requested, .. }) => requested.take(inlet),
            (EventKind::Liveliness, Own::Publisher { assertions, .. }) => assertions.take(),
            (EventKind::MessageLost, Own::Publisher { .. }) => Totals::default(),
            (EventKind::MessageLost, Own::Subscription { inlet, lost, .. }) => lost.take(inlet),
            _ => return Ok(peers.take(endpoint, self.kind)),
        };
        Ok(Status::Counted(counted))
    }

    /// When it may happen next without anybody ringing, in ns of CLOCK_MONOTONIC.
    pub fn next_moment(&self) -> Option<u64> {
        self.events.next_moment(self.kind)
    }

    /// Whether it depends on peers that may be killed, which cannot ring.
    pub fn depends_on_the_living(&self) -> bool {
        self.events.depends_on_the_living(self.kind)
    }

    /// Sets what is called when it happens, or clears it (`None`). What happened before, was not taken and nobody was told
    /// of is the first call's. Answers when no call of the callback before runs, except within that call.
    ///
    /// # Errors
    /// The context was shut down (clearing still works) or belongs to a parent process; no thread can be started.
    pub fn on_new(&self, callback: Option<Callback>) -> Result<()> {
        self.callbacks.set(self.context, self.events, self.kind, callback)
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.events.endpoint.registry
    }
}
