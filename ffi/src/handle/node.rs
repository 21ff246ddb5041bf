//! `rmw_node_t`.

use std::ffi::CString;
use std::sync::Arc;

use shoal_rmw::Node;

use super::{expose, handle, OwnedGuard, Owner, IDENTIFIER};
use crate::sys;

/// The private part of a node.
pub struct NodeData {
    /// The node.
    pub node: Arc<Node>,
    name: CString,
    namespace: CString,
    graph_guard: OwnedGuard,
}

handle!(sys::rmw_node_t => NodeData, data, "node");

impl NodeData {
    /// Gives a node to C, with its graph guard condition.
    pub fn expose(
        node: Arc<Node>,
        context: *mut sys::rmw_context_t,
        name: CString,
        namespace: CString,
    ) -> *mut sys::rmw_node_t {
        let graph_guard = OwnedGuard::new(Arc::clone(node.graph_guard()), Owner::Node, context);
        let data = NodeData { node, name, namespace, graph_guard };
        expose::<sys::rmw_node_t>(data, |private, data| sys::rmw_node_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data: private,
            name: data.name.as_ptr(),
            namespace_: data.namespace.as_ptr(),
            context,
        })
    }

    /// The graph guard condition as C sees it, valid as long as the node.
    pub fn graph_guard(&self) -> *const sys::rmw_guard_condition_t {
        self.graph_guard.as_ptr()
    }
}
