//! rmw/rmw.h: publishers.

use std::ffi::c_char;

use shoal_rmw::{graph, Kind, Publisher, Qos};

use super::gid::to_gid;
use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::{NodeData, PublisherData};
use crate::{names, qos, sys};

exports! {
    /// Creates a publisher and enters it into the graph.
    fn rmw_create_publisher(
        node: *const sys::rmw_node_t,
        type_support: *const sys::rosidl_message_type_support_t,
        topic_name: *const c_char,
        qos_profile: *const sys::rmw_qos_profile_t,
        publisher_options: *const sys::rmw_publisher_options_t,
    ) -> *mut sys::rmw_publisher_t = create;
    /// Takes a publisher out of the graph and frees it.
    fn rmw_destroy_publisher(node: *mut sys::rmw_node_t, publisher: *mut sys::rmw_publisher_t) -> sys::rmw_ret_t
        = destroy;
    /// Number of subscriptions that match.
    fn rmw_publisher_count_matched_subscriptions(
        publisher: *const sys::rmw_publisher_t,
        subscription_count: *mut usize,
    ) -> sys::rmw_ret_t = count_matched;
    /// The profile in use.
    fn rmw_publisher_get_actual_qos(
        publisher: *const sys::rmw_publisher_t,
        qos: *mut sys::rmw_qos_profile_t,
    ) -> sys::rmw_ret_t = actual_qos;
    /// The publisher's identity, unique in the domain.
    fn rmw_get_gid_for_publisher(publisher: *const sys::rmw_publisher_t, gid: *mut sys::rmw_gid_t) -> sys::rmw_ret_t
        = own_gid;
    /// Says that the publisher is alive, which under automatic liveliness its process says.
    fn rmw_publisher_assert_liveliness(publisher: *const sys::rmw_publisher_t) -> sys::rmw_ret_t = assert_liveliness;
    /// Waits until what was published has reached every reader: a sample lies where they read it when publishing
    /// returns, so there is nothing to wait for.
    fn rmw_publisher_wait_for_all_acked(
        publisher: *const sys::rmw_publisher_t,
        wait_timeout: sys::rmw_time_t,
    ) -> sys::rmw_ret_t = wait_for_all_acked;
}

fn create(
    node: In<sys::rmw_node_t>,
    type_support: In<sys::rosidl_message_type_support_t>,
    topic: In<c_char>,
    profile: In<sys::rmw_qos_profile_t>,
    options: In<sys::rmw_publisher_options_t>,
) -> Result<*mut sys::rmw_publisher_t, Failure> {
    let context = node.get()?.context;
    let node = node.handle()?;
    let type_support_at = type_support.pointer()?;
    let (profile, options) = (*profile.get()?, *options.get()?);
    let topic = names::endpoint(topic, &profile)?;
    super::check_network_flows("rmw_create_publisher", options.require_unique_network_flow_endpoints)?;
    let message = super::message_type(type_support)?;
    let qos = settle(node, topic, profile)?;
    let publisher = Publisher::new(&node.node, topic, super::message_info(&message), qos)?;
    let topic = names::to_c(topic)?;
    Ok(PublisherData { publisher, message, type_support: type_support_at, context, topic }.expose(options))
}

fn settle(node: &NodeData, topic: &str, mut profile: sys::rmw_qos_profile_t) -> Result<Qos, Failure> {
    if qos::wants_best_available(&profile) {
        let peers = graph::endpoints(node.node.context(), Kind::Subscription, topic)?;
        let requested: Vec<Qos> = peers.iter().map(|peer| peer.qos).collect();
        qos::for_publisher(&mut profile, &requested);
    }
    qos::resolve(&profile)
}

fn destroy(node: InOut<sys::rmw_node_t>, publisher: InOut<sys::rmw_publisher_t>) -> Result<(), Failure> {
    node.handle()?;
    drop(publisher.reclaim()?);
    Ok(())
}

fn count_matched(publisher: In<sys::rmw_publisher_t>, count: InOut<usize>) -> Result<(), Failure> {
    let publisher = publisher.handle()?;
    count.pointer()?;
    count.write(publisher.publisher.matched_subscriptions()?)
}

fn actual_qos(publisher: In<sys::rmw_publisher_t>, profile: InOut<sys::rmw_qos_profile_t>) -> Result<(), Failure> {
    profile.write(qos::to_profile(publisher.handle()?.publisher.qos()))
}

fn own_gid(publisher: In<sys::rmw_publisher_t>, gid: InOut<sys::rmw_gid_t>) -> Result<(), Failure> {
    gid.write(to_gid(publisher.handle()?.publisher.gid()))
}

fn assert_liveliness(publisher: In<sys::rmw_publisher_t>) -> Result<(), Failure> {
    Ok(publisher.handle()?.publisher.assert_liveliness()?)
}

fn wait_for_all_acked(publisher: In<sys::rmw_publisher_t>, _timeout: sys::rmw_time_t) -> Result<(), Failure> {
    publisher.handle()?;
    Ok(())
}
