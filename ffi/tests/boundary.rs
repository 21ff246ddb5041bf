//! Every entry point, called in ways that no caller should: with NULL, with foreign handles, and into a panic.

mod common;

use common::take_error;
use rmw_shoal::boundary::hooks::{panic_in, Answer};
use rmw_shoal::{entry, sys};

/// What is true of NULL for functions to which it is no error, or whose answer is fixed.
const NOT_REFUSED: &[(&str, Answer)] = &[
    // Zero is the first event of Jazzy, and no event of Kilted.
    ("rmw_event_type_is_supported", Answer::Flag(sys::RMW_EVENT_INVALID != 0)),
    // Zero is the number of the first feature.
    ("rmw_feature_supported", Answer::Flag(true)),
    ("rmw_get_implementation_identifier", Answer::Pointer),
    ("rmw_get_serialization_format", Answer::Pointer),
    // No signals: a plain handle.
    ("shoal_interrupt_guard_create", Answer::Pointer),
];

/// Functions that another return code refuses NULL with.
const REFUSED_OTHERWISE: &[(&str, sys::rmw_ret_t)] = &[
    ("rmw_destroy_wait_set", ERROR_UP_TO_JAZZY),
    ("rmw_fini_publisher_allocation", sys::RMW_RET_UNSUPPORTED),
    ("rmw_fini_subscription_allocation", sys::RMW_RET_UNSUPPORTED),
    ("rmw_get_serialized_message_size", sys::RMW_RET_UNSUPPORTED),
    ("rmw_init_publisher_allocation", sys::RMW_RET_UNSUPPORTED),
    ("rmw_init_subscription_allocation", sys::RMW_RET_UNSUPPORTED),
    ("rmw_service_server_is_available", ERROR_UP_TO_JAZZY),
];

/// The conformance suite of Jazzy contradicts the header of Jazzy; that of Kilted agrees with both headers.
const ERROR_UP_TO_JAZZY: sys::rmw_ret_t =
    if cfg!(rmw_up_to_jazzy) { sys::RMW_RET_ERROR } else { sys::RMW_RET_INVALID_ARGUMENT };

/// Functions whose pointers lead to no handle, so that nothing in them can be foreign.
const NO_HANDLE: &[&str] = &[
    "rmw_deserialize",
    "rmw_event_type_is_supported",
    "rmw_feature_supported",
    "rmw_fini_publisher_allocation",
    "rmw_fini_subscription_allocation",
    "rmw_get_implementation_identifier",
    "rmw_get_serialization_format",
    "rmw_get_serialized_message_size",
    "rmw_init_options_init",
    "rmw_init_publisher_allocation",
    "rmw_init_subscription_allocation",
    "rmw_qos_profile_check_compatible",
    "rmw_serialization_support_init",
    "rmw_serialize",
    "rmw_set_log_severity",
    "shoal_interrupt_guard_create",
    "shoal_join_many",
];

fn code_for_null(name: &str) -> sys::rmw_ret_t {
    let listed = REFUSED_OTHERWISE.iter().find(|(listed, _)| *listed == name);
    listed.map_or(sys::RMW_RET_INVALID_ARGUMENT, |(_, code)| *code)
}

fn failure_like(answer: Answer, code: sys::rmw_ret_t) -> Answer {
    match answer {
        Answer::Code(_) => Answer::Code(code),
        Answer::Flag(_) => Answer::Flag(false),
        Answer::Null | Answer::Pointer => Answer::Null,
    }
}

#[test]
fn null_is_an_invalid_argument_everywhere() {
    for export in entry::exports() {
        let answer = (export.with_zeros)();
        let error = take_error();
        match NOT_REFUSED.iter().find(|(name, _)| *name == export.name) {
            Some((_, expected)) => assert_eq!((answer, error.as_str()), (*expected, ""), "{}", export.name),
            None => {
                assert_eq!(answer, failure_like(answer, code_for_null(export.name)), "{}: {error}", export.name);
                assert!(error.starts_with(&format!("{}: ", export.name)), "{}: {error:?}", export.name);
            }
        }
    }
}

#[test]
fn a_handle_of_another_implementation_is_refused_everywhere() {
    for export in entry::exports().into_iter().filter(|e| !NO_HANDLE.contains(&e.name)) {
        let answer = (export.with_foreign)();
        let error = take_error();
        let expected = failure_like(answer, sys::RMW_RET_INCORRECT_RMW_IMPLEMENTATION);
        assert_eq!(answer, expected, "{}: {error}", export.name);
        assert!(error.contains("rmw_foreign"), "{}: {error:?}", export.name);
    }
}

#[test]
fn a_panic_comes_back_as_an_error_everywhere() {
    for export in entry::exports() {
        panic_in(Some(export.name));
        let answer = (export.with_zeros)();
        panic_in(None);
        let error = take_error();
        assert_eq!(answer, failure_like(answer, sys::RMW_RET_ERROR), "{}: {error}", export.name);
        assert!(error.starts_with(&format!("{}: internal error (panic)", export.name)), "{error:?}");
    }
}

#[test]
fn the_list_of_entry_points_has_no_entry_twice() {
    let mut names: Vec<_> = entry::exports().iter().map(|e| e.name).collect();
    names.sort_unstable();
    let own = common::of_shoal_h();
    let of_rmw = include_str!("exported_symbols.txt").lines();
    let listed: Vec<_> = of_rmw.chain(own.iter().map(String::as_str)).collect();
    assert_eq!(names, listed);
    let exceptions = NOT_REFUSED.iter().map(|(name, _)| name).chain(REFUSED_OTHERWISE.iter().map(|(name, _)| name));
    for name in NO_HANDLE.iter().chain(exceptions) {
        assert!(listed.contains(name), "{name} is an exception, but no entry point");
    }
}
