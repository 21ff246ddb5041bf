//! rmw/rmw.h: memory set aside for later calls.
//!
//! Refused whatever the arguments are: this is how callers, the conformance suite among them, ask whether it is there.

use crate::boundary::exports;
use crate::entry::refusals::refuse;
use crate::sys;

exports! {
    /// Sets memory aside for publishing.
    fn rmw_init_publisher_allocation(
        type_support: *const sys::rosidl_message_type_support_t,
        message_bounds: *const sys::rosidl_runtime_c__Sequence__bound,
        allocation: *mut sys::rmw_publisher_allocation_t,
    ) -> sys::rmw_ret_t = |_types, _bounds, _out| Err(refuse("rmw_init_publisher_allocation"));
    /// Frees what was set aside for publishing.
    fn rmw_fini_publisher_allocation(allocation: *mut sys::rmw_publisher_allocation_t) -> sys::rmw_ret_t
        = |_allocation| Err(refuse("rmw_fini_publisher_allocation"));
    /// Sets memory aside for taking.
    fn rmw_init_subscription_allocation(
        type_support: *const sys::rosidl_message_type_support_t,
        message_bounds: *const sys::rosidl_runtime_c__Sequence__bound,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = |_types, _bounds, _out| Err(refuse("rmw_init_subscription_allocation"));
    /// Frees what was set aside for taking.
    fn rmw_fini_subscription_allocation(allocation: *mut sys::rmw_subscription_allocation_t) -> sys::rmw_ret_t
        = |_allocation| Err(refuse("rmw_fini_subscription_allocation"));
    /// The largest serialized size of a message within bounds.
    fn rmw_get_serialized_message_size(
        type_support: *const sys::rosidl_message_type_support_t,
        message_bounds: *const sys::rosidl_runtime_c__Sequence__bound,
        size: *mut usize,
    ) -> sys::rmw_ret_t = |_types, _bounds, _size| Err(refuse("rmw_get_serialized_message_size"));
}
