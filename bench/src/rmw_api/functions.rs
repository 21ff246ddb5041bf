//! The functions of the C API that load needs, by name.

use super::{Error, Result};
use libloading::os::unix::Library;
use rmw_shoal::sys::*;
use std::ffi::{c_char, c_void};

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $answer:ty)?;)*) => {
        /// Addresses in a library that stays loaded.
        pub(super) struct Functions {
            $(pub(super) $name: unsafe extern "C" fn($($argument),*) $(-> $answer)?,)*
        }

        impl Functions {
            /// Looks all of them up.
            pub(super) fn of(library: &Library) -> Result<Functions> {
                Ok(Functions {
                    $($name: {
                        let name = stringify!($name);
                        // SAFETY: the signature is the one that the rmw headers give this name.
                        let symbol = unsafe { library.get(name.as_bytes()) };
                        *symbol.map_err(|source| Error::Load { what: name.to_owned(), source })?
                    },)*
                })
            }
        }
    };
}

functions! {
    rmw_init_options_init(*mut rmw_init_options_t, rcutils_allocator_t) -> rmw_ret_t;
    rmw_init_options_fini(*mut rmw_init_options_t) -> rmw_ret_t;
    rmw_init(*const rmw_init_options_t, *mut rmw_context_t) -> rmw_ret_t;
    rmw_shutdown(*mut rmw_context_t) -> rmw_ret_t;
    rmw_context_fini(*mut rmw_context_t) -> rmw_ret_t;
    rmw_create_node(*mut rmw_context_t, *const c_char, *const c_char) -> *mut rmw_node_t;
    rmw_destroy_node(*mut rmw_node_t) -> rmw_ret_t;
    rmw_create_publisher(*const rmw_node_t, *const rosidl_message_type_support_t, *const c_char, *const rmw_qos_profile_t, *const rmw_publisher_options_t) -> *mut rmw_publisher_t;
    rmw_destroy_publisher(*mut rmw_node_t, *mut rmw_publisher_t) -> rmw_ret_t;
    rmw_publish(*const rmw_publisher_t, *const c_void, *mut rmw_publisher_allocation_t) -> rmw_ret_t;
    rmw_publisher_count_matched_subscriptions(*const rmw_publisher_t, *mut usize) -> rmw_ret_t;
    rmw_create_subscription(*const rmw_node_t, *const rosidl_message_type_support_t, *const c_char, *const rmw_qos_profile_t, *const rmw_subscription_options_t) -> *mut rmw_subscription_t;
    rmw_destroy_subscription(*mut rmw_node_t, *mut rmw_subscription_t) -> rmw_ret_t;
    rmw_subscription_count_matched_publishers(*const rmw_subscription_t, *mut usize) -> rmw_ret_t;
    rmw_take(*const rmw_subscription_t, *mut c_void, *mut bool, *mut rmw_subscription_allocation_t) -> rmw_ret_t;
    rmw_create_service(*const rmw_node_t, *const rosidl_service_type_support_t, *const c_char, *const rmw_qos_profile_t) -> *mut rmw_service_t;
    rmw_destroy_service(*mut rmw_node_t, *mut rmw_service_t) -> rmw_ret_t;
    rmw_take_request(*const rmw_service_t, *mut rmw_service_info_t, *mut c_void, *mut bool) -> rmw_ret_t;
    rmw_send_response(*const rmw_service_t, *mut rmw_request_id_t, *mut c_void) -> rmw_ret_t;
    rmw_create_client(*const rmw_node_t, *const rosidl_service_type_support_t, *const c_char, *const rmw_qos_profile_t) -> *mut rmw_client_t;
    rmw_destroy_client(*mut rmw_node_t, *mut rmw_client_t) -> rmw_ret_t;
    rmw_send_request(*const rmw_client_t, *const c_void, *mut i64) -> rmw_ret_t;
    rmw_take_response(*const rmw_client_t, *mut rmw_service_info_t, *mut c_void, *mut bool) -> rmw_ret_t;
    rmw_service_server_is_available(*const rmw_node_t, *const rmw_client_t, *mut bool) -> rmw_ret_t;
    rmw_create_guard_condition(*mut rmw_context_t) -> *mut rmw_guard_condition_t;
    rmw_destroy_guard_condition(*mut rmw_guard_condition_t) -> rmw_ret_t;
    rmw_trigger_guard_condition(*const rmw_guard_condition_t) -> rmw_ret_t;
    rmw_create_wait_set(*mut rmw_context_t, usize) -> *mut rmw_wait_set_t;
    rmw_destroy_wait_set(*mut rmw_wait_set_t) -> rmw_ret_t;
    rmw_wait(*mut rmw_subscriptions_t, *mut rmw_guard_conditions_t, *mut rmw_services_t, *mut rmw_clients_t, *mut rmw_events_t, *mut rmw_wait_set_t, *const rmw_time_t) -> rmw_ret_t;
}
