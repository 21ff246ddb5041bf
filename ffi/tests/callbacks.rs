//! Callbacks through the C API: nobody waits, and everything is counted.

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{default_profile, set_bool_type, take_error, Text, World};
use rmw_shoal::sys;

/// Adds up the counts of its calls in the `AtomicUsize` that is its user data.
unsafe extern "C" fn add(user_data: *const c_void, number_of_events: usize) {
    // SAFETY: given with each registration below, for as long as the test lasts.
    unsafe { &*user_data.cast::<AtomicUsize>() }.fetch_add(number_of_events, Ordering::Release);
}

fn reaches(sum: &AtomicUsize, wanted: usize) {
    let end = Instant::now() + Duration::from_secs(20);
    while sum.load(Ordering::Acquire) < wanted {
        assert!(Instant::now() < end, "only {} of {wanted} were counted", sum.load(Ordering::Acquire));
        std::thread::yield_now();
    }
    assert_eq!(sum.load(Ordering::Acquire), wanted);
}

fn data(sum: &AtomicUsize) -> *const c_void {
    std::ptr::from_ref(sum).cast()
}

fn publish(publisher: *const sys::rmw_publisher_t, count: usize) {
    let text = Text::new("x");
    for _ in 0..count {
        // SAFETY: handles of ours and a message of their type.
        let code = unsafe { sys::rmw_publish(publisher, text.as_ptr(), null_mut()) };
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
    }
}

fn on_new_message(
    subscription: *mut sys::rmw_subscription_t,
    callback: sys::rmw_event_callback_t,
    data: *const c_void,
) {
    // SAFETY: a handle of ours; the user data lives until the callback is cleared.
    let code = unsafe { sys::rmw_subscription_set_on_new_message_callback(subscription, callback, data) };
    assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
}

#[test]
fn messages_are_counted_though_nobody_waits() {
    let world = World::new();
    let (publisher, subscription) = (world.publisher(c"/t"), world.subscription(c"/t"));
    let (first, second) = (AtomicUsize::new(0), AtomicUsize::new(0));
    publish(publisher, 4);
    on_new_message(subscription, Some(add), data(&first));
    reaches(&first, 4);
    publish(publisher, 3);
    reaches(&first, 7);
    on_new_message(subscription, None, null());
    publish(publisher, 2);
    on_new_message(subscription, Some(add), data(&second));
    reaches(&second, 2);
    assert_eq!(first.load(Ordering::Acquire), 7, "called after it was cleared");
    // SAFETY: handles of ours, used for the last time; destroying clears the callback.
    unsafe {
        assert_eq!(sys::rmw_destroy_subscription(world.node, subscription), sys::RMW_RET_OK, "{}", take_error());
        publish(publisher, 1);
        assert_eq!(sys::rmw_destroy_publisher(world.node, publisher), sys::RMW_RET_OK, "{}", take_error());
    }
    assert_eq!(second.load(Ordering::Acquire), 2, "called after the end of the subscription");
}

#[test]
fn requests_and_responses_are_counted_though_nobody_waits() {
    let world = World::new();
    let (types, profile) = (set_bool_type(), default_profile());
    let (asked, answered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // SAFETY: handles of ours; the messages have the layout that rosidl generates for SetBool.
    unsafe {
        let client = sys::rmw_create_client(world.node, types, c"/s".as_ptr(), &profile);
        let service = sys::rmw_create_service(world.node, types, c"/s".as_ptr(), &profile);
        let codes = [
            sys::rmw_service_set_on_new_request_callback(service, Some(add), data(&asked)),
            sys::rmw_client_set_on_new_response_callback(client, Some(add), data(&answered)),
        ];
        assert_eq!(codes, [sys::RMW_RET_OK; 2], "{}", take_error());
        for round in 1..=20 {
            let (request, mut sequence) = (true, 0);
            let code = sys::rmw_send_request(client, (&raw const request).cast(), &mut sequence);
            assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
            reaches(&asked, round);
            let mut info: sys::rmw_service_info_t = std::mem::zeroed();
            let (mut got, mut taken) = (false, false);
            let code = sys::rmw_take_request(service, &mut info, (&raw mut got).cast(), &mut taken);
            assert_eq!((code, taken), (sys::RMW_RET_OK, true), "{}", take_error());
            let mut answer = (true, Text::new("done"));
            let code = sys::rmw_send_response(service, &mut info.request_id, (&raw mut answer).cast());
            assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
            reaches(&answered, round);
        }
        let codes = [
            sys::rmw_service_set_on_new_request_callback(service, None, null()),
            sys::rmw_client_set_on_new_response_callback(client, None, null()),
            sys::rmw_destroy_client(world.node, client),
            sys::rmw_destroy_service(world.node, service),
        ];
        assert_eq!(codes, [sys::RMW_RET_OK; 4], "{}", take_error());
    }
}

/// The subscription and node that [`destroy`] is to destroy, and how often it was called.
struct Own {
    node: *mut sys::rmw_node_t,
    subscription: AtomicPtr<sys::rmw_subscription_t>,
    calls: AtomicUsize,
}

unsafe extern "C" fn destroy(user_data: *const c_void, _number_of_events: usize) {
    // SAFETY: given with the registration below, for as long as the test lasts.
    let own = unsafe { &*user_data.cast::<Own>() };
    let subscription = own.subscription.swap(null_mut(), Ordering::AcqRel);
    // SAFETY: handles of ours, used for the last time.
    let code = unsafe { sys::rmw_destroy_subscription(own.node, subscription) };
    assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
    own.calls.fetch_add(1, Ordering::Release);
}

#[test]
fn a_callback_may_destroy_its_subscription() {
    let world = World::new();
    let (publisher, subscription) = (world.publisher(c"/t"), world.subscription(c"/t"));
    let own = Own { node: world.node, subscription: AtomicPtr::new(subscription), calls: AtomicUsize::new(0) };
    on_new_message(subscription, Some(destroy), (&raw const own).cast());
    publish(publisher, 1);
    reaches(&own.calls, 1);
    publish(publisher, 1);
    // SAFETY: a handle of ours, used for the last time.
    let code = unsafe { sys::rmw_destroy_publisher(world.node, publisher) };
    assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
    reaches(&own.calls, 1);
}

#[test]
fn a_callback_is_refused_after_shutdown_and_clearing_is_not() {
    let mut world = World::new();
    let subscription = world.subscription(c"/t");
    let sum = AtomicUsize::new(0);
    on_new_message(subscription, Some(add), data(&sum));
    // SAFETY: handles of ours; the world shuts down once more at its end, which is allowed.
    unsafe {
        assert_eq!(sys::rmw_shutdown(&mut *world.context), sys::RMW_RET_OK, "{}", take_error());
        let code = sys::rmw_subscription_set_on_new_message_callback(subscription, Some(add), data(&sum));
        assert_eq!(code, sys::RMW_RET_ERROR);
        assert!(take_error().contains("shut down"));
        on_new_message(subscription, None, null());
        assert_eq!(sys::rmw_destroy_subscription(world.node, subscription), sys::RMW_RET_OK, "{}", take_error());
    }
}
