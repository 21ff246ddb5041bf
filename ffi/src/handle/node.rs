//! `rmw_node_t`.

use std::ffi::CString;
use std::sync::Arc;

use shoal_rmw::Node;

use super::{expose, handle, GuardConditionData, IDENTIFIER};
use crate::sys;

/// The private part of a node.
pub struct NodeData {
    /// The node.
    pub node: Arc<Node>,
    name: CString,
    namespace: CString,
    graph_guard: *mut sys::rmw_guard_condition_t,
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
        let guard = GuardConditionData { guard: Arc::clone(node.graph_guard()), of_node: true };
        let data = NodeData { node, name, namespace, graph_guard: guard.expose(context) };
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
        self.graph_guard
    }
}

impl Drop for NodeData {
    fn drop(&mut self) {
        // SAFETY: exposed in the constructor; a guard condition marked `of_node` is reclaimed nowhere else.
        let outer = unsafe { Box::from_raw(self.graph_guard) };
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(outer.data.cast::<GuardConditionData>()) });
    }
}
