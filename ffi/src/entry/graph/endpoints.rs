//! rmw/get_topic_endpoint_info.h: who publishes or subscribes, with type and profile.

use std::ffi::c_char;

use shoal_rmw::graph::{self, EndpointInfo};
use shoal_rmw::Kind;

use crate::boundary::{exports, Failure, In, InOut};
use crate::strings::{allocator, duplicate, not_empty};
use crate::{qos, sys};

exports! {
    /// The publishers of a topic.
    fn rmw_get_publishers_info_by_topic(
        node: *const sys::rmw_node_t,
        allocator: *mut sys::rcutils_allocator_t,
        topic_name: *const c_char,
        no_mangle: bool,
        publishers_info: *mut sys::rmw_topic_endpoint_info_array_t,
    ) -> sys::rmw_ret_t = |node, memory, topic, _no_mangle, out| query(node, memory, topic, out, Kind::Publisher);
    /// The subscriptions of a topic.
    fn rmw_get_subscriptions_info_by_topic(
        node: *const sys::rmw_node_t,
        allocator: *mut sys::rcutils_allocator_t,
        topic_name: *const c_char,
        no_mangle: bool,
        subscriptions_info: *mut sys::rmw_topic_endpoint_info_array_t,
    ) -> sys::rmw_ret_t = |node, memory, topic, _no_mangle, out| query(node, memory, topic, out, Kind::Subscription);
}

type Array = sys::rmw_topic_endpoint_info_array_t;

fn query(
    node: In<sys::rmw_node_t>,
    memory: InOut<sys::rcutils_allocator_t>,
    topic: In<c_char>,
    out: InOut<Array>,
    kind: Kind,
) -> Result<(), Failure> {
    let node = node.handle()?;
    let memory = allocator(memory)?;
    let topic = topic.text()?;
    let held = out.shared().get()?;
    if held.size != 0 || !held.info_array.is_null() {
        return Err(not_empty(out.shared().name(), held.size));
    }
    out.write(array(&graph::endpoints(node.node.context(), kind, topic)?, memory)?)
}

/// The endpoints in an array that the caller frees.
fn array(endpoints: &[EndpointInfo], mut memory: sys::rcutils_allocator_t) -> Result<Array, Failure> {
    // SAFETY: returns a struct by value.
    let mut out = unsafe { sys::rmw_get_zero_initialized_topic_endpoint_info_array() };
    if endpoints.is_empty() {
        return Ok(out);
    }
    // SAFETY: a zero-initialized array and a valid allocator.
    let code = unsafe { sys::rmw_topic_endpoint_info_array_init_with_size(&mut out, endpoints.len(), &mut memory) };
    if code != sys::RMW_RET_OK {
        return Err(Failure::of_library(code, "rmw_topic_endpoint_info_array_init_with_size"));
    }
    for (index, endpoint) in endpoints.iter().enumerate() {
        // SAFETY: init made room for as many entries, zero-initialized.
        let filled = fill(unsafe { &mut *out.info_array.add(index) }, endpoint, &memory);
        if let Err(failure) = filled {
            // SAFETY: initialized; what was not reached is zero. The first error is reported.
            let _ = unsafe { sys::rmw_topic_endpoint_info_array_fini(&mut out, &mut memory) };
            return Err(failure);
        }
    }
    Ok(out)
}

/// Fills one entry. Each string is in place before the next is made, so that a failure leaves nothing to leak.
fn fill(
    entry: &mut sys::rmw_topic_endpoint_info_t,
    endpoint: &EndpointInfo,
    memory: &sys::rcutils_allocator_t,
) -> Result<(), Failure> {
    entry.node_name = duplicate(&endpoint.node_name, memory)?;
    entry.node_namespace = duplicate(&endpoint.node_namespace, memory)?;
    entry.topic_type = duplicate(&endpoint.type_name, memory)?;
    let (version, value) = endpoint.type_hash;
    entry.topic_type_hash = sys::rosidl_type_hash_t { version, value };
    entry.endpoint_type = match endpoint.kind {
        Kind::Publisher => sys::RMW_ENDPOINT_PUBLISHER,
        Kind::Subscription => sys::RMW_ENDPOINT_SUBSCRIPTION,
        Kind::Node | Kind::Service | Kind::Client => sys::RMW_ENDPOINT_INVALID,
    };
    entry.endpoint_gid = endpoint.gid;
    entry.qos_profile = qos::to_profile(&endpoint.qos);
    Ok(())
}
