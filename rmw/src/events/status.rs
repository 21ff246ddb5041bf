//! What events say.

use shoal_registry::PolicyKind;

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
