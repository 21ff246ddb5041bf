//! rmw/rmw.h: how many there are.

use std::ffi::c_char;

use shoal_rmw::{graph, Kind};

use crate::boundary::{exports, Failure, In, InOut};
use crate::{names, sys};

exports! {
    /// Number of publishers of a topic.
    fn rmw_count_publishers(node: *const sys::rmw_node_t, topic_name: *const c_char, count: *mut usize)
        -> sys::rmw_ret_t = |node, name, out| count_of(node, name, out, Kind::Publisher);
    /// Number of subscriptions of a topic.
    fn rmw_count_subscribers(node: *const sys::rmw_node_t, topic_name: *const c_char, count: *mut usize)
        -> sys::rmw_ret_t = |node, name, out| count_of(node, name, out, Kind::Subscription);
    /// Number of clients of a service.
    fn rmw_count_clients(node: *const sys::rmw_node_t, service_name: *const c_char, count: *mut usize)
        -> sys::rmw_ret_t = |node, name, out| count_of(node, name, out, Kind::Client);
    /// Number of servers of a service.
    fn rmw_count_services(node: *const sys::rmw_node_t, service_name: *const c_char, count: *mut usize)
        -> sys::rmw_ret_t = |node, name, out| count_of(node, name, out, Kind::Service);
}

fn count_of(node: In<sys::rmw_node_t>, name: In<c_char>, out: InOut<usize>, kind: Kind) -> Result<(), Failure> {
    let node = node.handle()?;
    let name = names::full(name)?;
    out.pointer()?;
    out.write(graph::count(node.node.context(), kind, name)?)
}
