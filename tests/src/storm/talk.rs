//! Calls of the middleware as the processes of a storm make them: whatever fails is a fault.

use super::board::{Board, Fault};
use crate::payload::{bytes_type, copied, Mark, Message};
use shoal_rmw::{
    wait, Client, Context, ContextOptions, Discovery, Durability, ErrorKind, History, Node, Outcome, Publisher, Qos,
    Service, ServiceInfo, Subscription, SubscriptionOptions, Waitable,
};
use std::sync::Arc;
use std::time::Duration;

/// The domain of all but the lonely.
pub const DOMAIN: usize = 80;

/// How long a wait for something that must come may take before it counts as a hang.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The topics of the talker: name and profile.
pub fn streams() -> [(&'static str, Qos); super::board::STREAMS] {
    let flow = Qos { depth: 64, ..Qos::default() };
    [
        ("/flow", flow),
        ("/latched", Qos { depth: 64, durability: Durability::TransientLocal, ..Qos::default() }),
        ("/large", flow),
        ("/all", keep_all()),
    ]
}

/// Reliable, nothing may be lost.
pub fn keep_all() -> Qos {
    Qos { history: History::KeepAll, ..Qos::default() }
}

/// So deep that all victims' samples together fit.
pub fn deep() -> Qos {
    Qos { depth: 16_384, ..Qos::default() }
}

/// The same with history.
pub fn deep_latched() -> Qos {
    Qos { durability: Durability::TransientLocal, ..deep() }
}

/// A context in a domain.
pub fn join(domain: usize) -> shoal_rmw::Result<Arc<Context>> {
    let discovery = Discovery::SystemDefault;
    Context::new(ContextOptions { domain_id: domain, enclave: "/".into(), discovery, security_enforced: false })
}

/// A process that talks: its name for messages, and where it tells of faults.
#[derive(Clone, Copy)]
pub struct Talker {
    pub board: &'static Board,
    pub name: &'static str,
}

impl Talker {
    /// A context and a node of the process's name.
    pub fn start(&self) -> (Arc<Context>, Arc<Node>) {
        let context = self.ok("join", join(DOMAIN));
        let node = self.ok("create a node", Node::new(&context, self.name, "/"));
        (context, node)
    }

    /// The value, or the end of the process.
    pub fn ok<T>(&self, what: &str, result: shoal_rmw::Result<T>) -> T {
        result.unwrap_or_else(|error| {
            self.board.fault(Fault::Failed, format_args!("{}: cannot {what}: {error}", self.name));
            crate::process::exit_now(crate::process::PANICKED)
        })
    }

    pub fn publisher(&self, node: &Arc<Node>, topic: &str, qos: Qos) -> Arc<Publisher> {
        self.ok("create a publisher", Publisher::new(node, topic, bytes_type(), qos))
    }

    pub fn subscription(&self, node: &Arc<Node>, topic: &str, qos: Qos) -> Arc<Subscription> {
        let options = SubscriptionOptions::default();
        self.ok("create a subscription", Subscription::new(node, topic, bytes_type(), qos, options))
    }

    pub fn service(&self, node: &Arc<Node>, name: &str) -> Arc<Service> {
        self.ok("create a service", Service::new(node, name, bytes_type(), Qos::default()))
    }

    pub fn client(&self, node: &Arc<Node>, name: &str) -> Arc<Client> {
        self.ok("create a client", Client::new(node, name, bytes_type(), Qos::default()))
    }

    /// Sends a message; where reliable KEEP_ALL readers are behind, again and again.
    pub fn send(&self, publisher: &Publisher, mark: Mark, len: usize) {
        let message = Message::new(mark, len);
        loop {
            match publisher.publish(&message) {
                Err(error) if error.kind() == ErrorKind::Timeout => {}
                other => {
                    self.ok("publish", other);
                    return;
                }
            }
        }
    }

    /// Takes a message whose bytes are right.
    pub fn take(&self, subscription: &Subscription) -> Option<Mark> {
        let mut body = Vec::new();
        let taken = subscription.take(&mut |incoming| {
            body = copied(incoming);
            Ok(())
        });
        self.ok("take", taken).and_then(|_| self.mark(&body))
    }

    pub fn take_request(&self, service: &Service) -> Option<(Mark, ServiceInfo)> {
        let mut body = Vec::new();
        let taken = service.take(&mut |incoming| {
            body = copied(incoming);
            Ok(())
        });
        let info = self.ok("take a request", taken)?;
        self.mark(&body).map(|mark| (mark, info))
    }

    pub fn take_response(&self, client: &Client) -> Option<(Mark, ServiceInfo)> {
        let mut body = Vec::new();
        let taken = client.take(&mut |incoming| {
            body = copied(incoming);
            Ok(())
        });
        let info = self.ok("take a response", taken)?;
        self.mark(&body).map(|mark| (mark, info))
    }

    /// Looks at each byte of a message.
    pub fn mark(&self, body: &[u8]) -> Option<Mark> {
        Mark::of(body).inspect_err(|what| self.board.fault(Fault::Corrupt, format_args!("{}: {what}", self.name))).ok()
    }

    /// Waits; whether something is ready.
    pub fn wait(&self, context: &Arc<Context>, items: &[Waitable<'_>], timeout: Duration) -> bool {
        let mut ready = vec![false; items.len()];
        self.ok("wait", wait(context, items, &mut ready, Some(timeout))) == Outcome::Ready
    }
}
