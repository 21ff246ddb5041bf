//! Loaned messages through the C API: types of both languages, and types made by hand for their size.

mod common;

use std::ffi::{c_char, c_void, CStr, CString};
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::{default_profile, string_type, symbol, take_error, World};
use rmw_shoal::sys::{self, rosidl_message_type_support_t as Support};

type Member = sys::rosidl_typesupport_introspection_c__MessageMember;
type Members = sys::rosidl_typesupport_introspection_c__MessageMembers;

/// A generated type of the ROS prefix, by language (`c` or `cpp`).
fn generated(language: &str, package: &str, message: &str) -> *const Support {
    let get = symbol(
        &format!("lib{package}__rosidl_typesupport_introspection_{language}.so"),
        &format!(
            "rosidl_typesupport_introspection_{language}__get_message_type_support_handle__{package}__msg__{message}"
        ),
    );
    // SAFETY: the signature that rosidl gives this symbol.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> *const Support>(get)() }
}

/// Finds itself when asked for its own identifier, as generated type supports do.
unsafe extern "C" fn find(support: *const Support, identifier: *const c_char) -> *const Support {
    // SAFETY: both are what the library under test was given here.
    let same = unsafe { CStr::from_ptr((*support).typesupport_identifier) == CStr::from_ptr(identifier) };
    if same {
        support
    } else {
        null()
    }
}

static HOW: AtomicU32 = AtomicU32::new(99);

/// Gives the first byte its default, and notes what was asked for.
unsafe extern "C" fn init(message: *mut c_void, how: sys::rosidl_runtime_c__message_initialization) {
    HOW.store(how, Ordering::Relaxed);
    // SAFETY: a message of at least one byte.
    unsafe { message.cast::<u8>().write(7) };
}

/// A type of `size` bytes that lives as long as the process.
fn made(size: usize) -> *const Support {
    // SAFETY: NULL, zero, false and no function are values of every field.
    let (mut member, mut members, mut support) =
        unsafe { (zeroed::<Member>(), zeroed::<Members>(), zeroed::<Support>()) };
    member.name_ = c"x".as_ptr();
    member.type_id_ = sys::rosidl_typesupport_introspection_c__ROS_TYPE_UINT8 as u8;
    (member.is_array_, member.array_size_) = (true, size);
    members.message_namespace_ = c"made_msgs__msg".as_ptr();
    members.message_name_ = CString::new(format!("Bytes{size}")).unwrap().into_raw();
    (members.member_count_, members.size_of_) = (1, size);
    members.init_function = Some(init);
    members.members_ = Box::leak(Box::new(member));
    support.typesupport_identifier = c"rosidl_typesupport_introspection_c".as_ptr();
    support.func = Some(find);
    support.data = std::ptr::from_mut(Box::leak(Box::new(members))).cast();
    Box::leak(Box::new(support))
}

/// A publisher and a subscription of one type.
struct Pair<'w> {
    world: &'w World,
    types: *const Support,
    publisher: *mut sys::rmw_publisher_t,
    subscription: *mut sys::rmw_subscription_t,
}

impl<'w> Pair<'w> {
    fn new(world: &'w World, types: *const Support, topic: &CStr) -> Pair<'w> {
        let profile = default_profile();
        // SAFETY: handles and arguments that live across the calls.
        let (publisher, subscription) = unsafe {
            let options = sys::rmw_get_default_publisher_options();
            let publisher = sys::rmw_create_publisher(world.node, types, topic.as_ptr(), &profile, &options);
            let options = sys::rmw_get_default_subscription_options();
            (publisher, sys::rmw_create_subscription(world.node, types, topic.as_ptr(), &profile, &options))
        };
        assert!(!publisher.is_null() && !subscription.is_null(), "{}", take_error());
        Pair { world, types, publisher, subscription }
    }

    fn can_loan(&self) -> (bool, bool) {
        // SAFETY: handles of ours.
        unsafe { ((*self.publisher).can_loan_messages, (*self.subscription).can_loan_messages) }
    }

    fn borrow(&self) -> *mut u8 {
        let mut at = null_mut();
        // SAFETY: a handle, a type and a place that live across the call.
        let code = unsafe { sys::rmw_borrow_loaned_message(self.publisher, self.types, &mut at) };
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        at.cast()
    }

    fn publish(&self, at: *mut u8) -> sys::rmw_ret_t {
        // SAFETY: a handle; whatever `at` is, it is only compared.
        unsafe { sys::rmw_publish_loaned_message(self.publisher, at.cast(), null_mut()) }
    }

    fn give_back(&self, at: *mut u8) -> sys::rmw_ret_t {
        // SAFETY: as above.
        unsafe { sys::rmw_return_loaned_message_from_publisher(self.publisher, at.cast()) }
    }

    fn take(&self) -> Option<*mut u8> {
        let (mut at, mut taken) = (null_mut(), false);
        // SAFETY: a handle and places that live across the call.
        let code = unsafe { sys::rmw_take_loaned_message(self.subscription, &mut at, &mut taken, null_mut()) };
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        assert_eq!(taken, !at.is_null());
        taken.then_some(at.cast())
    }

    fn done(&self, at: *mut u8) -> sys::rmw_ret_t {
        // SAFETY: as for `publish`.
        unsafe { sys::rmw_return_loaned_message_from_subscription(self.subscription, at.cast()) }
    }
}

impl Drop for Pair<'_> {
    fn drop(&mut self) {
        // SAFETY: what `new` made.
        unsafe {
            assert_eq!(sys::rmw_destroy_subscription(self.world.node, self.subscription), sys::RMW_RET_OK);
            assert_eq!(sys::rmw_destroy_publisher(self.world.node, self.publisher), sys::RMW_RET_OK);
        }
    }
}

/// # Safety
/// `at` leads to `N` bytes.
unsafe fn bytes<const N: usize>(at: *const u8) -> [u8; N] {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<[u8; N]>().read_unaligned() }
}

#[test]
fn a_message_of_either_language_is_lent_sent_and_read() {
    let world = World::new();
    for language in ["c", "cpp"] {
        let pair = Pair::new(&world, generated(language, "geometry_msgs", "Point"), c"/t");
        assert_eq!(pair.can_loan(), (true, true));
        assert_eq!(pair.take(), None);
        let lent = pair.borrow();
        // SAFETY: a Point is three doubles.
        unsafe {
            assert_eq!(bytes::<24>(lent), [0; 24], "initialised");
            lent.cast::<[f64; 3]>().write([1.0, 2.0, 3.0]);
        }
        assert_eq!(pair.publish(lent), sys::RMW_RET_OK, "{}", take_error());
        // SAFETY: integers, an array and a bool.
        let mut info: sys::rmw_message_info_t = unsafe { zeroed() };
        let (mut at, mut taken) = (null_mut(), false);
        // SAFETY: a handle and places that live across the call; a Point as above.
        unsafe {
            let code =
                sys::rmw_take_loaned_message_with_info(pair.subscription, &mut at, &mut taken, &mut info, null_mut());
            assert_eq!((code, taken), (sys::RMW_RET_OK, true), "{}", take_error());
            assert_eq!(at.cast::<[f64; 3]>().read(), [1.0, 2.0, 3.0]);
        }
        assert_eq!((info.publication_sequence_number, info.reception_sequence_number), (1, 1));
        assert!(info.source_timestamp > 0 && info.received_timestamp >= info.source_timestamp);
        assert_eq!(pair.done(at.cast()), sys::RMW_RET_OK, "{}", take_error());
    }
}

#[test]
fn a_lent_message_has_its_defaults() {
    let world = World::new();
    for language in ["c", "cpp"] {
        let pair = Pair::new(&world, generated(language, "test_msgs", "Defaults"), c"/t");
        assert_eq!(pair.can_loan(), (true, true), "booleans and padding inside do not matter to a publisher");
        for _ in 0..3 {
            let lent = pair.borrow();
            // SAFETY: bool, byte, char, float32, float64, then integers.
            unsafe {
                assert_eq!(bytes::<3>(lent), [1, 50, 100]);
                assert_eq!(f32::from_ne_bytes(bytes(lent.add(4))), 1.125);
                assert_eq!(u64::from_ne_bytes(bytes(lent.add(40))), 50_000_000);
                lent.write_bytes(0x01, 48);
            }
            assert_eq!(pair.publish(lent), sys::RMW_RET_OK, "{}", take_error());
            let read = pair.take().expect("the message");
            // SAFETY: a message of 48 bytes.
            unsafe { assert_eq!(bytes::<3>(read), [1, 1, 1]) };
            assert_eq!(pair.done(read), sys::RMW_RET_OK);
        }
    }
}

#[test]
fn a_boolean_that_is_none_is_no_message() {
    let world = World::new();
    let pair = Pair::new(&world, generated("c", "test_msgs", "Defaults"), c"/t");
    let lent = pair.borrow();
    // SAFETY: the boolean is the first byte.
    unsafe { lent.write(2) };
    assert_eq!(pair.publish(lent), sys::RMW_RET_OK);
    let (mut at, mut taken) = (null_mut(), true);
    // SAFETY: a handle and places that live across the call.
    let code = unsafe { sys::rmw_take_loaned_message(pair.subscription, &mut at, &mut taken, null_mut()) };
    assert_eq!((code, taken, at.is_null()), (sys::RMW_RET_ERROR, false, true));
    assert!(take_error().contains("bool_value"));
    assert_eq!(pair.take(), None, "it is used up");
}

#[test]
fn small_messages_are_initialised_whole_and_large_ones_in_their_defaults() {
    let world = World::new();
    let whole = sys::ROSIDL_RUNTIME_C_MSG_INIT_ALL;
    for (size, how) in [(64, whole), (16 << 10, whole), (1 << 20, sys::ROSIDL_RUNTIME_C_MSG_INIT_DEFAULTS_ONLY)] {
        let pair = Pair::new(&world, made(size), c"/t");
        let lent = pair.borrow();
        assert_eq!(HOW.load(Ordering::Relaxed), how, "{size}");
        // SAFETY: a message of `size` bytes.
        unsafe {
            assert_eq!(lent.read(), 7);
            lent.write_bytes(0xff, size);
        }
        assert_eq!(pair.give_back(lent), sys::RMW_RET_OK, "{}", take_error());
        let again = pair.borrow();
        // SAFETY: as above.
        unsafe { assert_eq!((again.read(), again.add(size - 1).read() == 0), (7, how == whole), "{size}") };
        assert_eq!(pair.give_back(again), sys::RMW_RET_OK);
    }
}

#[test]
fn what_the_header_refuses_is_refused() {
    let world = World::new();
    let (point, bytes) = (generated("c", "geometry_msgs", "Point"), made(24));
    let (pair, other) = (Pair::new(&world, point, c"/t"), Pair::new(&world, point, c"/t"));
    let invalid = sys::RMW_RET_INVALID_ARGUMENT;
    let mut own = [0.0_f64; 3];
    let (own, mut full) = (own.as_mut_ptr().cast::<u8>(), own.as_mut_ptr().cast::<c_void>());
    let (mut at, mut taken) = (null_mut(), false);
    // SAFETY: handles, types and places that live across the calls.
    unsafe {
        assert_eq!(sys::rmw_borrow_loaned_message(pair.publisher, point, &mut full), invalid, "to prevent leaks");
        assert!(take_error().contains("already leads to a message"));
        assert_eq!(sys::rmw_borrow_loaned_message(pair.publisher, bytes, &mut at), invalid, "another type");
        assert!(take_error().contains("the publisher's type is geometry_msgs/msg/Point"));
        assert!(at.is_null());
        assert_eq!(sys::rmw_take_loaned_message(pair.subscription, &mut full, &mut taken, null_mut()), invalid);
        assert!(take_error().contains("already leads to a message"));
    }
    let lent = pair.borrow();
    assert_eq!([pair.publish(null_mut()), pair.give_back(null_mut()), pair.done(null_mut())], [invalid; 3]);
    take_error();
    let never_lent =
        [pair.publish(own), pair.give_back(own), other.publish(lent), other.give_back(lent), pair.done(own)];
    assert_eq!(never_lent, [sys::RMW_RET_ERROR; 5]);
    take_error();
    assert_eq!(pair.give_back(lent), sys::RMW_RET_OK);
    assert_eq!(pair.give_back(lent), sys::RMW_RET_ERROR, "twice");
    assert!(take_error().contains("is not on loan from this publisher"));
    assert_eq!(pair.take(), None, "nothing was sent");
    assert_eq!(other.take(), None);
}

#[test]
fn what_cannot_be_loaned_says_so() {
    let world = World::new();
    let pair = Pair::new(&world, string_type(), c"/t");
    assert_eq!(pair.can_loan(), (false, false));
    let mut at = null_mut();
    // SAFETY: a handle, a type and a place that live across the call.
    let code = unsafe { sys::rmw_borrow_loaned_message(pair.publisher, pair.types, &mut at) };
    assert_eq!((code, at.is_null()), (sys::RMW_RET_UNSUPPORTED, true));
    let error = take_error();
    let null = [pair.publish(null_mut()), pair.give_back(null_mut()), pair.done(null_mut())];
    assert_eq!(null, [sys::RMW_RET_UNSUPPORTED; 3], "whatever the message is");
    take_error();
    assert!(error.contains("std_msgs/msg/String") && error.contains("a string, a sequence"), "{error}");
}

#[test]
fn entities_are_destroyed_with_what_they_have_lent() {
    let world = World::new();
    for _ in 0..10 {
        let pair = Pair::new(&world, made(1 << 20), c"/t");
        let (sent, _kept) = (pair.borrow(), pair.borrow());
        assert_eq!(pair.publish(sent), sys::RMW_RET_OK, "{}", take_error());
        assert!(pair.take().is_some());
    }
}

/// The fastest of many rounds of lending, sending, reading and giving back.
fn fastest_round(world: &World, size: usize) -> Duration {
    let pair = Pair::new(world, made(size), c"/t");
    let round = || {
        let start = Instant::now();
        let lent = pair.borrow();
        // SAFETY: a message of `size` bytes.
        unsafe { lent.add(size - 1).write(9) };
        assert_eq!(pair.publish(lent), sys::RMW_RET_OK);
        let read = pair.take().expect("the message");
        // SAFETY: as above.
        assert_eq!(unsafe { read.add(size - 1).read() }, 9);
        assert_eq!(pair.done(read), sys::RMW_RET_OK);
        start.elapsed()
    };
    (0..300).map(|_| round()).min().expect("rounds")
}

#[test]
fn a_loan_costs_the_same_whatever_its_size() {
    let world = World::new();
    let times: Vec<_> = [64, 64 << 10, 8 << 20].map(|size| (size, fastest_round(&world, size))).into();
    println!("{times:?}");
    // To copy or to clear 8 MiB takes ten times as long as this, at 8 GB/s.
    assert!(times.iter().all(|(_, time)| *time < Duration::from_micros(100)), "{times:?}");
}
