//! Graph queries: what is in the registry, as ROS asks for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use shoal_registry::{qos_compatible, Detail, Kind, Qos, SlotId, SlotState};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::matching::Channel;

/// A node in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeName {
    /// Name without namespace.
    pub name: String,
    /// For example `/`.
    pub namespace: String,
    /// Enclave of the node's context.
    pub enclave: String,
}

/// A publisher, subscription, service or client in the graph.
#[derive(Clone, Debug)]
pub struct EndpointInfo {
    /// Name of its node.
    pub node_name: String,
    /// Namespace of its node.
    pub node_namespace: String,
    /// For example `std_msgs/msg/String`.
    pub type_name: String,
    /// REP-2011 type hash.
    pub type_hash: (u8, [u8; 32]),
    /// Identity, unique in the domain.
    pub gid: [u8; 16],
    /// The profile in use.
    pub qos: Qos,
    /// What it is.
    pub kind: Kind,
}

/// Names, each with the sorted types that are used under it.
pub type NamesAndTypes = Vec<(String, Vec<String>)>;

/// The live entries of these kinds, after a look for processes that died.
fn live(context: &Context, kinds: &[Kind]) -> Result<Vec<Detail>> {
    context.check()?;
    context.registry().sweep();
    let entries = context.registry().snapshot_of(kinds).into_iter();
    Ok(entries.filter(|entry| entry.state == SlotState::Live).collect())
}

/// Every node, as often as it is there.
///
/// # Errors
/// The context was shut down or belongs to a parent process.
pub fn node_names(context: &Context) -> Result<Vec<NodeName>> {
    let mut enclaves = HashMap::new();
    let named = live(context, &[Kind::Node])?.into_iter().map(|node| {
        let enclave =
            enclaves.entry(node.ctx).or_insert_with(|| context.registry().enclave_of(node.ctx).unwrap_or_default());
        NodeName { name: node.name, namespace: node.type_name, enclave: enclave.clone() }
    });
    Ok(named.collect())
}

/// Topics that have a publisher or a subscription.
///
/// # Errors
/// The context was shut down or belongs to a parent process.
pub fn topic_names_and_types(context: &Context) -> Result<NamesAndTypes> {
    Ok(collect(live(context, &[Kind::Publisher, Kind::Subscription])?.iter()))
}

/// Services that have a server or a client.
///
/// # Errors
/// The context was shut down or belongs to a parent process.
pub fn service_names_and_types(context: &Context) -> Result<NamesAndTypes> {
    Ok(collect(live(context, &[Kind::Service, Kind::Client])?.iter()))
}

/// What the nodes of one name have of one kind.
///
/// # Errors
/// [`Error::NodeNameNonExistent`] when there is no such node.
pub fn by_node(context: &Context, name: &str, namespace: &str, kind: Kind) -> Result<NamesAndTypes> {
    let live = live(context, &[Kind::Node, kind])?;
    let is_node = |entry: &&Detail| entry.kind == Kind::Node && entry.name == name && entry.type_name == namespace;
    let nodes: Vec<SlotId> = live.iter().filter(is_node).map(|node| node.slot).collect();
    if nodes.is_empty() {
        return Err(Error::NodeNameNonExistent { name: name.into(), namespace: namespace.into() });
    }
    let of_node = |entry: &&Detail| entry.kind == kind && entry.node.is_some_and(|node| nodes.contains(&node));
    Ok(collect(live.iter().filter(of_node)))
}

/// Number of endpoints of one kind under one name, of whatever type.
///
/// # Errors
/// The context was shut down or belongs to a parent process.
pub fn count(context: &Context, kind: Kind, name: &str) -> Result<usize> {
    context.check()?;
    context.registry().sweep();
    let mut slots = Vec::new();
    context.registry().for_each_matching(&[kind], shoal_registry::TopicHash::of(name), 0, &mut |found| {
        if found.state == SlotState::Live {
            slots.push(found.slot);
        }
    });
    let named = slots.into_iter().filter_map(|slot| context.registry().detail(slot));
    Ok(named.filter(|entry| entry.name == name).count())
}

/// The endpoints of one kind under one name.
///
/// # Errors
/// The context was shut down or belongs to a parent process.
pub fn endpoints(context: &Context, kind: Kind, topic: &str) -> Result<Vec<EndpointInfo>> {
    let live = live(context, &[Kind::Node, kind])?;
    let nodes: HashMap<SlotId, &Detail> =
        live.iter().filter(|entry| entry.kind == Kind::Node).map(|node| (node.slot, node)).collect();
    let wanted = live.iter().filter(|entry| entry.kind == kind && entry.name == topic);
    let described = wanted.map(|entry| {
        let node = entry.node.and_then(|node| nodes.get(&node));
        EndpointInfo {
            node_name: node.map(|node| node.name.clone()).unwrap_or_default(),
            node_namespace: node.map(|node| node.type_name.clone()).unwrap_or_default(),
            type_name: entry.type_name.clone(),
            type_hash: entry.type_hash,
            gid: entry.gid,
            qos: entry.qos,
            kind,
        }
    });
    Ok(described.collect())
}

/// Number of live endpoints of `kind` that match an endpoint with this channel and profile. Allocates nothing, as the
/// conformance suite asks of the functions that call it.
pub(crate) fn matched(context: &Arc<Context>, kind: Kind, channel: Channel, own: &Qos) -> Result<usize> {
    context.check()?;
    let registry = context.registry();
    registry.sweep();
    let matches = |peer: &Qos| match kind {
        Kind::Publisher | Kind::Client => qos_compatible(peer, own).is_ok(),
        Kind::Node | Kind::Subscription | Kind::Service => qos_compatible(own, peer).is_ok(),
    };
    let mut count = 0;
    registry.for_each_matching(&[kind], channel.topic, channel.match_key, &mut |found| {
        let is_match = found.state == SlotState::Live && registry.qos_of(found.slot).is_some_and(|q| matches(&q));
        count += usize::from(is_match);
    });
    Ok(count)
}

fn collect<'a>(entries: impl Iterator<Item = &'a Detail>) -> NamesAndTypes {
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in entries {
        names.entry(&entry.name).or_default().insert(&entry.type_name);
    }
    let owned =
        |(name, types): (&str, BTreeSet<&str>)| (name.to_string(), types.into_iter().map(str::to_string).collect());
    names.into_iter().map(owned).collect()
}
