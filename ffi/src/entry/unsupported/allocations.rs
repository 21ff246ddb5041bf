//! rmw/rmw.h: memory set aside for later calls.

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::later::refuse;
use crate::sys;

exports! {
    /// Sets memory aside for publishing.
    fn rmw_init_publisher_allocation(
        type_support: *const sys::rosidl_message_type_support_t,
        message_bounds: *const sys::rosidl_runtime_c__Sequence__bound,
        allocation: *mut sys::rmw_publisher_allocation_t,
    ) -> sys::rmw_ret_t = |types, bounds, out| init("rmw_init_publisher_allocation", types, bounds, out);
    /// Frees what was set aside for publishing.
    fn rmw_fini_publisher_allocation(allocation: *mut sys::rmw_publisher_allocation_t) -> sys::rmw_ret_t
        = |allocation| fini("rmw_fini_publisher_allocation", allocation);
    /// Sets memory aside for taking.
    fn rmw_init_subscription_allocation(
        type_support: *const sys::rosidl_message_type_support_t,
        message_bounds: *const sys::rosidl_runtime_c__Sequence__bound,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = |types, bounds, out| init("rmw_init_subscription_allocation", types, bounds, out);
    /// Frees what was set aside for taking.
    fn rmw_fini_subscription_allocation(allocation: *mut sys::rmw_subscription_allocation_t) -> sys::rmw_ret_t
        = |allocation| fini("rmw_fini_subscription_allocation", allocation);
    /// The largest serialized size of a message within bounds.
    fn rmw_get_serialized_message_size(
        type_support: *const sys::rosidl_message_type_support_t,
        message_bounds: *const sys::rosidl_runtime_c__Sequence__bound,
        size: *mut usize,
    ) -> sys::rmw_ret_t = |types, bounds, out| init("rmw_get_serialized_message_size", types, bounds, out);
}

fn init<T>(
    name: &str,
    type_support: In<sys::rosidl_message_type_support_t>,
    bounds: In<sys::rosidl_runtime_c__Sequence__bound>,
    out: InOut<T>,
) -> Result<(), Failure> {
    type_support.pointer()?;
    bounds.pointer()?;
    out.pointer()?;
    Err(refuse(name))
}

fn fini<T>(name: &str, allocation: InOut<T>) -> Result<(), Failure> {
    allocation.pointer()?;
    Err(refuse(name))
}
