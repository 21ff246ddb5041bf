//! rmw/rmw.h: nodes.

use std::ffi::c_char;

use shoal_rmw::Node;

use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::NodeData;
use crate::names;
use crate::sys;

exports! {
    /// Creates a node and enters it into the graph.
    fn rmw_create_node(
        context: *mut sys::rmw_context_t,
        name: *const c_char,
        namespace_: *const c_char,
    ) -> *mut sys::rmw_node_t = create;
    /// Takes a node out of the graph and frees it.
    fn rmw_destroy_node(node: *mut sys::rmw_node_t) -> sys::rmw_ret_t = destroy;
    /// The guard condition that is triggered when the graph changes; it belongs to the node.
    fn rmw_node_get_graph_guard_condition(node: *const sys::rmw_node_t) -> *const sys::rmw_guard_condition_t
        = graph_guard;
}

fn create(
    context: InOut<sys::rmw_context_t>,
    name: In<c_char>,
    namespace: In<c_char>,
) -> Result<*mut sys::rmw_node_t, Failure> {
    let running = context.shared().running()?;
    let (name, namespace) = (names::node_name(name)?, names::namespace(namespace)?);
    let (c_name, c_namespace) = (names::to_c(name)?, names::to_c(namespace)?);
    let node = Node::new(running, name, namespace)?;
    Ok(NodeData::expose(node, context.pointer()?, c_name, c_namespace))
}

fn destroy(node: InOut<sys::rmw_node_t>) -> Result<(), Failure> {
    drop(node.reclaim()?);
    Ok(())
}

fn graph_guard(node: In<sys::rmw_node_t>) -> Result<*const sys::rmw_guard_condition_t, Failure> {
    Ok(node.handle()?.graph_guard())
}
