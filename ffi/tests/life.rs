//! Options, contexts, nodes and their errors, as rmw/init_options.h, rmw/init.h and rmw/rmw.h promise them.

mod common;

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use common::{options, take_error, World};
use rmw_shoal::sys;

fn zero_options() -> sys::rmw_init_options_t {
    // SAFETY: returns a struct by value.
    unsafe { sys::rmw_get_zero_initialized_init_options() }
}

fn zero_context() -> sys::rmw_context_t {
    // SAFETY: returns a struct by value.
    unsafe { sys::rmw_get_zero_initialized_context() }
}

#[test]
fn options_are_copied_with_all_they_own() {
    let mut source = options(Some(c"/enclave"));
    let mut copy = zero_options();
    // SAFETY: initialized options and places that live across the calls.
    unsafe {
        assert_eq!(sys::rmw_init_options_copy(&source, &mut copy), sys::RMW_RET_OK, "{}", take_error());
        assert_ne!(copy.enclave, source.enclave);
        assert_eq!(copy.domain_id, source.domain_id);
        assert_eq!(sys::rmw_init_options_fini(&mut source), sys::RMW_RET_OK, "{}", take_error());
        assert_eq!(CStr::from_ptr(copy.enclave), c"/enclave");
        assert!(source.implementation_identifier.is_null() && source.enclave.is_null());
        assert_eq!(sys::rmw_init_options_fini(&mut source), sys::RMW_RET_INVALID_ARGUMENT);
        assert!(take_error().contains("zero-initialized"));
        assert_eq!(sys::rmw_init_options_fini(&mut copy), sys::RMW_RET_OK, "{}", take_error());
    }
}

#[test]
fn options_in_use_are_not_overwritten() {
    let mut first = options(None);
    let mut second = options(None);
    // SAFETY: as above.
    unsafe {
        let allocator = sys::rcutils_get_default_allocator();
        assert_eq!(sys::rmw_init_options_init(&mut first, allocator), sys::RMW_RET_INVALID_ARGUMENT);
        take_error();
        assert_eq!(sys::rmw_init_options_copy(&first, &mut second), sys::RMW_RET_INVALID_ARGUMENT);
        take_error();
        assert_eq!(sys::rmw_init_options_copy(&zero_options(), &mut second), sys::RMW_RET_INVALID_ARGUMENT);
        take_error();
        let mut broken = allocator;
        broken.reallocate = None;
        assert_eq!(sys::rmw_init_options_init(&mut zero_options(), broken), sys::RMW_RET_INVALID_ARGUMENT);
        assert!(take_error().contains("allocator"));
        assert_eq!(sys::rmw_init_options_fini(&mut first), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_init_options_fini(&mut second), sys::RMW_RET_OK);
    }
}

/// Initializes a context that must fail; the code and the error.
fn refused(mut options: sys::rmw_init_options_t) -> (sys::rmw_ret_t, String) {
    let mut context = zero_context();
    // SAFETY: as above.
    let code = unsafe { sys::rmw_init(&options, &mut context) };
    let error = take_error();
    assert!(context.implementation_identifier.is_null() && context.impl_.is_null());
    if !options.implementation_identifier.is_null() {
        // SAFETY: as above.
        assert_eq!(unsafe { sys::rmw_init_options_fini(&mut options) }, sys::RMW_RET_OK);
    }
    (code, error)
}

#[test]
fn a_context_needs_an_enclave_a_discovery_range_and_no_enforced_security() {
    let (code, error) = refused(options(None));
    assert_eq!((code, error.contains("enclave")), (sys::RMW_RET_INVALID_ARGUMENT, true), "{error}");
    let (code, error) = refused(zero_options());
    assert_eq!((code, error.contains("zero-initialized")), (sys::RMW_RET_INVALID_ARGUMENT, true), "{error}");
    let mut unset = options(Some(c"/"));
    unset.discovery_options.automatic_discovery_range = sys::RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET;
    let (code, error) = refused(unset);
    assert_eq!((code, error.contains("discovery_range 0")), (sys::RMW_RET_INVALID_ARGUMENT, true), "{error}");
    let mut secure = options(Some(c"/"));
    secure.security_options.enforce_security = sys::RMW_SECURITY_ENFORCEMENT_ENFORCE;
    let (code, error) = refused(secure);
    assert_eq!((code, error.contains("does not encrypt")), (sys::RMW_RET_ERROR, true), "{error}");
}

#[test]
fn a_context_is_finalized_only_after_shutdown_and_shut_down_as_often_as_asked() {
    let world = World::new();
    let context = (&raw const *world.context).cast_mut();
    // SAFETY: the context of `world`, which is shut down here and finalized there.
    unsafe {
        assert_eq!(sys::rmw_context_fini(context), sys::RMW_RET_INVALID_ARGUMENT);
        assert!(take_error().contains("rmw_shutdown"));
        assert_eq!(sys::rmw_init(&world.context.options, context), sys::RMW_RET_INVALID_ARGUMENT);
        take_error();
        assert_eq!(sys::rmw_shutdown(context), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_shutdown(context), sys::RMW_RET_OK);
        assert!(sys::rmw_create_node(context, c"late".as_ptr(), c"/".as_ptr()).is_null());
        assert!(take_error().contains("shut down"));
        let wait_set = sys::rmw_create_wait_set(context, 0);
        assert!(!wait_set.is_null(), "a thread about to wait is not to fail because another one shut down");
        assert_eq!(sys::rmw_destroy_wait_set(wait_set), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_shutdown(&mut zero_context()), sys::RMW_RET_INVALID_ARGUMENT);
        take_error();
    }
}

#[test]
fn names_are_checked_by_the_rules_of_rmw() {
    let world = World::new();
    let context = (&raw const *world.context).cast_mut();
    for (name, namespace) in [(c"a b", c"/"), (c"", c"/"), (c"1a", c"/"), (c"a", c"x"), (c"a", c"/x/"), (c"a", c"")] {
        // SAFETY: as above.
        assert!(unsafe { sys::rmw_create_node(context, name.as_ptr(), namespace.as_ptr()) }.is_null());
        assert!(take_error().contains("is refused at position"));
    }
    let profile = common::default_profile();
    for topic in [c"relative", c"", c"/a//b", c"/a b", c"/a/"] {
        // SAFETY: as above.
        let publisher = unsafe {
            let options = sys::rmw_get_default_publisher_options();
            sys::rmw_create_publisher(world.node, common::string_type(), topic.as_ptr(), &profile, &options)
        };
        assert!(publisher.is_null());
        assert!(take_error().contains("topic_name"));
    }
}

#[test]
fn the_graph_guard_condition_ends_with_its_node_only() {
    let world = World::new();
    // SAFETY: as above.
    unsafe {
        let guard = sys::rmw_node_get_graph_guard_condition(world.node);
        assert!(!guard.is_null());
        assert_eq!(guard, sys::rmw_node_get_graph_guard_condition(world.node));
        assert_eq!(sys::rmw_destroy_guard_condition(guard.cast_mut()), sys::RMW_RET_INVALID_ARGUMENT);
        assert!(take_error().contains("graph guard condition"));
    }
}

#[test]
fn an_unusable_type_support_is_an_error_with_a_reason() {
    let world = World::new();
    let profile = common::default_profile();
    // SAFETY: a zeroed type support is what a broken library might hand in: no identifier, no function.
    unsafe {
        let types = sys::rosidl_message_type_support_t {
            typesupport_identifier: c"some_typesupport".as_ptr(),
            data: null(),
            func: None,
            get_type_hash_func: None,
            get_type_description_func: None,
            get_type_description_sources_func: None,
        };
        let options = sys::rmw_get_default_publisher_options();
        let publisher = sys::rmw_create_publisher(world.node, &types, c"/t".as_ptr(), &profile, &options);
        assert_eq!(publisher, null_mut());
        assert!(take_error().contains("type_support"));
    }
}
