//! Content filters through the C API, on messages of both typesupports.

#[path = "../common/mod.rs"]
mod common;
mod handles;
#[path = "../typesupport/message.rs"]
#[allow(dead_code)]
mod message;
#[path = "../typesupport/prefix.rs"]
mod prefix;
mod put;

use std::ffi::{c_char, CStr};
use std::ptr::{null, null_mut};

use common::{take_error, World};
use handles::{Filter, Reader, Writer};
use message::{Handle, Language, Message, Types};
use put::{put, Put};
use rmw_shoal::sys;
use rmw_shoal::typesupport::MessageType;

/// A type, a field and two values for it; conditions that only the first passes.
type Case = (&'static str, &'static str, [Put; 2], &'static [&'static str]);

const INTEGER: [Put; 2] = [Put::Integer(100), Put::Integer(7)];
const FLOAT: [Put; 2] = [Put::Float(1.1), Put::Float(-2.5)];
const TEXT: [Put; 2] = [Put::Text("Größe 4"), Put::Text("other")];

const CASES: &[Case] = &[
    ("BasicTypes", "bool_value", [Put::Integer(1), Put::Integer(0)], &["bool_value = TRUE", "bool_value <> 0"]),
    ("BasicTypes", "byte_value", INTEGER, &["byte_value = 0x64", "byte_value = 'd'"]),
    ("BasicTypes", "char_value", INTEGER, &["char_value > 99", "'d' = char_value"]),
    ("BasicTypes", "float32_value", FLOAT, &["float32_value = 1.1", "float32_value BETWEEN 1 AND 1.2"]),
    ("BasicTypes", "float64_value", FLOAT, &["float64_value = 1.1", "float64_value > 1"]),
    ("BasicTypes", "int8_value", [Put::Integer(-3), Put::Integer(3)], &["int8_value < 0", "int8_value = -3"]),
    ("BasicTypes", "uint8_value", [Put::Integer(200), Put::Integer(3)], &["uint8_value = 200"]),
    ("BasicTypes", "int16_value", [Put::Integer(-300), Put::Integer(3)], &["int16_value = -300"]),
    ("BasicTypes", "uint16_value", [Put::Integer(65535), Put::Integer(3)], &["uint16_value > 65534"]),
    ("BasicTypes", "int32_value", [Put::Integer(-70_000), Put::Integer(3)], &["int32_value IN (1, -70000)"]),
    ("BasicTypes", "uint32_value", [Put::Integer(4_294_967_295), Put::Integer(3)], &["uint32_value = 0xffffffff"]),
    ("BasicTypes", "int64_value", [Put::Integer(i64::MIN as i128), Put::Integer(3)], &["int64_value < -9e18"]),
    (
        "BasicTypes",
        "uint64_value",
        [Put::Integer(u64::MAX as i128), Put::Integer(3)],
        &["uint64_value > 18446744073709551614"],
    ),
    ("Strings", "string_value", TEXT, &["string_value = 'Größe 4'", "string_value LIKE 'Gr__e%'"]),
    ("Strings", "bounded_string_value", TEXT, &["bounded_string_value LIKE '*4' AND string_value = ''"]),
    ("WStrings", "wstring_value", TEXT, &["wstring_value = 'Größe 4'", "wstring_value like 'Gr??e 4'"]),
    ("Nested", "basic_types_value.int32_value", INTEGER, &["basic_types_value.int32_value >= 100"]),
    ("Arrays", "int32_values[2]", INTEGER, &["int32_values[2] = 100"]),
    ("Arrays", "bool_values[1]", [Put::Integer(1), Put::Integer(0)], &["bool_values[1] = TRUE"]),
    ("Arrays", "string_values[1]", TEXT, &["string_values[1] <> 'other' AND string_values[1] <> ''"]),
    ("Arrays", "basic_types_values[2].int64_value", INTEGER, &["basic_types_values[2].int64_value = 100"]),
    ("BoundedSequences", "uint16_values[1]", INTEGER, &["uint16_values[1] = 100"]),
    ("UnboundedSequences", "bool_values[2]", [Put::Integer(1), Put::Integer(0)], &["bool_values[2] = TRUE"]),
    ("UnboundedSequences", "string_values[1]", TEXT, &["string_values[1] = 'Größe 4'"]),
    (
        "UnboundedSequences",
        "basic_types_values[1].float64_value",
        FLOAT,
        &["basic_types_values[1].float64_value = 1.1"],
    ),
];

#[test]
fn conditions_on_fields_of_every_kind_pass_what_they_should() {
    prefix::inside("conditions_on_fields_of_every_kind_pass_what_they_should", || {
        let types = Types::load();
        for language in Language::ALL {
            for (name, path, values, conditions) in CASES {
                conditions.iter().for_each(|condition| passes(&types, language, name, path, values, condition));
            }
        }
    });
}

/// Of messages without the field set, with the first value and with the second one, only the second message passes.
fn passes(types: &Types, language: Language, name: &str, path: &str, values: &[Put; 2], condition: &str) {
    let name = format!("test_msgs__msg__{name}");
    let (c, handle) = (types.message(Language::C, &name), types.message(language, &name));
    // SAFETY: the libraries of `types` stay loaded.
    let plan = unsafe { MessageType::of(c) }.expect("compiles");
    let mut world = World::new();
    let (writer, reader) = (Writer::new(&world, c), Reader::new(&world, handle, condition, &[]));
    assert!(reader.is_filtered());
    let mut wanted = Message::new(c);
    put(&mut wanted, path, values[0]);
    let mut other = Message::new(c);
    put(&mut other, path, values[1]);
    writer.publish(&other);
    writer.publish(&Message::new(c));
    assert!(!reader.is_ready(&mut world), "{language:?} {condition}");
    writer.publish(&wanted);
    writer.publish(&other);
    assert!(reader.is_ready(&mut world), "{language:?} {condition}");
    let mut expected = wanted.encode(&plan).expect("encodes");
    expected.resize(expected.len().next_multiple_of(4), 0);
    assert_eq!(reader.take(), Some(expected), "{language:?} {condition}");
    assert_eq!(reader.take(), None, "{language:?} {condition}");
    assert!(!reader.is_ready(&mut world));
    drop((writer, reader));
}

#[test]
fn a_filter_is_set_got_changed_and_removed() {
    prefix::inside("a_filter_is_set_got_changed_and_removed", || {
        let types = Types::load();
        let basic = types.message(Language::C, "test_msgs__msg__BasicTypes");
        let mut world = World::new();
        let (writer, reader) = (Writer::new(&world, basic), Reader::try_new(&world, basic, None).expect("creates"));
        assert_eq!((reader.is_filtered(), reader.get()), (false, Err(sys::RMW_RET_ERROR)));
        assert!(take_error().contains("has no content filter"));
        let publish = |number: i128| {
            let mut message = Message::new(basic);
            put(&mut message, "int32_value", Put::Integer(number));
            writer.publish(&message);
        };
        publish(1);
        assert_eq!(reader.set("int32_value = %0 OR int32_value=%1", &["4", "0x5"]), sys::RMW_RET_OK);
        assert!(reader.is_filtered());
        let known = ("int32_value = %0 OR int32_value=%1".to_owned(), vec!["4".to_owned(), "0x5".to_owned()]);
        assert_eq!(reader.get(), Ok(known.clone()));
        assert!(!reader.is_ready(&mut world), "1 was published before the filter, and not taken");
        (3..7).for_each(publish);
        assert_eq!(typed(&reader, basic), [4, 5]);
        for wrong in
            ["int32_value = %7", "int32_value = ", "int33_value = 1", "string_value = 'a'", "int32_value = 'a'"]
        {
            assert_eq!(reader.set(wrong, &["1"]), sys::RMW_RET_ERROR, "{wrong}");
            assert!(take_error().contains("content filter, column"), "{wrong}");
            assert_eq!(reader.get(), Ok(known.clone()), "the filter stays as it was");
        }
        (4..8).for_each(publish);
        assert_eq!(reader.set("int32_value > 5", &[]), sys::RMW_RET_OK);
        assert!(reader.is_ready(&mut world));
        assert_eq!(typed(&reader, basic), [6, 7]);
        assert_eq!(reader.set("", &[]), sys::RMW_RET_OK);
        assert_eq!((reader.is_filtered(), reader.get()), (false, Err(sys::RMW_RET_ERROR)));
        take_error();
        (1..3).for_each(publish);
        assert_eq!(typed(&reader, basic), [1, 2]);
        assert_eq!(reader.set("", &[]), sys::RMW_RET_OK, "nothing to remove");
        drop((writer, reader));
    });
}

/// Takes all with `rmw_take_sequence`: the values of `int32_value`.
fn typed(reader: &Reader, types: Handle) -> Vec<i32> {
    let mut messages: Vec<Message> = (0..4).map(|_| Message::new(types)).collect();
    let mut pointers: Vec<_> = messages.iter_mut().map(|message| message.ptr_mut().cast()).collect();
    // SAFETY: integers, pointers and bools.
    let mut infos: [sys::rmw_message_info_t; 4] = unsafe { std::mem::zeroed() };
    // SAFETY: sequences of four entries each that live across the call.
    let taken = unsafe {
        let mut message_sequence: sys::rmw_message_sequence_t = std::mem::zeroed();
        (message_sequence.data, message_sequence.capacity) = (pointers.as_mut_ptr(), 4);
        let mut info_sequence: sys::rmw_message_info_sequence_t = std::mem::zeroed();
        (info_sequence.data, info_sequence.capacity) = (infos.as_mut_ptr(), 4);
        let mut taken = 0;
        let code =
            sys::rmw_take_sequence(reader.handle, 4, &mut message_sequence, &mut info_sequence, &mut taken, null_mut());
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
        taken
    };
    let offset = messages[0].members;
    // SAFETY: BasicTypes has the field, as its introspection says.
    let value = |message: &Message| unsafe {
        let list = std::slice::from_raw_parts(offset.members_, offset.member_count_ as usize);
        let member = list.iter().find(|member| CStr::from_ptr(member.name_) == c"int32_value").expect("the field");
        message.ptr().add(member.offset_ as usize).cast::<i32>().read()
    };
    messages[..taken].iter().map(value).collect()
}

#[test]
fn a_wrong_filter_creates_no_subscription_and_says_where_it_is_wrong() {
    prefix::inside("a_wrong_filter_creates_no_subscription_and_says_where_it_is_wrong", || {
        let types = Types::load();
        let world = World::new();
        for language in Language::ALL {
            let nested = types.message(language, "test_msgs__msg__Arrays");
            for (expression, place) in [
                (
                    "int32_values[0] = 1 AND nonsense = 2",
                    "column 25, at \"nonsense\": test_msgs/msg/Arrays has no field",
                ),
                ("int32_values = 1", "column 1, at \"int32_values\": 'int32_values' is an array; name an element"),
                ("int32_values[3] = 1", "column 1, at \"int32_values\": 'int32_values' has at most 3 elements"),
                ("basic_types_values[0] = 1", "is a test_msgs/msg/BasicTypes; name one of its fields: bool_value,"),
                (
                    "basic_types_values[0].nope = 1",
                    "column 23, at \"nope\": test_msgs/msg/BasicTypes has no field 'nope'",
                ),
                ("int32_values[0].x = 1", "column 17, at \"x\": 'int32_values' is a value and has no fields"),
                ("alignment_check[0] = 1", "'alignment_check' is not an array"),
                ("alignment_check = %0", "column 19, at \"%0\": the parameter has no value: 0 given"),
                ("string_values[0] > 5", "column 20, at \"5\": cannot compare a text with an integer"),
            ] {
                let mut filter = Filter::new(expression, &[]);
                assert!(Reader::try_new(&world, nested, Some(&mut filter)).is_none(), "{expression}");
                let error = take_error();
                assert!(error.contains(place), "{language:?} {expression}: {error}");
            }
        }
    });
}

#[test]
fn options_without_an_expression_are_no_filter_and_wrong_ones_are_refused() {
    prefix::inside("options_without_an_expression_are_no_filter_and_wrong_ones_are_refused", || {
        let types = Types::load();
        let basic = types.message(Language::C, "test_msgs__msg__BasicTypes");
        let world = World::new();
        // SAFETY: returns a struct by value.
        let zero = || unsafe { sys::rmw_get_zero_initialized_content_filter_options() };
        let mut none = std::mem::ManuallyDrop::new(Filter(zero()));
        let reader = Reader::try_new(&world, basic, Some(&mut none)).expect("creates");
        assert!(!reader.is_filtered());
        // SAFETY: live handles and structs.
        unsafe {
            assert_eq!(sys::rmw_subscription_set_content_filter(reader.handle, &zero()), sys::RMW_RET_INVALID_ARGUMENT);
            assert!(take_error().contains("filter_expression is NULL"));
            let mut text = *b"int32_value = 1\0";
            let mut wrong = zero();
            wrong.filter_expression = text.as_mut_ptr().cast();
            wrong.expression_parameters.size = 1;
            assert_eq!(sys::rmw_subscription_set_content_filter(reader.handle, &wrong), sys::RMW_RET_INVALID_ARGUMENT);
            assert!(take_error().contains("expression_parameters is NULL"));
            let mut nothing: *mut c_char = null_mut();
            wrong.expression_parameters.data = &mut nothing;
            assert_eq!(sys::rmw_subscription_set_content_filter(reader.handle, &wrong), sys::RMW_RET_INVALID_ARGUMENT);
            assert!(take_error().contains("expression_parameters is NULL"));
            let mut text = *b"\xff\0";
            wrong.filter_expression = text.as_mut_ptr().cast();
            assert_eq!(sys::rmw_subscription_set_content_filter(reader.handle, &wrong), sys::RMW_RET_INVALID_ARGUMENT);
            assert!(take_error().contains("is not UTF-8"));
            assert_eq!(sys::rmw_subscription_set_content_filter(reader.handle, null()), sys::RMW_RET_INVALID_ARGUMENT);
            take_error();
        }
    });
}
