//! The C API of an RMW that is loaded by path.

use std::ffi::{c_char, c_void};
use std::path::Path;

use libloading::Library;
use rmw_shoal::sys;

use crate::error::{Error, Result};

type Ret = sys::rmw_ret_t;
type Message = sys::rosidl_message_type_support_t;
type Service = sys::rosidl_service_type_support_t;

macro_rules! api {
    ($(fn $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of one RMW, by their names in `rmw/rmw.h`.
        #[allow(missing_docs)]
        pub struct Api {
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// Declared last: the functions lie in it.
            _library: Library,
        }

        impl Api {
            /// Loads a library and finds the functions in it.
            ///
            /// # Errors
            /// There is no such library, or it lacks one of the functions.
            pub fn load(path: &Path) -> Result<Api> {
                let fail = |source| Error::Load { path: path.to_owned(), source };
                // SAFETY: an RMW plugin, which the user named to be run; its constructors are meant for this. The types
                // are those of the installed headers.
                unsafe {
                    let library = Library::new(path).map_err(fail)?;
                    Ok(Api {
                        $($name: *library.get(concat!(stringify!($name), "\0").as_bytes()).map_err(fail)?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

api! {
    fn rmw_init_options_init(*mut sys::rmw_init_options_t, sys::rcutils_allocator_t) -> Ret;
    fn rmw_init_options_fini(*mut sys::rmw_init_options_t) -> Ret;
    fn rmw_init(*const sys::rmw_init_options_t, *mut sys::rmw_context_t) -> Ret;
    fn rmw_shutdown(*mut sys::rmw_context_t) -> Ret;
    fn rmw_context_fini(*mut sys::rmw_context_t) -> Ret;
    fn rmw_create_node(*mut sys::rmw_context_t, *const c_char, *const c_char) -> *mut sys::rmw_node_t;
    fn rmw_destroy_node(*mut sys::rmw_node_t) -> Ret;
    fn rmw_get_node_names(*const sys::rmw_node_t, *mut sys::rcutils_string_array_t, *mut sys::rcutils_string_array_t) -> Ret;
    fn rmw_create_publisher(*const sys::rmw_node_t, *const Message, *const c_char, *const sys::rmw_qos_profile_t, *const sys::rmw_publisher_options_t) -> *mut sys::rmw_publisher_t;
    fn rmw_destroy_publisher(*mut sys::rmw_node_t, *mut sys::rmw_publisher_t) -> Ret;
    fn rmw_publisher_count_matched_subscriptions(*const sys::rmw_publisher_t, *mut usize) -> Ret;
    fn rmw_publish(*const sys::rmw_publisher_t, *const c_void, *mut sys::rmw_publisher_allocation_t) -> Ret;
    fn rmw_borrow_loaned_message(*const sys::rmw_publisher_t, *const Message, *mut *mut c_void) -> Ret;
    fn rmw_publish_loaned_message(*const sys::rmw_publisher_t, *mut c_void, *mut sys::rmw_publisher_allocation_t) -> Ret;
    fn rmw_create_subscription(*const sys::rmw_node_t, *const Message, *const c_char, *const sys::rmw_qos_profile_t, *const sys::rmw_subscription_options_t) -> *mut sys::rmw_subscription_t;
    fn rmw_destroy_subscription(*mut sys::rmw_node_t, *mut sys::rmw_subscription_t) -> Ret;
    fn rmw_subscription_count_matched_publishers(*const sys::rmw_subscription_t, *mut usize) -> Ret;
    fn rmw_take(*const sys::rmw_subscription_t, *mut c_void, *mut bool, *mut sys::rmw_subscription_allocation_t) -> Ret;
    fn rmw_take_loaned_message(*const sys::rmw_subscription_t, *mut *mut c_void, *mut bool, *mut sys::rmw_subscription_allocation_t) -> Ret;
    fn rmw_return_loaned_message_from_subscription(*const sys::rmw_subscription_t, *mut c_void) -> Ret;
    fn rmw_create_service(*const sys::rmw_node_t, *const Service, *const c_char, *const sys::rmw_qos_profile_t) -> *mut sys::rmw_service_t;
    fn rmw_destroy_service(*mut sys::rmw_node_t, *mut sys::rmw_service_t) -> Ret;
    fn rmw_create_client(*const sys::rmw_node_t, *const Service, *const c_char, *const sys::rmw_qos_profile_t) -> *mut sys::rmw_client_t;
    fn rmw_destroy_client(*mut sys::rmw_node_t, *mut sys::rmw_client_t) -> Ret;
    fn rmw_service_server_is_available(*const sys::rmw_node_t, *const sys::rmw_client_t, *mut bool) -> Ret;
    fn rmw_send_request(*const sys::rmw_client_t, *const c_void, *mut i64) -> Ret;
    fn rmw_take_request(*const sys::rmw_service_t, *mut sys::rmw_service_info_t, *mut c_void, *mut bool) -> Ret;
    fn rmw_send_response(*const sys::rmw_service_t, *mut sys::rmw_request_id_t, *mut c_void) -> Ret;
    fn rmw_take_response(*const sys::rmw_client_t, *mut sys::rmw_service_info_t, *mut c_void, *mut bool) -> Ret;
    fn rmw_create_guard_condition(*mut sys::rmw_context_t) -> *mut sys::rmw_guard_condition_t;
    fn rmw_destroy_guard_condition(*mut sys::rmw_guard_condition_t) -> Ret;
    fn rmw_trigger_guard_condition(*const sys::rmw_guard_condition_t) -> Ret;
    fn rmw_create_wait_set(*mut sys::rmw_context_t, usize) -> *mut sys::rmw_wait_set_t;
    fn rmw_destroy_wait_set(*mut sys::rmw_wait_set_t) -> Ret;
    fn rmw_wait(*mut sys::rmw_subscriptions_t, *mut sys::rmw_guard_conditions_t, *mut sys::rmw_services_t, *mut sys::rmw_clients_t, *mut sys::rmw_events_t, *mut sys::rmw_wait_set_t, *const sys::rmw_time_t) -> Ret;
}
