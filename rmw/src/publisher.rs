//! Publishers.

use std::sync::Arc;

use shoal_registry::{gid, Durability, Kind, Qos, Registry};

use crate::endpoint::{enter, Entry};
use crate::error::Result;
use crate::events::{Assertions, Endpoint, Offered, PeerEvents};
use crate::graph;
use crate::matching::kept;
use crate::message::{Outgoing, TypeInfo};
use crate::node::Node;
use crate::outlet::{Outlet, OutletPlan};

/// Sends the samples of one topic.
pub struct Publisher {
    outlet: Outlet,
    gid: [u8; 16],
    peers: PeerEvents,
    offered: Offered,
    assertions: Assertions,
    // Keeps the node in the graph for as long as its publisher is.
    _node: Arc<Node>,
}

impl Publisher {
    /// Creates a publisher and enters it into the graph.
    ///
    /// # Errors
    /// A name is over-long, or the registry is full.
    pub fn new(node: &Arc<Node>, topic: &str, ty: TypeInfo, qos: Qos) -> Result<Arc<Self>> {
        let entered = enter(node, Entry { kind: Kind::Publisher, name: topic, ty: &ty, qos: &qos, flags: 0 })?;
        let context = node.context();
        context.registry().publish(entered.slot);
        let plan = OutletPlan {
            slot: entered.slot,
            channel: entered.channel,
            readers: Kind::Subscription,
            history: retained(&qos),
            least_unread: 0,
            qos,
            fixed_size: ty.fixed_size,
        };
        let gid = gid(context.registry().context_id(), Kind::Publisher, entered.endpoint);
        let (peers, offered) = (PeerEvents::new(topic), Offered::new(&plan.qos));
        let assertions = Assertions::new(&plan.qos);
        Ok(Arc::new(Self { outlet: Outlet::new(context, plan), gid, peers, offered, assertions, _node: node.clone() }))
    }

    /// Sends one sample to every matched subscription. The result is its sequence number, from 1.
    ///
    /// # Errors
    /// The message cannot be serialized, or there is no shared memory for it; nothing was sent then.
    pub fn publish(&self, message: &dyn Outgoing) -> Result<u64> {
        self.outlet.context().check()?;
        let revived = self.assertions.assert(self.outlet.hot()?);
        let sequence = self.outlet.send(message)?;
        if self.offered.published() || revived {
            // Whoever waits for this publisher's deadline or lease sleeps without an alarm until now.
            self.registry().doorbell().ring();
        }
        Ok(sequence)
    }

    /// Says that the publisher is alive, which an automatic one need not: its process does.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn assert_liveliness(&self) -> Result<()> {
        self.outlet.context().check()?;
        if self.assertions.assert(self.outlet.hot()?) {
            self.registry().ring_matched(self.outlet.slot());
            self.registry().doorbell().ring();
        }
        Ok(())
    }

    /// The publisher's identity, unique in the domain.
    pub fn gid(&self) -> [u8; 16] {
        self.gid
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        self.outlet.context().registry()
    }

    pub(crate) fn endpoint(&self) -> Endpoint<'_> {
        Endpoint {
            registry: self.registry(),
            slot: self.outlet.slot(),
            channel: self.outlet.channel(),
            qos: self.outlet.qos(),
            kind: Kind::Publisher,
        }
    }

    pub(crate) fn peers(&self) -> &PeerEvents {
        &self.peers
    }

    pub(crate) fn offered(&self) -> &Offered {
        &self.offered
    }

    pub(crate) fn assertions(&self) -> &Assertions {
        &self.assertions
    }

    /// The profile in use.
    pub fn qos(&self) -> &Qos {
        self.outlet.qos()
    }

    /// Number of subscriptions that match now.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn matched_subscriptions(&self) -> Result<usize> {
        graph::matched(self.outlet.context(), Kind::Subscription, self.outlet.channel(), self.outlet.qos())
    }
}

/// Samples kept for late joiners.
fn retained(qos: &Qos) -> u32 {
    match qos.durability {
        Durability::Volatile => 0,
        Durability::TransientLocal => kept(qos.history, qos.depth),
    }
}
