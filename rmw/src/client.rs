//! Clients: requests go into a ring that the services read, responses are read from the services' tables.

use std::sync::Arc;

use parking_lot::Mutex;
use shoal_registry::{gid, Kind, Qos, Registry, SlotState};

use crate::endpoint::{enter, unread_per_peer, Entry, SERVICE_DEPTH};
use crate::error::Result;
use crate::message::{Outgoing, ServiceInfo, Sink, TypeInfo};
use crate::node::Node;
use crate::notify::{Callback, Watch};
use crate::outlet::{Outlet, OutletPlan};
use crate::response_reader::{Inbox, ResponseReader};

/// Sends the requests of one service, and takes the responses to them.
pub struct Client {
    // Dropped first: nobody may look at the slot once the outlet gives it up.
    on_new: Watch,
    outlet: Outlet,
    inbox: Arc<Inbox>,
    gid: [u8; 16],
    // Keeps the node in the graph for as long as its client is.
    _node: Arc<Node>,
}

impl Client {
    /// Creates a client and enters it into the graph.
    ///
    /// # Errors
    /// A name is over-long, or the registry is full.
    pub fn new(node: &Arc<Node>, service: &str, ty: TypeInfo, qos: Qos) -> Result<Arc<Self>> {
        let entered = enter(node, Entry { kind: Kind::Client, name: service, ty: &ty, qos: &qos, flags: 0 })?;
        let context = node.context();
        context.registry().publish(entered.slot);
        let gid = gid(context.registry().context_id(), Kind::Client, entered.endpoint);
        let plan = OutletPlan {
            slot: entered.slot,
            channel: entered.channel,
            readers: Kind::Service,
            qos,
            history: 0,
            least_unread: SERVICE_DEPTH,
            fixed_size: None,
        };
        let reader = Mutex::new(ResponseReader::new(entered.slot, entered.channel, gid, unread_per_peer(&qos)));
        let inbox = Arc::new(Inbox { context: context.clone(), reader });
        let (on_new, outlet) = (Watch::new(context), Outlet::new(context, plan));
        Ok(Arc::new(Self { on_new, outlet, inbox, gid, _node: node.clone() }))
    }

    /// Sends a request to the services that match; the result is its number, from 1.
    ///
    /// # Errors
    /// The request cannot be serialized, or there is no shared memory for it; nothing was sent then.
    pub fn send(&self, message: &dyn Outgoing) -> Result<i64> {
        Ok(i64::try_from(self.outlet.send(message)?).unwrap_or(i64::MAX))
    }

    /// Takes the next response to a request of this client; `Ok(None)` when there is none.
    ///
    /// # Errors
    /// The sink's own error: the response is used up then.
    pub fn take(&self, sink: Sink<'_>) -> Result<Option<ServiceInfo>> {
        let _using = self.outlet.context().using()?;
        self.inbox.reader.lock().take(self.outlet.context(), sink)
    }

    /// Whether [`take`](Self::take) would find a response now.
    pub fn has_data(&self) -> bool {
        let Ok(_using) = self.outlet.context().using() else { return false };
        self.inbox.reader.lock().has_data(self.outlet.context())
    }

    /// Sets what is called for new responses, or clears it (`None`). Responses that nobody was told of and that can be
    /// taken now are the first call's. Answers when no call of the callback before runs, except within that call.
    ///
    /// # Errors
    /// The context was shut down (clearing still works) or belongs to a parent process; no thread can be started.
    pub fn on_new_response(&self, callback: Option<Callback>) -> Result<()> {
        self.on_new.set(callback, || self.inbox.clone())
    }

    /// Whether a request sent now will be read by a service: one is in the graph, and its process lives.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn server_available(&self) -> Result<bool> {
        let context = self.outlet.context();
        context.check()?;
        let registry = context.registry();
        let mut owners = Vec::new();
        let channel = self.outlet.channel();
        registry.for_each_matching(&[Kind::Service], channel.topic, channel.match_key, &mut |found| {
            if found.state == SlotState::Live {
                owners.push((found.hot.owner().0, found.hot.ctx_id()));
            }
        });
        Ok(owners.into_iter().any(|(context, id)| registry.context_alive(context, id)))
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        self.outlet.context().registry()
    }

    /// The client's identity, unique in the domain.
    pub fn gid(&self) -> [u8; 16] {
        self.gid
    }

    /// The profile in use.
    pub fn qos(&self) -> &Qos {
        self.outlet.qos()
    }
}
