//! What is refused, with the reason that the user is told: a test compares both tables with a list and makes each refusal.

use crate::boundary::Failure;

/// How the answer of the layer below begins, which also names the type.
const LOANS: &str = "a message can be loaned only if it lies in memory as it is sent";
const DYNAMIC: &str = "dynamic messages are not supported; use a generated type";
const FLOWS: &str = "shared memory has no network flows";
const STRICT_FLOWS: &str = "unique network flow endpoints cannot be strictly required: shared memory has none";
const PREALLOCATION: &str = "allocations for later calls are not supported; publish and take need none";

/// Entry points that return `RMW_RET_UNSUPPORTED` to a call whose arguments are right, and the reason they give.
pub const TABLE: &[(&str, &str)] = &[
    ("rmw_fini_publisher_allocation", PREALLOCATION),
    ("rmw_fini_subscription_allocation", PREALLOCATION),
    ("rmw_get_serialized_message_size", "sizes by bounds are not supported; serialize the message"),
    ("rmw_init_publisher_allocation", PREALLOCATION),
    ("rmw_init_subscription_allocation", PREALLOCATION),
    ("rmw_publisher_get_network_flow_endpoints", FLOWS),
    ("rmw_serialization_support_init", DYNAMIC),
    ("rmw_subscription_get_network_flow_endpoints", FLOWS),
    ("rmw_take_dynamic_message", DYNAMIC),
    ("rmw_take_dynamic_message_with_info", DYNAMIC),
];

/// Entry points that refuse some of what they may be asked for, and the reason they give.
pub const PARTLY: &[(&str, &str)] = &[
    ("rmw_borrow_loaned_message", LOANS),
    ("rmw_create_publisher", STRICT_FLOWS),
    ("rmw_create_subscription", STRICT_FLOWS),
    ("rmw_publish_loaned_message", LOANS),
    (
        "rmw_publisher_event_init",
        "event_type is no event of a publisher; use one that rmw/event.h lists for publishers",
    ),
    ("rmw_return_loaned_message_from_publisher", LOANS),
    ("rmw_return_loaned_message_from_subscription", LOANS),
    (
        "rmw_subscription_event_init",
        "event_type is no event of a subscription; use one that rmw/event.h lists for them",
    ),
    ("rmw_take_loaned_message", LOANS),
    ("rmw_take_loaned_message_with_info", LOANS),
];

/// The failure of an entry point of either table.
pub fn refuse(name: &str) -> Failure {
    match TABLE.iter().chain(PARTLY).find(|(entry, _)| *entry == name) {
        Some((_, reason)) => Failure::unsupported(*reason),
        None => Failure::error(format!("{name} refused, but does not stand in the table of what is refused")),
    }
}
