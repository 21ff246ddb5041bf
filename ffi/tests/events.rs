//! Events through the C API: which there are, what a take writes, and that a wait reports them.

mod common;

use std::ffi::c_void;
use std::ptr::{null_mut, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::{default_profile, string_type, take_error, Text, World};
use rmw_shoal::sys;

const SOON: sys::rmw_time_t = sys::rmw_time_t { sec: 20, nsec: 0 };
const NOW: sys::rmw_time_t = sys::rmw_time_t { sec: 0, nsec: 0 };

const OF_PUBLISHERS: [sys::rmw_event_type_t; 5] = [
    sys::RMW_EVENT_LIVELINESS_LOST,
    sys::RMW_EVENT_OFFERED_DEADLINE_MISSED,
    sys::RMW_EVENT_OFFERED_QOS_INCOMPATIBLE,
    sys::RMW_EVENT_PUBLISHER_INCOMPATIBLE_TYPE,
    sys::RMW_EVENT_PUBLICATION_MATCHED,
];

const OF_SUBSCRIPTIONS: [sys::rmw_event_type_t; 6] = [
    sys::RMW_EVENT_LIVELINESS_CHANGED,
    sys::RMW_EVENT_REQUESTED_DEADLINE_MISSED,
    sys::RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE,
    sys::RMW_EVENT_MESSAGE_LOST,
    sys::RMW_EVENT_SUBSCRIPTION_INCOMPATIBLE_TYPE,
    sys::RMW_EVENT_SUBSCRIPTION_MATCHED,
];

fn zero_event() -> sys::rmw_event_t {
    // SAFETY: returns a struct by value.
    unsafe { sys::rmw_get_zero_initialized_event() }
}

/// Endpoints of one topic with a profile each.
struct Pair {
    world: World,
    publisher: *mut sys::rmw_publisher_t,
    subscription: *mut sys::rmw_subscription_t,
}

impl Pair {
    fn new(offered: &sys::rmw_qos_profile_t, requested: &sys::rmw_qos_profile_t) -> Pair {
        let world = World::new();
        // SAFETY: handles and arguments that live across the calls.
        let (publisher, subscription) = unsafe {
            let (p, s) = (sys::rmw_get_default_publisher_options(), sys::rmw_get_default_subscription_options());
            (
                sys::rmw_create_publisher(world.node, string_type(), c"/t".as_ptr(), offered, &p),
                sys::rmw_create_subscription(world.node, string_type(), c"/t".as_ptr(), requested, &s),
            )
        };
        assert!(!publisher.is_null() && !subscription.is_null(), "{}", take_error());
        Pair { world, publisher, subscription }
    }

    fn publisher_event(&self, event_type: sys::rmw_event_type_t) -> sys::rmw_event_t {
        let mut event = zero_event();
        // SAFETY: a publisher that outlives the event.
        let code = unsafe { sys::rmw_publisher_event_init(&mut event, self.publisher, event_type) };
        assert_eq!(code, sys::RMW_RET_OK, "{event_type}: {}", take_error());
        event
    }

    fn subscription_event(&self, event_type: sys::rmw_event_type_t) -> sys::rmw_event_t {
        let mut event = zero_event();
        // SAFETY: as above.
        let code = unsafe { sys::rmw_subscription_event_init(&mut event, self.subscription, event_type) };
        assert_eq!(code, sys::RMW_RET_OK, "{event_type}: {}", take_error());
        event
    }

    /// Which of the events a wait reports.
    fn wait(&self, events: &mut [sys::rmw_event_t], timeout: sys::rmw_time_t) -> Vec<bool> {
        let mut entries: Vec<*mut c_void> = events.iter_mut().map(|event| (&raw mut *event).cast()).collect();
        let mut array = sys::rmw_events_t { event_count: entries.len(), events: entries.as_mut_ptr() };
        // SAFETY: handles and an array that live across the calls; absent arrays are NULL.
        let code = unsafe {
            let set = sys::rmw_create_wait_set(self.world.node.read().context, entries.len());
            let none = (null_mut(), null_mut(), null_mut(), null_mut());
            let code = sys::rmw_wait(none.0, none.1, none.2, none.3, &mut array, set, &timeout);
            assert_eq!(sys::rmw_destroy_wait_set(set), sys::RMW_RET_OK);
            code
        };
        let ready: Vec<bool> = entries.iter().map(|entry| !entry.is_null()).collect();
        let expected = if ready.contains(&true) { sys::RMW_RET_OK } else { sys::RMW_RET_TIMEOUT };
        assert_eq!(code, expected, "{}", take_error());
        ready
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // SAFETY: what `new` made.
        unsafe {
            assert_eq!(sys::rmw_destroy_subscription(self.world.node, self.subscription), sys::RMW_RET_OK);
            assert_eq!(sys::rmw_destroy_publisher(self.world.node, self.publisher), sys::RMW_RET_OK);
        }
    }
}

/// A take into memory that is full of ones, so that every field must have been written.
fn take<T: Copy>(event: &sys::rmw_event_t) -> T {
    let mut status = std::mem::MaybeUninit::<T>::uninit();
    let mut taken = false;
    // SAFETY: the status is plain integers of the event's type and wholly initialized before the call.
    unsafe {
        status.as_mut_ptr().cast::<u8>().write_bytes(0xff, size_of::<T>());
        let code = sys::rmw_take_event(event, status.as_mut_ptr().cast(), &mut taken);
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        assert!(taken);
        status.assume_init()
    }
}

/// Total and change, as every counted status with 32-bit counts begins.
fn counts(event: &sys::rmw_event_t) -> (i32, i32) {
    let status: sys::rmw_liveliness_lost_status_t = take(event);
    (status.total_count, status.total_count_change)
}

#[test]
fn every_event_of_the_header_is_there_for_its_side() {
    let pair = Pair::new(&default_profile(), &default_profile());
    for event_type in OF_PUBLISHERS {
        let event = pair.publisher_event(event_type);
        assert_eq!(event.event_type, event_type);
        // SAFETY: no pointers.
        assert!(unsafe { sys::rmw_event_type_is_supported(event_type) }, "{event_type}");
    }
    for event_type in OF_SUBSCRIPTIONS {
        pair.subscription_event(event_type);
        // SAFETY: as above.
        assert!(unsafe { sys::rmw_event_type_is_supported(event_type) }, "{event_type}");
    }
    for event_type in [sys::RMW_EVENT_INVALID, 12, 99, u32::MAX] {
        let mut event = zero_event();
        // SAFETY: as above.
        unsafe {
            assert!(!sys::rmw_event_type_is_supported(event_type), "{event_type}");
            let codes = [
                sys::rmw_publisher_event_init(&mut event, pair.publisher, event_type),
                sys::rmw_subscription_event_init(&mut event, pair.subscription, event_type),
            ];
            assert_eq!(codes, [sys::RMW_RET_UNSUPPORTED; 2], "{event_type}");
        }
        assert!(take_error().contains("event_type"), "{event_type}");
        assert!(NonNull::new(event.data).is_none(), "untouched");
    }
}

#[test]
fn a_match_is_reported_by_a_wait_until_it_is_taken() {
    let pair = Pair::new(&default_profile(), &default_profile());
    let mut events = [
        pair.publisher_event(sys::RMW_EVENT_PUBLICATION_MATCHED),
        pair.subscription_event(sys::RMW_EVENT_SUBSCRIPTION_MATCHED),
        pair.subscription_event(sys::RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE),
        pair.subscription_event(sys::RMW_EVENT_LIVELINESS_CHANGED),
        pair.publisher_event(sys::RMW_EVENT_LIVELINESS_LOST),
    ];
    assert_eq!(pair.wait(&mut events, SOON), [true, true, false, true, false]);
    assert_eq!(pair.wait(&mut events, NOW), [true, true, false, true, false], "reporting takes nothing");
    for (event, change) in [(&events[0], 1), (&events[1], 1), (&events[0], 0)] {
        let matched: sys::rmw_matched_status_t = take(event);
        assert_eq!((matched.total_count, matched.total_count_change), (1, change as usize));
        assert_eq!((matched.current_count, matched.current_count_change), (1, change));
    }
    let alive: sys::rmw_liveliness_changed_status_t = take(&events[3]);
    assert_eq!((alive.alive_count, alive.alive_count_change), (1, 1));
    assert_eq!((alive.not_alive_count, alive.not_alive_count_change), (0, 0));
    assert_eq!(pair.wait(&mut events, NOW), [false; 5]);
    let lost: sys::rmw_message_lost_status_t = take(&pair.subscription_event(sys::RMW_EVENT_MESSAGE_LOST));
    assert_eq!((lost.total_count, lost.total_count_change), (0, 0), "a take without an event gives zeros");
}

#[test]
fn a_mismatch_names_its_policy_on_both_sides() {
    let offered = sys::rmw_qos_profile_t { durability: sys::RMW_QOS_POLICY_DURABILITY_VOLATILE, ..default_profile() };
    let requested =
        sys::rmw_qos_profile_t { durability: sys::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL, ..default_profile() };
    let pair = Pair::new(&offered, &requested);
    let mut events = [
        pair.publisher_event(sys::RMW_EVENT_OFFERED_QOS_INCOMPATIBLE),
        pair.subscription_event(sys::RMW_EVENT_REQUESTED_QOS_INCOMPATIBLE),
    ];
    assert_eq!(pair.wait(&mut events, SOON), [true, true]);
    for event in &events {
        let status: sys::rmw_qos_incompatible_event_status_t = take(event);
        assert_eq!((status.total_count, status.total_count_change), (1, 1));
        assert_eq!(status.last_policy_kind, sys::RMW_QOS_POLICY_DURABILITY);
    }
    let fitting = Pair::new(&default_profile(), &default_profile());
    let event = fitting.publisher_event(sys::RMW_EVENT_OFFERED_QOS_INCOMPATIBLE);
    let status: sys::rmw_qos_incompatible_event_status_t = take(&event);
    assert_eq!((status.total_count, status.last_policy_kind), (0, sys::RMW_QOS_POLICY_INVALID));
}

#[test]
fn silence_of_a_manual_publisher_is_told_to_both_sides() {
    let time = |ms: u64| sys::rmw_time_t { sec: 0, nsec: ms * 1_000_000 };
    let profile = sys::rmw_qos_profile_t {
        deadline: time(50),
        liveliness: sys::RMW_QOS_POLICY_LIVELINESS_MANUAL_BY_TOPIC,
        // Two deadlines and a half, so that it does not matter which clock was read first.
        liveliness_lease_duration: time(125),
        ..default_profile()
    };
    let pair = Pair::new(&profile, &profile);
    let mut events = [
        pair.publisher_event(sys::RMW_EVENT_LIVELINESS_LOST),
        pair.publisher_event(sys::RMW_EVENT_OFFERED_DEADLINE_MISSED),
        pair.subscription_event(sys::RMW_EVENT_REQUESTED_DEADLINE_MISSED),
    ];
    let changed = pair.subscription_event(sys::RMW_EVENT_LIVELINESS_CHANGED);
    let before: sys::rmw_liveliness_changed_status_t = take(&changed);
    assert_eq!((before.alive_count, before.not_alive_count), (0, 0), "it has not said anything");
    assert_eq!(pair.wait(&mut events, time(200)), [false; 3]);
    let message = Text::new("x");
    // SAFETY: a handle and a message that live across the call.
    let code = unsafe { sys::rmw_publish(pair.publisher, message.as_ptr(), null_mut()) };
    assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
    while pair.wait(&mut events, SOON) != [true; 3] {}
    assert_eq!(counts(&events[0]), (1, 1));
    for event in &events[1..] {
        let (total, change) = counts(event);
        assert!(total >= 2 && change == total, "{change} of {total}: two deadlines fit into one lease");
    }
    let after: sys::rmw_liveliness_changed_status_t = take(&changed);
    assert_eq!((after.not_alive_count, after.not_alive_count_change), (1, 1));
    assert_eq!((after.alive_count, after.alive_count_change), (0, 0));
    // SAFETY: as above.
    assert_eq!(unsafe { sys::rmw_publisher_assert_liveliness(pair.publisher) }, sys::RMW_RET_OK, "{}", take_error());
    let again: sys::rmw_liveliness_changed_status_t = take(&changed);
    assert_eq!(again.alive_count + again.not_alive_count, 1);
}

/// Adds up the counts of its calls in the `AtomicUsize` that is its user data.
unsafe extern "C" fn add(user_data: *const c_void, number_of_events: usize) {
    // SAFETY: given below, for as long as the callback is set.
    unsafe { &*user_data.cast::<AtomicUsize>() }.fetch_add(number_of_events, Ordering::Release);
}

#[test]
fn callbacks_count_events_though_nobody_waits() {
    let pair = Pair::new(&default_profile(), &default_profile());
    let mut event = pair.publisher_event(sys::RMW_EVENT_PUBLICATION_MATCHED);
    let sum = AtomicUsize::new(0);
    let reaches = |wanted| {
        let end = Instant::now() + Duration::from_secs(20);
        while sum.load(Ordering::Acquire) < wanted {
            assert!(Instant::now() < end, "{} of {wanted} events", sum.load(Ordering::Acquire));
            std::thread::yield_now();
        }
        assert_eq!(sum.load(Ordering::Acquire), wanted);
    };
    let data: *const c_void = (&raw const sum).cast();
    // SAFETY: handles of ours; the user data lives until the callback is cleared.
    unsafe {
        assert_eq!(sys::rmw_event_set_callback(&mut event, Some(add), data), sys::RMW_RET_OK, "{}", take_error());
        reaches(1);
        let more = pair.world.subscription(c"/t");
        reaches(2);
        assert_eq!(sys::rmw_destroy_subscription(pair.world.node, more), sys::RMW_RET_OK);
        reaches(3);
        let matched: sys::rmw_matched_status_t = take(&event);
        assert_eq!((matched.total_count, matched.current_count), (2, 1), "a call takes nothing");
        assert_eq!(sys::rmw_event_set_callback(&mut event, None, null_mut()), sys::RMW_RET_OK, "{}", take_error());
        let late = pair.world.subscription(c"/t");
        assert_eq!(sys::rmw_destroy_subscription(pair.world.node, late), sys::RMW_RET_OK);
    }
    assert_eq!(sum.load(Ordering::Acquire), 3, "called after it was cleared");
}

#[test]
fn what_is_no_event_of_ours_is_refused() {
    let pair = Pair::new(&default_profile(), &default_profile());
    let good = pair.publisher_event(sys::RMW_EVENT_PUBLICATION_MATCHED);
    let finalized = sys::rmw_event_t { data: null_mut(), ..good };
    let odd = sys::rmw_event_t { event_type: 99, ..good };
    let foreign = sys::rmw_event_t { implementation_identifier: c"rmw_other".as_ptr(), ..good };
    let cases = [
        (finalized, sys::RMW_RET_INVALID_ARGUMENT),
        (odd, sys::RMW_RET_INVALID_ARGUMENT),
        (foreign, sys::RMW_RET_INCORRECT_RMW_IMPLEMENTATION),
    ];
    let mut room = [0_u64; 8];
    let room: *mut c_void = room.as_mut_ptr().cast();
    for (mut event, code) in cases {
        let mut taken = false;
        let mut entry: *mut c_void = (&raw mut event).cast();
        let mut array = sys::rmw_events_t { event_count: 1, events: &mut entry };
        // SAFETY: structs that live across the calls.
        unsafe {
            assert_eq!(sys::rmw_take_event(&event, room, &mut taken), code, "{}", take_error());
            assert_eq!(sys::rmw_event_set_callback(&mut event, None, null_mut()), code, "{}", take_error());
            let set = sys::rmw_create_wait_set(pair.world.node.read().context, 1);
            let waited = sys::rmw_wait(null_mut(), null_mut(), null_mut(), null_mut(), &mut array, set, &NOW);
            assert_eq!(waited, code, "{}", take_error());
            assert_eq!(sys::rmw_destroy_wait_set(set), sys::RMW_RET_OK);
        }
        assert!(!taken);
    }
    let (mut good, mut taken) = (good, false);
    // SAFETY: as above; NULL where the header allows none.
    unsafe {
        assert_eq!(sys::rmw_take_event(&good, null_mut(), &mut taken), sys::RMW_RET_INVALID_ARGUMENT);
        assert_eq!(sys::rmw_take_event(&good, room, null_mut()), sys::RMW_RET_INVALID_ARGUMENT);
        take_error();
        assert_eq!(sys::rmw_event_set_callback(&mut good, None, null_mut()), sys::RMW_RET_OK, "{}", take_error());
        assert_eq!(sys::rmw_event_fini(&mut good), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_take_event(&good, room, &mut taken), sys::RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
        take_error();
    }
}
