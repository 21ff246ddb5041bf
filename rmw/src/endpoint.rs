//! What publishers, subscriptions, services and clients have in common: their entry in the graph.

use std::sync::Arc;

use shoal_registry::{match_key, History, Kind, Qos, Registration, SlotId, TopicHash};

pub(crate) use shoal_registry::{KEEP_ALL_DEPTH, SERVICE_DEPTH};

use crate::error::{Error, Result};
use crate::matching::Channel;
use crate::message::TypeInfo;
use crate::node::Node;

/// Longest topic or service name in bytes (`RMW_TOPIC_MAX_NAME_LENGTH`).
const TOPIC_NAME_MAX: usize = 247;

/// Registration flag of a subscription that takes nothing of its own context.
pub(crate) const FLAG_IGNORE_LOCAL: u64 = 1;

/// `rmw_qos_profile_services_default`'s depth.
const SERVICES_DEFAULT_DEPTH: u32 = 10;

/// How many unread requests a service keeps of each client, and responses a client of each service: fewer than the
/// default profile's depth only where somebody asked for that. Nobody chose the default, and who calls ten times and once
/// more wants an answer to each.
pub(crate) fn unread_per_peer(qos: &Qos) -> u32 {
    match qos.history {
        History::KeepLast if qos.depth < SERVICES_DEFAULT_DEPTH => qos.depth.max(1),
        _ => SERVICE_DEPTH,
    }
}

/// An endpoint as it enters the graph.
pub(crate) struct Entry<'a> {
    pub(crate) kind: Kind,
    pub(crate) name: &'a str,
    pub(crate) ty: &'a TypeInfo,
    pub(crate) qos: &'a Qos,
    pub(crate) flags: u64,
}

/// An endpoint that is in the registry, but not yet in the graph.
pub(crate) struct Entered {
    pub(crate) slot: SlotId,
    pub(crate) channel: Channel,
    pub(crate) endpoint: u32,
}

/// Claims a registry slot; the caller publishes it when it is ready.
pub(crate) fn enter(node: &Arc<Node>, entry: Entry<'_>) -> Result<Entered> {
    let context = node.context();
    context.check()?;
    context.collect_drained();
    let Entry { kind, name, ty, qos, flags } = entry;
    if name.is_empty() || name.len() > TOPIC_NAME_MAX {
        return Err(Error::InvalidArgument(format!(
            "the name '{name}' has {} bytes; topic and service names must have 1 to {TOPIC_NAME_MAX}",
            name.len()
        )));
    }
    let endpoint = context.next_endpoint();
    let registration = Registration {
        kind,
        name,
        type_name: &ty.name,
        node: Some(node.slot()),
        type_hash: ty.hash,
        qos: *qos,
        endpoint,
        flags,
    };
    let slot = context
        .registry()
        .claim(&registration)
        .map_err(|source| Error::Claim { what: format!("{kind:?} '{name}'").to_lowercase(), source })?;
    let channel = Channel { topic: TopicHash::of(name), match_key: match_key(name, &ty.name, &ty.hash) };
    Ok(Entered { slot, channel, endpoint })
}
