//! Guard conditions: flags of this process that end a wait.

use std::sync::Arc;

use shoal_registry::Registry;
use shoal_shm::sync::{fence, AtomicBool, AtomicU64, Ordering};

use crate::context::Context;
use crate::publisher::Publisher;

/// A flag that ends a wait: set by the user, or by the graph.
pub struct GuardCondition {
    registry: Arc<Registry>,
    kind: Kind,
}

enum Kind {
    User {
        triggered: AtomicBool,
    },
    /// Ready while the graph's generation differs from the one last reported.
    Graph {
        seen: AtomicU64,
    },
    /// Ready while the publisher's stream has credit or is over, and once for each time it is triggered.
    Credit {
        triggered: AtomicBool,
        publisher: Arc<Publisher>,
    },
}

impl GuardCondition {
    /// A condition that [`trigger`](Self::trigger) sets.
    pub fn new(context: &Arc<Context>) -> Arc<Self> {
        let kind = Kind::User { triggered: AtomicBool::new(false) };
        Arc::new(Self { registry: context.registry().clone(), kind })
    }

    /// A condition that every change of the graph sets, from this call on.
    pub(crate) fn graph(context: &Arc<Context>) -> Arc<Self> {
        let seen = AtomicU64::new(context.registry().graph_generation());
        Arc::new(Self { registry: context.registry().clone(), kind: Kind::Graph { seen } })
    }

    /// A condition that the credit of a publisher's stream sets.
    pub(crate) fn credit(context: &Arc<Context>, publisher: &Arc<Publisher>) -> Arc<Self> {
        let kind = Kind::Credit { triggered: AtomicBool::new(false), publisher: publisher.clone() };
        Arc::new(Self { registry: context.registry().clone(), kind })
    }

    /// Sets the condition and wakes who waits. Async-signal-safe: two atomics and at most one futex call.
    pub fn trigger(&self) {
        match &self.kind {
            // ORDERING(park.ring): the mark; the waiter looks at it after its own fence (wait::look).
            Kind::User { triggered } | Kind::Credit { triggered, .. } => triggered.store(true, Ordering::Release),
            Kind::Graph { seen } => seen.store(u64::MAX, Ordering::Release),
        }
        if self.registry.is_forked() {
            return;
        }
        // ORDERING(park.ring): between the mark and the look at the parked bit.
        fence(Ordering::SeqCst);
        self.registry.doorbell().ring();
    }

    /// Whether it depends on processes that may be killed: those cannot ring.
    pub(crate) fn needs_the_living(&self) -> bool {
        matches!(self.kind, Kind::Graph { .. } | Kind::Credit { .. })
    }

    pub(crate) fn is_graph(&self) -> bool {
        matches!(self.kind, Kind::Graph { .. })
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    pub(crate) fn is_set(&self) -> bool {
        match &self.kind {
            Kind::User { triggered } => triggered.load(Ordering::Acquire),
            Kind::Graph { seen } => seen.load(Ordering::Acquire) != self.registry.graph_generation(),
            Kind::Credit { triggered, publisher } => triggered.load(Ordering::Acquire) || publisher.has_credit(),
        }
    }

    /// Reports and clears the condition: true for exactly one of several waits that race for it. Credit stays.
    pub(crate) fn consume(&self) -> bool {
        match &self.kind {
            Kind::User { triggered } => triggered.swap(false, Ordering::AcqRel),
            Kind::Graph { seen } => {
                let now = self.registry.graph_generation();
                seen.swap(now, Ordering::AcqRel) != now
            }
            Kind::Credit { triggered, publisher } => triggered.swap(false, Ordering::AcqRel) || publisher.has_credit(),
        }
    }
}
