//! rmw/event.h and rmw/events_statuses: events of publishers and subscriptions.
//!
//! An event is a view of its publisher or subscription, which rcl keeps for as long as the event: `data` leads to that
//! private part, and the event type says to which of the two. Nothing is to be freed at its end.

use std::ffi::c_void;

use shoal_rmw::{Event, EventKind, PolicyKind, Status, Totals};

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::callbacks::callback_of;
use crate::entry::refusals::refuse;
use crate::handle::{check_ours, PublisherData, SubscriptionData, IDENTIFIER};
use crate::sys;

exports! {
    /// Whether events of a type can be made.
    fn rmw_event_type_is_supported(rmw_event_type: sys::rmw_event_type_t) -> bool
        = |event_type| Ok(of_publisher(event_type).or(of_subscription(event_type)).is_some());
    /// Makes an event of a publisher.
    fn rmw_publisher_event_init(
        rmw_event: *mut sys::rmw_event_t,
        publisher: *const sys::rmw_publisher_t,
        event_type: sys::rmw_event_type_t,
    ) -> sys::rmw_ret_t = init_publisher_event;
    /// Makes an event of a subscription.
    fn rmw_subscription_event_init(
        rmw_event: *mut sys::rmw_event_t,
        subscription: *const sys::rmw_subscription_t,
        event_type: sys::rmw_event_type_t,
    ) -> sys::rmw_ret_t = init_subscription_event;
    /// Takes what happened: the status as it is, with what changed since the last take, which may be nothing.
    fn rmw_take_event(event_handle: *const sys::rmw_event_t, event_info: *mut c_void, taken: *mut bool)
        -> sys::rmw_ret_t = take;
    /// Calls back for each event.
    fn rmw_event_set_callback(
        event: *mut sys::rmw_event_t,
        callback: sys::rmw_event_callback_t,
        user_data: *const c_void,
    ) -> sys::rmw_ret_t = set_callback;
}

fn of_publisher(event_type: sys::rmw_event_type_t) -> Option<EventKind> {
    match event_type {
        sys::RMW_EVENT_OFFERED_DEADLINE_MISSED => Some(EventKind::DeadlineMissed),
        sys::RMW_EVENT_OFFERED_QOS_INCOMPATIBLE => Some(EventKind::IncompatibleQos),
        sys::RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE => Some(EventKind::IncompatibleType),
        sys::RMW_EVENT_PUBLICATION_MATCHED => Some(EventKind::Matched),
        sys::RMW_EVENT_LIVELINESS_LOST => Some(EventKind::Liveliness),
        _ => None,
    }
}

fn of_subscription(event_type: sys::rmw_event_type_t) -> Option<EventKind> {
    match event_type {
        sys::RMW_EVENT_REQUESTED_DEADLINE_MISSED => Some(EventKind::DeadlineMissed),
        sys::RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE => Some(EventKind::IncompatibleQos),
        sys::RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE => Some(EventKind::IncompatibleType),
        sys::RMW_EVENT_SUBSCRIPTION_MATCHED => Some(EventKind::Matched),
        sys::RMW_EVENT_LIVELINESS_CHANGED => Some(EventKind::Liveliness),
        sys::RMW_EVENT_MESSAGE_LOST => Some(EventKind::MessageLost),
        _ => None,
    }
}

fn init_publisher_event(
    event: InOut<sys::rmw_event_t>,
    publisher: In<sys::rmw_publisher_t>,
    event_type: sys::rmw_event_type_t,
) -> Result<(), Failure> {
    event.pointer()?;
    let data: &PublisherData = publisher.handle()?;
    let kind = of_publisher(event_type).ok_or_else(|| refuse("rmw_publisher_event_init"))?;
    // From now on peers ring for it.
    data.publisher.event(kind);
    expose(event, std::ptr::from_ref(data).cast(), event_type)
}

fn init_subscription_event(
    event: InOut<sys::rmw_event_t>,
    subscription: In<sys::rmw_subscription_t>,
    event_type: sys::rmw_event_type_t,
) -> Result<(), Failure> {
    event.pointer()?;
    let data: &SubscriptionData = subscription.handle()?;
    let kind = of_subscription(event_type).ok_or_else(|| refuse("rmw_subscription_event_init"))?;
    data.subscription.event(kind);
    expose(event, std::ptr::from_ref(data).cast(), event_type)
}

fn expose(event: InOut<sys::rmw_event_t>, of: *const c_void, event_type: sys::rmw_event_type_t) -> Result<(), Failure> {
    event.write(sys::rmw_event_t { implementation_identifier: IDENTIFIER.as_ptr(), data: of.cast_mut(), event_type })
}

/// The event behind a C struct, after the checks of every call.
pub(super) fn event_of<'call>(event: &'call sys::rmw_event_t, name: &str) -> Result<Event<'call>, Failure> {
    check_ours(event.implementation_identifier, name)?;
    if event.data.is_null() {
        return Err(Failure::invalid(format!("{name} is an event that was finalized")));
    }
    if let Some(kind) = of_publisher(event.event_type) {
        // SAFETY: ours, so `init_publisher_event` wrote both fields; rcl finalizes events before their publisher.
        return Ok(unsafe { &*event.data.cast_const().cast::<PublisherData>() }.publisher.event(kind));
    }
    match of_subscription(event.event_type) {
        // SAFETY: as above, by `init_subscription_event`.
        Some(kind) => Ok(unsafe { &*event.data.cast_const().cast::<SubscriptionData>() }.subscription.event(kind)),
        None => Err(Failure::invalid(format!("{name} has event type {}, which no event has", event.event_type))),
    }
}

fn take(event: In<sys::rmw_event_t>, info: InOut<c_void>, taken: InOut<bool>) -> Result<(), Failure> {
    let held = event_of(event.get()?, event.name())?;
    info.pointer()?;
    taken.pointer()?;
    write_status(held.take()?, event.get()?.event_type, info)?;
    taken.write(true)
}

/// Writes the struct that rmw/events_statuses has for this type.
fn write_status(status: Status, event_type: sys::rmw_event_type_t, info: InOut<c_void>) -> Result<(), Failure> {
    match status {
        Status::Matched(matched) => info.cast().write(sys::rmw_matched_status_t {
            total_count: matched.ever.total as usize,
            total_count_change: matched.ever.change as usize,
            current_count: matched.current as usize,
            current_count_change: matched.current_change as i32,
        }),
        Status::IncompatibleQos(Totals { total, change }, policy) => {
            info.cast().write(sys::rmw_qos_incompatible_event_status_t {
                total_count: int(total),
                total_count_change: int(change),
                last_policy_kind: policy.map_or(sys::RMW_QOS_POLICY_INVALID, policy_kind),
            })
        }
        Status::Liveliness(now) => info.cast().write(sys::rmw_liveliness_changed_status_t {
            alive_count: int(now.alive),
            not_alive_count: int(now.not_alive),
            alive_count_change: now.alive_change as i32,
            not_alive_count_change: now.not_alive_change as i32,
        }),
        Status::Counted(Totals { total, change }) => match event_type {
            sys::RMW_EVENT_MESSAGE_LOST => info.cast().write(sys::rmw_message_lost_status_t {
                total_count: total as usize,
                total_count_change: change as usize,
            }),
            // All others that only count have this form.
            _ => info.cast().write(sys::rmw_requested_deadline_missed_status_t {
                total_count: int(total),
                total_count_change: int(change),
            }),
        },
    }
}

fn int(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn policy_kind(policy: PolicyKind) -> sys::rmw_qos_policy_kind_t {
    match policy {
        PolicyKind::Reliability => sys::RMW_QOS_POLICY_RELIABILITY,
        PolicyKind::Durability => sys::RMW_QOS_POLICY_DURABILITY,
        PolicyKind::Deadline => sys::RMW_QOS_POLICY_DEADLINE,
        PolicyKind::Liveliness => sys::RMW_QOS_POLICY_LIVELINESS,
        PolicyKind::LivelinessLeaseDuration => sys::RMW_QOS_POLICY_LIVELINESS_LEASE_DURATION,
    }
}

fn set_callback(
    event: InOut<sys::rmw_event_t>,
    callback: sys::rmw_event_callback_t,
    user_data: In<c_void>,
) -> Result<(), Failure> {
    let held = event_of(event.shared().get()?, event.shared().name())?;
    Ok(held.on_new(callback_of(callback, user_data))?)
}

/// The counted statuses that differ in name only.
const _: () = {
    const SIZE: usize = size_of::<sys::rmw_requested_deadline_missed_status_t>();
    assert!(SIZE == size_of::<sys::rmw_offered_deadline_missed_status_t>());
    assert!(SIZE == size_of::<sys::rmw_liveliness_lost_status_t>());
    assert!(SIZE == size_of::<sys::rmw_incompatible_type_status_t>());
};
