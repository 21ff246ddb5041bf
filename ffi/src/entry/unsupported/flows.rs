//! rmw/get_network_flow_endpoints.h

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::refusals::refuse;
use crate::handle::Handle;
use crate::sys;

exports! {
    /// The network flows of a publisher.
    fn rmw_publisher_get_network_flow_endpoints(
        publisher: *const sys::rmw_publisher_t,
        allocator: *mut sys::rcutils_allocator_t,
        network_flow_endpoint_array: *mut sys::rmw_network_flow_endpoint_array_t,
    ) -> sys::rmw_ret_t = |handle, allocator, out| {
        get("rmw_publisher_get_network_flow_endpoints", handle, allocator, out)
    };
    /// The network flows of a subscription.
    fn rmw_subscription_get_network_flow_endpoints(
        subscription: *const sys::rmw_subscription_t,
        allocator: *mut sys::rcutils_allocator_t,
        network_flow_endpoint_array: *mut sys::rmw_network_flow_endpoint_array_t,
    ) -> sys::rmw_ret_t = |handle, allocator, out| {
        get("rmw_subscription_get_network_flow_endpoints", handle, allocator, out)
    };
}

fn get<T: Handle>(
    name: &str,
    handle: In<T>,
    allocator: InOut<sys::rcutils_allocator_t>,
    out: InOut<sys::rmw_network_flow_endpoint_array_t>,
) -> Result<(), Failure> {
    handle.handle()?;
    allocator.pointer()?;
    out.pointer()?;
    Err(refuse(name))
}
