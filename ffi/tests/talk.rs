//! Messages, requests, waits and graph queries through the C API.

mod common;

use std::ffi::{c_void, CStr};
use std::ptr::{null, null_mut};

use common::{default_profile, set_bool_type, string_type, take_error, Text, World};
use rmw_shoal::sys;

const NOW: sys::rmw_time_t = sys::rmw_time_t { sec: 0, nsec: 0 };
const SOON: sys::rmw_time_t = sys::rmw_time_t { sec: 20, nsec: 0 };

fn zero_info() -> sys::rmw_message_info_t {
    // SAFETY: returns a struct by value.
    unsafe { sys::rmw_get_zero_initialized_message_info() }
}

fn publish(publisher: *const sys::rmw_publisher_t, text: &str) {
    let message = Text::new(text);
    // SAFETY: handles and a message that live across the call.
    let code = unsafe { sys::rmw_publish(publisher, message.as_ptr(), null_mut()) };
    assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
}

fn take(subscription: *const sys::rmw_subscription_t) -> Option<(String, sys::rmw_message_info_t)> {
    let (mut message, mut taken, mut info) = (Text::new("untouched"), true, zero_info());
    // SAFETY: as above.
    let code =
        unsafe { sys::rmw_take_with_info(subscription, message.as_mut_ptr(), &mut taken, &mut info, null_mut()) };
    assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
    assert!(taken || message.text() == "untouched");
    taken.then(|| (message.text(), info))
}

/// A publisher and a subscription of one topic.
struct Pair {
    world: World,
    publisher: *mut sys::rmw_publisher_t,
    subscription: *mut sys::rmw_subscription_t,
}

impl Pair {
    fn new() -> Pair {
        let world = World::new();
        let (publisher, subscription) = (world.publisher(c"/t"), world.subscription(c"/t"));
        Pair { world, publisher, subscription }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        // SAFETY: what `new` made.
        unsafe {
            let code = sys::rmw_destroy_subscription(self.world.node, self.subscription);
            assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
            let code = sys::rmw_destroy_publisher(self.world.node, self.publisher);
            assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        }
    }
}

#[test]
fn messages_arrive_once_in_order_with_what_is_known_about_them() {
    let pair = Pair::new();
    assert!(take(pair.subscription).is_none());
    publish(pair.publisher, "one");
    publish(pair.publisher, "two");
    let (first, info) = take(pair.subscription).expect("a message");
    let (second, later) = take(pair.subscription).expect("a message");
    assert_eq!((first.as_str(), second.as_str()), ("one", "two"));
    assert_eq!((info.publication_sequence_number, later.publication_sequence_number), (1, 2));
    assert_eq!((info.reception_sequence_number, later.reception_sequence_number), (1, 2));
    assert!(0 < info.source_timestamp && info.source_timestamp <= info.received_timestamp);
    assert!(!info.from_intra_process);
    let (mut gid, mut equal) = (info.publisher_gid, false);
    // SAFETY: as above.
    unsafe {
        assert_eq!(sys::rmw_get_gid_for_publisher(pair.publisher, &mut gid), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_compare_gids_equal(&gid, &info.publisher_gid, &mut equal), sys::RMW_RET_OK);
    }
    assert!(equal);
    assert!(take(pair.subscription).is_none());
}

#[test]
fn a_sequence_takes_what_is_there_and_says_how_much() {
    let pair = Pair::new();
    for text in ["a", "b", "c"] {
        publish(pair.publisher, text);
    }
    let mut messages: Vec<Text> = (0..4).map(|_| Text::new("")).collect();
    let mut pointers: Vec<*mut c_void> = messages.iter_mut().map(Text::as_mut_ptr).collect();
    let mut infos = vec![zero_info(); 4];
    let mut taken = 0;
    // SAFETY: sequences over vectors that live across the calls.
    unsafe {
        let mut sequence = sys::rmw_get_zero_initialized_message_sequence();
        (sequence.data, sequence.capacity) = (pointers.as_mut_ptr(), 4);
        let mut info_sequence = sys::rmw_get_zero_initialized_message_info_sequence();
        (info_sequence.data, info_sequence.capacity) = (infos.as_mut_ptr(), 4);
        let mut call = |count| {
            let (m, i) = (&raw mut sequence, &raw mut info_sequence);
            sys::rmw_take_sequence(pair.subscription, count, m, i, &mut taken, null_mut())
        };
        assert_eq!(call(0), sys::RMW_RET_INVALID_ARGUMENT);
        take_error();
        assert_eq!(call(5), sys::RMW_RET_INVALID_ARGUMENT);
        assert!(take_error().contains("holds 4 entries"));
        assert_eq!(call(4), sys::RMW_RET_OK, "{}", take_error());
        assert_eq!((taken, sequence.size, info_sequence.size), (3, 3, 3));
    }
    assert_eq!(messages.iter().map(Text::text).collect::<Vec<_>>(), ["a", "b", "c", ""]);
    assert_eq!(infos[2].publication_sequence_number, 3);
}

#[test]
fn serialized_messages_go_every_way() {
    let pair = Pair::new();
    let message = Text::new("abc");
    // SAFETY: as above; the arrays are initialized and finalized here.
    unsafe {
        let allocator = sys::rcutils_get_default_allocator();
        let mut written = sys::rcutils_get_zero_initialized_uint8_array();
        assert_eq!(sys::rcutils_uint8_array_init(&mut written, 0, &allocator), 0);
        let code = sys::rmw_serialize(message.as_ptr(), string_type(), &mut written);
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        let bytes = std::slice::from_raw_parts(written.buffer, written.buffer_length).to_vec();
        assert_eq!(bytes, b"\0\x01\0\0\x04\0\0\0abc\0");
        assert_eq!(sys::rmw_publish_serialized_message(pair.publisher, &written, null_mut()), sys::RMW_RET_OK);
        assert_eq!(take(pair.subscription).expect("a message").0, "abc");
        publish(pair.publisher, "xyz");
        let mut taken = false;
        let code = sys::rmw_take_serialized_message(pair.subscription, &mut written, &mut taken, null_mut());
        assert_eq!((code, taken), (sys::RMW_RET_OK, true), "{}", take_error());
        let mut back = Text::new("");
        assert_eq!(sys::rmw_deserialize(&written, string_type(), back.as_mut_ptr()), sys::RMW_RET_OK);
        assert_eq!(back.text(), "xyz");
        written.buffer_length = 3;
        assert_eq!(
            sys::rmw_publish_serialized_message(pair.publisher, &written, null_mut()),
            sys::RMW_RET_INVALID_ARGUMENT
        );
        assert!(take_error().contains("3 bytes"));
        written.buffer_length = 10;
        assert_ne!(sys::rmw_deserialize(&written, string_type(), back.as_mut_ptr()), sys::RMW_RET_OK);
        assert!(take_error().contains("deserialize"));
        assert_eq!(sys::rcutils_uint8_array_fini(&mut written), 0);
    }
}

/// Takes as bytes, into an array that held something longer before.
fn take_bytes(subscription: *const sys::rmw_subscription_t) -> Vec<u8> {
    // SAFETY: an array that is initialized, written and finalized here.
    unsafe {
        let allocator = sys::rcutils_get_default_allocator();
        let mut array = sys::rcutils_get_zero_initialized_uint8_array();
        assert_eq!(sys::rcutils_uint8_array_init(&mut array, 64, &allocator), 0);
        array.buffer.write_bytes(0xa5, 64);
        let mut taken = false;
        let code = sys::rmw_take_serialized_message(subscription, &mut array, &mut taken, null_mut());
        assert_eq!((code, taken), (sys::RMW_RET_OK, true), "{}", take_error());
        let bytes = std::slice::from_raw_parts(array.buffer, array.buffer_length).to_vec();
        assert_eq!(sys::rcutils_uint8_array_fini(&mut array), 0);
        bytes
    }
}

#[test]
fn taken_bytes_are_padded_with_zeros_to_four_and_can_be_published_again() {
    let pair = Pair::new();
    for (text, bytes) in [
        ("abc", b"\0\x01\0\0\x04\0\0\0abc\0".as_slice()),
        ("abcd", b"\0\x01\0\0\x05\0\0\0abcd\0\0\0\0"),
        ("hello", b"\0\x01\0\0\x06\0\0\0hello\0\0\0"),
        ("abcdef", b"\0\x01\0\0\x07\0\0\0abcdef\0\0"),
    ] {
        publish(pair.publisher, text);
        let mut taken = take_bytes(pair.subscription);
        assert_eq!(taken, bytes, "{text}");
        // SAFETY: an array over a vector that outlives the call.
        unsafe {
            let mut again = sys::rcutils_get_zero_initialized_uint8_array();
            (again.buffer, again.buffer_length) = (taken.as_mut_ptr(), taken.len());
            assert_eq!(sys::rmw_publish_serialized_message(pair.publisher, &again, null_mut()), sys::RMW_RET_OK);
            assert_eq!(sys::rmw_publish_serialized_message(pair.publisher, &again, null_mut()), sys::RMW_RET_OK);
        }
        assert_eq!(take(pair.subscription).expect("a message").0, text);
        assert_eq!(take_bytes(pair.subscription), bytes, "{text} again");
    }
}

/// Waits for one subscription and one guard condition; the code, and which of them was ready.
fn wait(
    world: &World,
    subscription: *const sys::rmw_subscription_t,
    guard: *const sys::rmw_guard_condition_t,
    timeout: *const sys::rmw_time_t,
) -> (sys::rmw_ret_t, bool, bool) {
    // SAFETY: handles of ours and arrays that live across the calls.
    unsafe {
        let set = sys::rmw_create_wait_set((&raw const *world.context).cast_mut(), 2);
        assert!(!set.is_null(), "{}", take_error());
        let (mut one, mut other) = ([(*subscription).data], [(*guard).data]);
        let mut subscriptions = sys::rmw_subscriptions_t { subscriber_count: 1, subscribers: one.as_mut_ptr() };
        let mut guards = sys::rmw_guard_conditions_t { guard_condition_count: 1, guard_conditions: other.as_mut_ptr() };
        let (s, g) = (&raw mut subscriptions, &raw mut guards);
        let code = sys::rmw_wait(s, g, null_mut(), null_mut(), null_mut(), set, timeout);
        assert_eq!(sys::rmw_destroy_wait_set(set), sys::RMW_RET_OK);
        (code, !one[0].is_null(), !other[0].is_null())
    }
}

#[test]
fn a_wait_keeps_only_the_entries_that_are_ready() {
    let pair = Pair::new();
    let context = (&raw const *pair.world.context).cast_mut();
    // SAFETY: as above.
    let guard = unsafe { sys::rmw_create_guard_condition(context) };
    assert!(!guard.is_null(), "{}", take_error());
    assert_eq!(wait(&pair.world, pair.subscription, guard, &NOW), (sys::RMW_RET_TIMEOUT, false, false));
    assert_eq!(take_error(), "", "the end of the time is no error");
    publish(pair.publisher, "x");
    assert_eq!(wait(&pair.world, pair.subscription, guard, &SOON), (sys::RMW_RET_OK, true, false));
    assert_eq!(wait(&pair.world, pair.subscription, guard, null()), (sys::RMW_RET_OK, true, false));
    assert!(take(pair.subscription).is_some());
    // SAFETY: as above.
    assert_eq!(unsafe { sys::rmw_trigger_guard_condition(guard) }, sys::RMW_RET_OK);
    let endless = sys::rmw_time_t { sec: u64::MAX, nsec: u64::MAX };
    assert_eq!(wait(&pair.world, pair.subscription, guard, &endless), (sys::RMW_RET_OK, false, true));
    assert_eq!(wait(&pair.world, pair.subscription, guard, &NOW), (sys::RMW_RET_TIMEOUT, false, false));
    // SAFETY: as above.
    assert_eq!(unsafe { sys::rmw_destroy_guard_condition(guard) }, sys::RMW_RET_OK);
}

#[test]
fn a_guard_condition_wakes_a_waiter_in_another_thread() {
    let pair = Pair::new();
    let context = (&raw const *pair.world.context).cast_mut();
    // SAFETY: as above; a guard condition may be triggered from any thread.
    let guard = unsafe { sys::rmw_create_guard_condition(context) };
    let address = guard as usize;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // SAFETY: destroyed only after this thread has ended.
            let code = unsafe { sys::rmw_trigger_guard_condition(address as *const _) };
            assert_eq!(code, sys::RMW_RET_OK);
        });
        assert_eq!(wait(&pair.world, pair.subscription, guard, &SOON), (sys::RMW_RET_OK, false, true));
    });
    // SAFETY: as above.
    assert_eq!(unsafe { sys::rmw_destroy_guard_condition(guard) }, sys::RMW_RET_OK);
}

#[test]
fn a_null_entry_is_an_invalid_argument_of_wait() {
    let world = World::new();
    let mut entries = [null_mut()];
    // SAFETY: as above.
    unsafe {
        let set = sys::rmw_create_wait_set((&raw const *world.context).cast_mut(), 0);
        let mut clients = sys::rmw_clients_t { client_count: 1, clients: entries.as_mut_ptr() };
        let code = sys::rmw_wait(null_mut(), null_mut(), null_mut(), &mut clients, null_mut(), set, &NOW);
        assert_eq!(code, sys::RMW_RET_INVALID_ARGUMENT);
        assert!(take_error().contains("entry 0 of clients is NULL"));
        let code = sys::rmw_wait(null_mut(), null_mut(), null_mut(), null_mut(), null_mut(), set, &NOW);
        assert_eq!((code, take_error()), (sys::RMW_RET_TIMEOUT, String::new()));
        assert_eq!(sys::rmw_destroy_wait_set(set), sys::RMW_RET_OK);
    }
}

/// `std_srvs/srv/SetBool`'s request and response in memory.
#[repr(C)]
struct Request {
    data: bool,
}

#[repr(C)]
struct Response {
    success: bool,
    message: Text,
}

#[test]
fn a_request_is_answered_to_the_client_that_asked() {
    let world = World::new();
    let (types, profile) = (set_bool_type(), default_profile());
    // SAFETY: as above; the messages have the layout that rosidl generates for SetBool.
    unsafe {
        let client = sys::rmw_create_client(world.node, types, c"/s".as_ptr(), &profile);
        let mut available = true;
        assert_eq!(sys::rmw_service_server_is_available(world.node, client, &mut available), sys::RMW_RET_OK);
        assert!(!available);
        let service = sys::rmw_create_service(world.node, types, c"/s".as_ptr(), &profile);
        assert_eq!(sys::rmw_service_server_is_available(world.node, client, &mut available), sys::RMW_RET_OK);
        assert!(available);

        let (request, mut sequence) = (Request { data: true }, 0);
        let code = sys::rmw_send_request(client, (&raw const request).cast(), &mut sequence);
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        let mut info: sys::rmw_service_info_t = std::mem::zeroed();
        let (mut asked, mut taken) = (Request { data: false }, false);
        let code = sys::rmw_take_request(service, &mut info, (&raw mut asked).cast(), &mut taken);
        assert_eq!((code, taken, asked.data), (sys::RMW_RET_OK, true, true), "{}", take_error());
        assert_eq!(info.request_id.sequence_number, sequence);
        let mut gid: sys::rmw_gid_t = std::mem::zeroed();
        assert_eq!(sys::rmw_get_gid_for_client(client, &mut gid), sys::RMW_RET_OK);
        assert_eq!(gid.data, info.request_id.writer_guid);

        let mut answer = Response { success: true, message: Text::new("done") };
        let code = sys::rmw_send_response(service, &mut info.request_id, (&raw mut answer).cast());
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        let mut got = Response { success: false, message: Text::new("") };
        let code = sys::rmw_take_response(client, &mut info, (&raw mut got).cast(), &mut taken);
        assert_eq!((code, taken), (sys::RMW_RET_OK, true), "{}", take_error());
        assert_eq!((got.success, got.message.text().as_str()), (true, "done"));
        assert_eq!(info.request_id.sequence_number, sequence);
        assert_eq!(sys::rmw_destroy_service(world.node, service), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_destroy_client(world.node, client), sys::RMW_RET_OK);
    }
}

fn strings(array: &sys::rcutils_string_array_t) -> Vec<String> {
    // SAFETY: an initialized array says how many NUL-terminated strings it has.
    (0..array.size).map(|i| unsafe { CStr::from_ptr(*array.data.add(i)) }.to_string_lossy().into_owned()).collect()
}

#[test]
fn graph_queries_fill_the_callers_arrays_and_only_empty_ones() {
    let pair = Pair::new();
    let node = pair.world.node;
    // SAFETY: as above; arrays are finalized here.
    unsafe {
        let mut allocator = sys::rcutils_get_default_allocator();
        let zero = || sys::rcutils_get_zero_initialized_string_array();
        let (mut names, mut namespaces, mut enclaves) = (zero(), zero(), zero());
        let code = sys::rmw_get_node_names_with_enclaves(node, &mut names, &mut namespaces, &mut enclaves);
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        assert_eq!((strings(&names), strings(&namespaces), strings(&enclaves)), expected_node());
        assert_eq!(sys::rmw_get_node_names(node, &mut names, &mut zero()), sys::RMW_RET_INVALID_ARGUMENT);
        assert!(take_error().contains("node_names is not zero-initialized"));
        for array in [&mut names, &mut namespaces, &mut enclaves] {
            assert_eq!(sys::rcutils_string_array_fini(array), 0);
        }
        let mut topics = sys::rmw_get_zero_initialized_names_and_types();
        let code = sys::rmw_get_topic_names_and_types(node, &mut allocator, false, &mut topics);
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        assert_eq!(strings(&topics.names), ["/t"]);
        assert_eq!(strings(&*topics.types), ["std_msgs/msg/String"]);
        assert_eq!(sys::rmw_names_and_types_fini(&mut topics), sys::RMW_RET_OK);
        let mut count = 0;
        assert_eq!(sys::rmw_count_publishers(node, c"/t".as_ptr(), &mut count), sys::RMW_RET_OK);
        assert_eq!(count, 1);
        assert_eq!(sys::rmw_count_publishers(node, c"t".as_ptr(), &mut count), sys::RMW_RET_INVALID_ARGUMENT);
        take_error();
    }
}

fn expected_node() -> (Vec<String>, Vec<String>, Vec<String>) {
    (vec!["tester".into()], vec!["/".into()], vec!["/".into()])
}

#[test]
fn a_node_is_asked_for_its_own_endpoints_and_an_absent_one_is_named() {
    let pair = Pair::new();
    // SAFETY: as above.
    unsafe {
        let mut allocator = sys::rcutils_get_default_allocator();
        let mut found = sys::rmw_get_zero_initialized_names_and_types();
        let mut ask = |name: &CStr| {
            let (name, namespace) = (name.as_ptr(), c"/".as_ptr());
            let out = &raw mut found;
            sys::rmw_get_publisher_names_and_types_by_node(pair.world.node, &mut allocator, name, namespace, false, out)
        };
        assert_eq!(ask(c"absent"), sys::RMW_RET_NODE_NAME_NON_EXISTENT);
        assert!(take_error().contains("absent"));
        assert_eq!(ask(c"tester"), sys::RMW_RET_OK, "{}", take_error());
        assert_eq!(ask(c"tester"), sys::RMW_RET_INVALID_ARGUMENT);
        take_error();
        assert_eq!(strings(&found.names), ["/t"]);
        assert_eq!(sys::rmw_names_and_types_fini(&mut found), sys::RMW_RET_OK);
    }
}

#[test]
fn endpoint_infos_tell_node_type_and_profile() {
    let pair = Pair::new();
    // SAFETY: as above.
    unsafe {
        let mut allocator = sys::rcutils_get_default_allocator();
        let mut infos = sys::rmw_get_zero_initialized_topic_endpoint_info_array();
        let node = pair.world.node;
        let code = sys::rmw_get_publishers_info_by_topic(node, &mut allocator, c"/t".as_ptr(), false, &mut infos);
        assert_eq!((code, infos.size), (sys::RMW_RET_OK, 1), "{}", take_error());
        let info = &*infos.info_array;
        assert_eq!(CStr::from_ptr(info.node_name), c"tester");
        assert_eq!(CStr::from_ptr(info.node_namespace), c"/");
        assert_eq!(CStr::from_ptr(info.topic_type), c"std_msgs/msg/String");
        assert_eq!(info.topic_type_hash.version, 1);
        assert_eq!(info.endpoint_type, sys::RMW_ENDPOINT_PUBLISHER);
        assert_eq!(
            (info.qos_profile.depth, info.qos_profile.reliability),
            (10, sys::RMW_QOS_POLICY_RELIABILITY_RELIABLE)
        );
        let mut own: sys::rmw_gid_t = std::mem::zeroed();
        assert_eq!(sys::rmw_get_gid_for_publisher(pair.publisher, &mut own), sys::RMW_RET_OK);
        assert_eq!(info.endpoint_gid, own.data);
        assert_eq!(sys::rmw_topic_endpoint_info_array_fini(&mut infos, &mut allocator), sys::RMW_RET_OK);
    }
}
