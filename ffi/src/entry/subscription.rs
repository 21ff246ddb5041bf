//! rmw/rmw.h: subscriptions.

use std::ffi::c_char;

use parking_lot::Mutex;
use shoal_rmw::{graph, Kind, Qos, Subscription, SubscriptionOptions};

use crate::boundary::{exports, Failure, In, InOut};
use crate::content_filter::Condition;
use crate::handle::{NodeData, SubscriptionData};
use crate::{names, qos, sys};

exports! {
    /// Creates a subscription and enters it into the graph.
    fn rmw_create_subscription(
        node: *const sys::rmw_node_t,
        type_support: *const sys::rosidl_message_type_support_t,
        topic_name: *const c_char,
        qos_policies: *const sys::rmw_qos_profile_t,
        subscription_options: *const sys::rmw_subscription_options_t,
    ) -> *mut sys::rmw_subscription_t = create;
    /// Takes a subscription out of the graph and frees it.
    fn rmw_destroy_subscription(
        node: *mut sys::rmw_node_t,
        subscription: *mut sys::rmw_subscription_t,
    ) -> sys::rmw_ret_t = destroy;
    /// Number of publishers that match.
    fn rmw_subscription_count_matched_publishers(
        subscription: *const sys::rmw_subscription_t,
        publisher_count: *mut usize,
    ) -> sys::rmw_ret_t = count_matched;
    /// The profile in use.
    fn rmw_subscription_get_actual_qos(
        subscription: *const sys::rmw_subscription_t,
        qos: *mut sys::rmw_qos_profile_t,
    ) -> sys::rmw_ret_t = actual_qos;
}

fn create(
    node: In<sys::rmw_node_t>,
    type_support: In<sys::rosidl_message_type_support_t>,
    topic: In<c_char>,
    profile: In<sys::rmw_qos_profile_t>,
    options: In<sys::rmw_subscription_options_t>,
) -> Result<*mut sys::rmw_subscription_t, Failure> {
    let node = node.handle()?;
    type_support.pointer()?;
    let (profile, options) = (*profile.get()?, *options.get()?);
    let topic = names::endpoint(topic, &profile)?;
    super::check_network_flows("rmw_create_subscription", options.require_unique_network_flow_endpoints)?;
    let message = super::message_type(type_support)?;
    let qos = settle(node, topic, profile)?;
    let condition = condition(&options)?;
    let filter = condition.as_ref().map(|condition| condition.compile(&message)).transpose()?;
    let own = SubscriptionOptions { ignore_local_publications: options.ignore_local_publications, filter };
    let subscription = Subscription::new(&node.node, topic, super::message_info(&message), qos, own)?;
    let (condition, topic) = (Mutex::new(condition), names::to_c(topic)?);
    Ok(SubscriptionData { subscription, message, condition, topic }.expose(kept(options)))
}

/// The content filter in the options. They may have one without an expression, which is none.
fn condition(options: &sys::rmw_subscription_options_t) -> Result<Option<Condition>, Failure> {
    // SAFETY: NULL, or options of the caller for the duration of the call.
    let given = unsafe { In::from_raw(options.content_filter_options.cast_const(), "content_filter_options") };
    match given.get() {
        Ok(filter) if !filter.filter_expression.is_null() => Condition::read(given),
        _ => Ok(None),
    }
}

/// The options that outlive the call. A content filter in them is the caller's memory; ours is asked for with
/// `rmw_subscription_get_content_filter`.
fn kept(options: sys::rmw_subscription_options_t) -> sys::rmw_subscription_options_t {
    sys::rmw_subscription_options_t { content_filter_options: std::ptr::null_mut(), ..options }
}

fn settle(node: &NodeData, topic: &str, mut profile: sys::rmw_qos_profile_t) -> Result<Qos, Failure> {
    if qos::wants_best_available(&profile) {
        let peers = graph::endpoints(node.node.context(), Kind::Publisher, topic)?;
        let offered: Vec<Qos> = peers.iter().map(|peer| peer.qos).collect();
        qos::for_subscription(&mut profile, &offered);
    }
    qos::resolve(&profile)
}

fn destroy(node: InOut<sys::rmw_node_t>, subscription: InOut<sys::rmw_subscription_t>) -> Result<(), Failure> {
    node.handle()?;
    drop(subscription.reclaim()?);
    Ok(())
}

fn count_matched(subscription: In<sys::rmw_subscription_t>, count: InOut<usize>) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    count.pointer()?;
    count.write(subscription.subscription.matched_publishers()?)
}

fn actual_qos(
    subscription: In<sys::rmw_subscription_t>,
    profile: InOut<sys::rmw_qos_profile_t>,
) -> Result<(), Failure> {
    profile.write(qos::to_profile(subscription.handle()?.subscription.qos()))
}
