//! What is refused for now: one list, in the code and beside this file, and true of every function in it.

mod common;

use std::ffi::c_void;
use std::ptr::null_mut;

use common::{set_bool_type, string_type, take_error, World};
use rmw_shoal::entry::refusals::{PARTLY, TABLE};
use rmw_shoal::sys;

#[test]
fn the_list_is_the_one_that_is_documented() {
    let printed: String = TABLE.iter().chain(PARTLY).map(|(name, reason)| format!("{name}: {reason}\n")).collect();
    print!("{printed}");
    assert_eq!(printed, include_str!("unsupported.txt"));
}

/// Handles of every kind.
struct Handles {
    world: World,
    publisher: *mut sys::rmw_publisher_t,
    subscription: *mut sys::rmw_subscription_t,
    service: *mut sys::rmw_service_t,
    client: *mut sys::rmw_client_t,
}

impl Handles {
    fn new() -> Handles {
        let world = World::new();
        let (publisher, subscription) = (world.publisher(c"/t"), world.subscription(c"/t"));
        let (types, profile) = (set_bool_type(), common::default_profile());
        // SAFETY: arguments that live across the calls.
        let (service, client) = unsafe {
            (
                sys::rmw_create_service(world.node, types, c"/s".as_ptr(), &profile),
                sys::rmw_create_client(world.node, types, c"/s".as_ptr(), &profile),
            )
        };
        assert!(!service.is_null() && !client.is_null(), "{}", take_error());
        Handles { world, publisher, subscription, service, client }
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        let node = self.world.node;
        // SAFETY: what `new` made.
        let codes = unsafe {
            [
                sys::rmw_destroy_client(node, self.client),
                sys::rmw_destroy_service(node, self.service),
                sys::rmw_destroy_subscription(node, self.subscription),
                sys::rmw_destroy_publisher(node, self.publisher),
            ]
        };
        assert_eq!(codes, [sys::RMW_RET_OK; 4], "{}", take_error());
    }
}

/// Calls a function of the list with arguments that are right.
fn call(name: &str, h: &Handles) -> sys::rmw_ret_t {
    let mut room = [0_u64; 64];
    let out: *mut c_void = room.as_mut_ptr().cast();
    let mut taken = false;
    let taken = &raw mut taken;
    let (p, s) = (h.publisher, h.subscription);
    // SAFETY: handles of ours; `room` is larger than any struct of the headers that a call might write to.
    unsafe {
        let mut allocator = sys::rcutils_get_default_allocator();
        let memory = &raw mut allocator;
        match name {
            "rmw_fini_publisher_allocation" => sys::rmw_fini_publisher_allocation(out.cast()),
            "rmw_fini_subscription_allocation" => sys::rmw_fini_subscription_allocation(out.cast()),
            "rmw_get_serialized_message_size" => {
                sys::rmw_get_serialized_message_size(string_type(), out.cast(), out.cast())
            }
            "rmw_init_publisher_allocation" => {
                sys::rmw_init_publisher_allocation(string_type(), out.cast(), out.cast())
            }
            "rmw_init_subscription_allocation" => {
                sys::rmw_init_subscription_allocation(string_type(), out.cast(), out.cast())
            }
            "rmw_publisher_get_network_flow_endpoints" => {
                sys::rmw_publisher_get_network_flow_endpoints(p, memory, out.cast())
            }
            "rmw_serialization_support_init" => sys::rmw_serialization_support_init(c"x".as_ptr(), memory, out.cast()),
            "rmw_subscription_get_network_flow_endpoints" => {
                sys::rmw_subscription_get_network_flow_endpoints(s, memory, out.cast())
            }
            "rmw_take_dynamic_message" => sys::rmw_take_dynamic_message(s, out.cast(), taken, null_mut()),
            "rmw_take_dynamic_message_with_info" => {
                sys::rmw_take_dynamic_message_with_info(s, out.cast(), taken, out.cast(), null_mut())
            }
            other => panic!("{other} stands in the list; say here how to call it"),
        }
    }
}

/// The error of an endpoint whose options strictly require what shared memory does not have.
fn endpoint_with_strict_flows(name: &str, world: &World) -> String {
    let (profile, types, topic) = (common::default_profile(), string_type(), c"/t".as_ptr());
    let strictly = sys::RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED;
    // SAFETY: arguments that live across the calls.
    let refused = unsafe {
        if name == "rmw_create_publisher" {
            let mut options = sys::rmw_get_default_publisher_options();
            options.require_unique_network_flow_endpoints = strictly;
            sys::rmw_create_publisher(world.node, types, topic, &profile, &options).is_null()
        } else {
            let mut options = sys::rmw_get_default_subscription_options();
            options.require_unique_network_flow_endpoints = strictly;
            sys::rmw_create_subscription(world.node, types, topic, &profile, &options).is_null()
        }
    };
    assert!(refused);
    take_error()
}

/// The error of asking one side for an event of the other.
fn event_of_the_other_side(name: &str, world: &World) -> String {
    let (publisher, subscription) = (world.publisher(c"/t"), world.subscription(c"/t"));
    // SAFETY: handles that outlive the calls, and an event by pointer.
    unsafe {
        let mut event = sys::rmw_get_zero_initialized_event();
        let code = match name {
            "rmw_publisher_event_init" => {
                sys::rmw_publisher_event_init(&mut event, publisher, sys::RMW_EVENT_SUBSCRIPTION_MATCHED)
            }
            _ => sys::rmw_subscription_event_init(&mut event, subscription, sys::RMW_EVENT_PUBLICATION_MATCHED),
        };
        assert_eq!(code, sys::RMW_RET_UNSUPPORTED);
        assert!(event.data.is_null(), "untouched");
        let error = take_error();
        assert_eq!(sys::rmw_destroy_subscription(world.node, subscription), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_destroy_publisher(world.node, publisher), sys::RMW_RET_OK);
        error
    }
}

/// The error of asking for loans of a type that has none.
fn loan_of_a_string(name: &str, world: &World) -> String {
    let (p, s) = (world.publisher(c"/t"), world.subscription(c"/t"));
    let mut room = [0_u64; 64];
    let out: *mut c_void = room.as_mut_ptr().cast();
    let (mut taken, mut loan) = (false, null_mut::<c_void>());
    // SAFETY: handles that outlive the calls; `room` is larger than what a call might write to.
    unsafe {
        let code = match name {
            "rmw_borrow_loaned_message" => sys::rmw_borrow_loaned_message(p, string_type(), &mut loan),
            "rmw_publish_loaned_message" => sys::rmw_publish_loaned_message(p, out, null_mut()),
            "rmw_return_loaned_message_from_publisher" => sys::rmw_return_loaned_message_from_publisher(p, out),
            "rmw_take_loaned_message" => sys::rmw_take_loaned_message(s, &mut loan, &mut taken, null_mut()),
            "rmw_take_loaned_message_with_info" => {
                sys::rmw_take_loaned_message_with_info(s, &mut loan, &mut taken, out.cast(), null_mut())
            }
            _ => sys::rmw_return_loaned_message_from_subscription(s, out),
        };
        assert_eq!(code, sys::RMW_RET_UNSUPPORTED);
        let error = take_error();
        assert_eq!(sys::rmw_destroy_subscription(world.node, s), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_destroy_publisher(world.node, p), sys::RMW_RET_OK);
        error
    }
}

#[test]
fn what_is_refused_in_part_is_refused_with_its_reason() {
    let world = World::new();
    for (name, reason) in PARTLY {
        let error = match *name {
            "rmw_create_publisher" | "rmw_create_subscription" => endpoint_with_strict_flows(name, &world),
            "rmw_publisher_event_init" | "rmw_subscription_event_init" => event_of_the_other_side(name, &world),
            loans if loans.contains("_loaned_message") => loan_of_a_string(loans, &world),
            other => panic!("{other} stands in the list; say here how to ask for what it refuses"),
        };
        assert!(error.starts_with(&format!("{name}: {reason}")), "{name}: {error}");
    }
}

#[test]
fn what_the_list_names_is_refused_with_its_reason() {
    let handles = Handles::new();
    for (name, reason) in TABLE {
        assert_eq!(call(name, &handles), sys::RMW_RET_UNSUPPORTED, "{name}: {}", take_error());
        let error = take_error();
        assert!(error.starts_with(&format!("{name}: {reason}")), "{name}: {error}");
    }
}
