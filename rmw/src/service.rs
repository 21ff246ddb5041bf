//! Services: requests are read from the clients' rings, responses go to one ring per client.

use std::sync::Arc;

use parking_lot::Mutex;
use shoal_registry::{gid, Kind, Qos, Registry};

use crate::endpoint::{enter, unread_per_peer, Entry};
use crate::error::Result;
use crate::inlet::{Inlet, InletPlan};
use crate::message::{Outgoing, ServiceInfo, Sink, TypeInfo};
use crate::node::Node;
use crate::notify::{Callback, Watch};
use crate::responses::Responses;

/// Answers the requests of one service.
pub struct Service {
    on_new: Watch,
    inlet: Arc<Inlet>,
    responses: Mutex<Responses>,
    // Keeps the node in the graph for as long as its service is.
    _node: Arc<Node>,
}

impl Service {
    /// Creates a service. A client that sees it in the graph may send at once: the request will be found.
    ///
    /// # Errors
    /// A name is over-long, or the registry is full.
    pub fn new(node: &Arc<Node>, name: &str, ty: TypeInfo, qos: Qos) -> Result<Arc<Self>> {
        let entered = enter(node, Entry { kind: Kind::Service, name, ty: &ty, qos: &qos, flags: 0 })?;
        let context = node.context();
        let plan = InletPlan {
            slot: entered.slot,
            channel: entered.channel,
            outlets: Kind::Client,
            qos,
            depth: u32::MAX,
            of_each: unread_per_peer(&qos),
            ignore_local: false,
            filter: None,
            limits: None,
        };
        let inlet = Arc::new(Inlet::join(context, plan)?);
        context.registry().publish(entered.slot);
        let responses = Mutex::new(Responses::new(entered.slot));
        let on_new = Watch::new(context);
        Ok(Arc::new(Self { on_new, inlet, responses, _node: node.clone() }))
    }

    /// Takes the oldest request; `Ok(None)` when there is none.
    ///
    /// # Errors
    /// The sink's own error: the request is used up then.
    pub fn take(&self, sink: Sink<'_>) -> Result<Option<ServiceInfo>> {
        let Some(taken) = self.inlet.take(sink)? else { return Ok(None) };
        let client = gid(taken.context_id, Kind::Client, taken.endpoint);
        self.responses.lock().remember(self.inlet.context(), client, taken.outlet);
        Ok(Some(ServiceInfo {
            source_timestamp: taken.meta.source_timestamp,
            received_timestamp: taken.received,
            client,
            sequence: i64::try_from(taken.sequence).unwrap_or(i64::MAX),
        }))
    }

    /// Answers the request `sequence` of `client`. An answer to a client that is gone is dropped.
    ///
    /// # Errors
    /// The response cannot be serialized, or there is no shared memory for it; nothing was sent then.
    pub fn respond(&self, client: [u8; 16], sequence: i64, message: &dyn Outgoing) -> Result<()> {
        let context = self.inlet.context();
        let _using = context.using()?;
        self.responses.lock().send(context, client, sequence, message)
    }

    /// Sets what is called for new requests, or clears it (`None`). Requests that nobody was told of and that can be taken
    /// now are the first call's. Answers when no call of the callback before runs, except within that call.
    ///
    /// # Errors
    /// The context was shut down (clearing still works) or belongs to a parent process; no thread can be started.
    pub fn on_new_request(&self, callback: Option<Callback>) -> Result<()> {
        self.on_new.set(callback, || self.inlet.clone())
    }

    /// Whether [`take`](Self::take) would find a request now.
    pub fn has_data(&self) -> bool {
        self.inlet.has_data()
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        self.inlet.context().registry()
    }

    /// The profile in use.
    pub fn qos(&self) -> &Qos {
        self.inlet.qos()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The slot may be another's as soon as it is retired: nobody may look at it through the inlet then.
        self.on_new.close();
        let memory = self.responses.get_mut().take_memory();
        self.inlet.retire(memory);
    }
}
