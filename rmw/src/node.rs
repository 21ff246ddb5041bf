//! Nodes: names in the graph, and the graph's guard condition.

use std::sync::Arc;

use shoal_registry::{Kind, Qos, Registration, SlotId};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::guard_condition::GuardCondition;

/// Longest node name, and longest namespace, in bytes (`RMW_NODE_NAME_MAX_NAME_LENGTH`).
const NODE_NAME_MAX: usize = 255;

/// A node in the graph.
pub struct Node {
    context: Arc<Context>,
    slot: SlotId,
    graph: Arc<GuardCondition>,
}

impl Node {
    /// Enters a node into the graph. Several nodes may share a name.
    ///
    /// # Errors
    /// A name is over-long, or the registry is full.
    pub fn new(context: &Arc<Context>, name: &str, namespace: &str) -> Result<Arc<Self>> {
        context.check()?;
        for (what, text) in [("node name", name), ("namespace", namespace)] {
            if text.is_empty() || text.len() > NODE_NAME_MAX {
                return Err(Error::InvalidArgument(format!(
                    "{what} '{text}' has {} bytes; it must have 1 to {NODE_NAME_MAX}",
                    text.len()
                )));
            }
        }
        let registration = Registration {
            kind: Kind::Node,
            name,
            type_name: namespace,
            node: None,
            type_hash: (0, [0; 32]),
            qos: Qos::default(),
            endpoint: context.next_endpoint(),
            flags: 0,
        };
        let registry = context.registry();
        let slot =
            registry.claim(&registration).map_err(|source| Error::Claim { what: format!("node '{name}'"), source })?;
        registry.publish(slot);
        Ok(Arc::new(Self { context: context.clone(), slot, graph: GuardCondition::graph(context) }))
    }

    /// The condition that every change of the graph sets.
    pub fn graph_guard(&self) -> &Arc<GuardCondition> {
        &self.graph
    }

    /// The context the node belongs to.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(crate) fn slot(&self) -> SlotId {
        self.slot
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.context.is_usable() {
            self.context.registry().withdraw(self.slot);
            self.context.collect_drained();
        }
    }
}
