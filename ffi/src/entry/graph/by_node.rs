//! rmw/get_node_info_and_types.h: what one node has.

use std::ffi::c_char;

use shoal_rmw::{graph, Kind};

use crate::boundary::{exports, Failure, In, InOut};
use crate::strings::{allocator, check_no_names, names_and_types};
use crate::{names, sys};

exports! {
    /// Topics to which a node subscribes.
    fn rmw_get_subscriber_names_and_types_by_node(
        node: *const sys::rmw_node_t,
        allocator: *mut sys::rcutils_allocator_t,
        node_name: *const c_char,
        node_namespace: *const c_char,
        no_demangle: bool,
        topic_names_and_types: *mut sys::rmw_names_and_types_t,
    ) -> sys::rmw_ret_t = |node, allocator, name, namespace, _no_demangle, out| {
        query(Query { node, allocator, name, namespace, out }, Kind::Subscription)
    };
    /// Topics on which a node publishes.
    fn rmw_get_publisher_names_and_types_by_node(
        node: *const sys::rmw_node_t,
        allocator: *mut sys::rcutils_allocator_t,
        node_name: *const c_char,
        node_namespace: *const c_char,
        no_demangle: bool,
        topic_names_and_types: *mut sys::rmw_names_and_types_t,
    ) -> sys::rmw_ret_t = |node, allocator, name, namespace, _no_demangle, out| {
        query(Query { node, allocator, name, namespace, out }, Kind::Publisher)
    };
    /// Services that a node serves.
    fn rmw_get_service_names_and_types_by_node(
        node: *const sys::rmw_node_t,
        allocator: *mut sys::rcutils_allocator_t,
        node_name: *const c_char,
        node_namespace: *const c_char,
        service_names_and_types: *mut sys::rmw_names_and_types_t,
    ) -> sys::rmw_ret_t = |node, allocator, name, namespace, out| {
        query(Query { node, allocator, name, namespace, out }, Kind::Service)
    };
    /// Services that a node has clients of.
    fn rmw_get_client_names_and_types_by_node(
        node: *const sys::rmw_node_t,
        allocator: *mut sys::rcutils_allocator_t,
        node_name: *const c_char,
        node_namespace: *const c_char,
        service_names_and_types: *mut sys::rmw_names_and_types_t,
    ) -> sys::rmw_ret_t = |node, allocator, name, namespace, out| {
        query(Query { node, allocator, name, namespace, out }, Kind::Client)
    };
}

struct Query<'call> {
    node: In<'call, sys::rmw_node_t>,
    allocator: InOut<'call, sys::rcutils_allocator_t>,
    name: In<'call, c_char>,
    namespace: In<'call, c_char>,
    out: InOut<'call, sys::rmw_names_and_types_t>,
}

fn query(asked: Query<'_>, kind: Kind) -> Result<(), Failure> {
    let node = asked.node.handle()?;
    let memory = allocator(asked.allocator)?;
    let (name, namespace) = (names::node_name(asked.name)?, names::namespace(asked.namespace)?);
    check_no_names(asked.out)?;
    let found = graph::by_node(node.node.context(), name, namespace, kind)?;
    asked.out.write(names_and_types(&found, &memory)?)
}
