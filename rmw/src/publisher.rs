//! Publishers.

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use shoal_registry::{gid, Durability, Kind, Qos};
use shoal_shm::wait::Outcome;

use crate::endpoint::{enter, Entry};
use crate::error::Result;
use crate::events::{Event, EventCallbacks, EventKind, Events};
use crate::graph;
use crate::loan::Loanable;
use crate::matching::kept;
use crate::message::{Outgoing, TypeInfo};
use crate::node::Node;
use crate::outlet::{Offered, Outlet, OutletPlan, ReaderLag};

/// Sends the samples of one topic.
pub struct Publisher {
    // Dropped first: nobody may look at the events of an outlet that gave up its slot.
    on_events: EventCallbacks,
    outlet: Outlet,
    gid: [u8; 16],
    events: Arc<Events>,
    loanable: Loanable,
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
        let outlet = Outlet::new(context, plan);
        let events = Events::of_publisher(topic, &outlet);
        let (loanable, on_events) = (Loanable::of(&ty), EventCallbacks::default());
        let publisher = Arc::new(Self { on_events, outlet, gid, events, loanable, _node: node.clone() });
        context.note_publisher(&publisher);
        Ok(publisher)
    }

    /// Sends one sample to every matched subscription. The result is its sequence number, from 1.
    ///
    /// # Errors
    /// The message cannot be serialized, or there is no shared memory for it; nothing was sent then.
    pub fn publish(&self, message: &dyn Outgoing) -> Result<u64> {
        self.sent(|| self.outlet.send(message))
    }

    /// Whether messages can be lent.
    ///
    /// # Errors
    /// The type cannot be loaned; says why.
    pub fn check_loanable(&self) -> Result<()> {
        self.loanable.size().map(drop)
    }

    /// Lends memory for one message, to be filled in place and given to [`publish_loan`](Self::publish_loan) or
    /// [`return_loan`](Self::return_loan). It starts on a cache line; its content is whatever was there.
    ///
    /// # Errors
    /// The type cannot be loaned, or there is no shared memory.
    pub fn borrow_loan(&self) -> Result<NonNull<u8>> {
        self.outlet.borrow_loan(self.loanable.size()?)
    }

    /// As [`publish`](Self::publish), with a message that was lent, as it lies: nothing of it is copied.
    ///
    /// # Errors
    /// The message is not on loan from this publisher. Or what also [`publish`](Self::publish) can fail of: then it is
    /// given back.
    pub fn publish_loan(&self, at: *const u8) -> Result<u64> {
        self.loanable.size()?;
        self.sent(|| self.outlet.send_loan(at))
    }

    /// Takes back a message that was lent. Works also after the context was shut down.
    ///
    /// # Errors
    /// The message is not on loan from this publisher.
    pub fn return_loan(&self, at: *const u8) -> Result<()> {
        self.loanable.size()?;
        self.outlet.return_loan(at)
    }

    /// Sends, with what else a message means: its publisher lives, and keeps its deadline.
    fn sent(&self, send: impl FnOnce() -> Result<u64>) -> Result<u64> {
        let _using = self.outlet.context().using()?;
        let revived = self.events.assert_liveliness();
        let sequence = send()?;
        self.events.published(revived);
        Ok(sequence)
    }

    /// Ends the stream, which deleting the publisher does not: subscriptions that ask for it find
    /// [`Outcome::EndOfStream`](crate::Outcome) behind the last sample. Nothing can be sent any more. Doing it again does
    /// nothing.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn finish(&self) -> Result<()> {
        self.outlet.finish()
    }

    /// Says that a session is over, while the stream goes on: each subscription that is there and asks finds
    /// [`Outcome::EndOfDay`] behind what was sent before this call, once for each call.
    ///
    /// # Errors
    /// The stream was finished; the context was shut down or belongs to a parent process.
    pub fn end_of_day(&self) -> Result<()> {
        self.outlet.end_day()
    }

    /// How far each matched subscription is behind. The first call asks them to say so, at their next look.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn lag(&self) -> Result<Vec<ReaderLag>> {
        self.outlet.lag()
    }

    /// Waits until each matched reliable subscription has *taken* what was sent before this call, for at most `budget`
    /// (`None`: for ever). [`Outcome::Ready`]: all have. [`Outcome::TimedOut`] and [`Outcome::Interrupted`] come with those
    /// that have not. What a KEEP_LAST subscription skips counts as taken; one whose process died holds nobody.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn flush(&self, budget: Option<Duration>) -> Result<(Outcome, Vec<ReaderLag>)> {
        self.outlet.flush(budget)
    }

    pub(crate) fn outlet(&self) -> &Outlet {
        &self.outlet
    }

    /// Sends one chunk of the publisher's stream, if there is credit.
    pub(crate) fn offer(&self, chunk: &dyn Outgoing) -> Result<Offered> {
        let _using = self.outlet.context().using()?;
        let revived = self.events.assert_liveliness();
        let offered = self.outlet.try_send(chunk)?;
        if offered == Offered::Sent {
            self.events.published(revived);
        } else if revived {
            self.outlet.context().registry().doorbell().ring();
        }
        Ok(offered)
    }

    pub(crate) fn has_credit(&self) -> bool {
        self.outlet.has_credit()
    }

    /// Makes the samples of this publisher, which has sent none, the items of a queue: each goes to one of the
    /// subscriptions that share the work ([`Subscription::share_work`](crate::Subscription::share_work)), and stays until it
    /// is acknowledged. At most `window` items are neither acknowledged nor, because of one before them, given up: then
    /// publishing waits, and fails with a time-out, as for any reliable KEEP_ALL publisher. An item that was claimed is for
    /// the taking again when its consumer dies, gives it back, or does not acknowledge it within `lease`.
    ///
    /// # Errors
    /// The publisher is not reliable, KEEP_ALL and VOLATILE, has a lifespan, has sent something, or carries a stream or a
    /// queue; the window is not 1 to 65,536 or the lease not 1 ms to 49 days; there is no shared memory.
    pub fn make_queue(&self, window: usize, lease: Duration) -> Result<()> {
        self.outlet.begin_queue(window, lease)
    }

    /// Says that the publisher is alive, which an automatic one need not: its process does.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn assert_liveliness(&self) -> Result<()> {
        let _using = self.outlet.context().using()?;
        if self.events.assert_liveliness() {
            let registry = self.outlet.context().registry();
            registry.ring_matched(self.outlet.slot());
            registry.doorbell().ring();
        }
        Ok(())
    }

    /// The publisher's identity, unique in the domain.
    pub fn gid(&self) -> [u8; 16] {
        self.gid
    }

    /// An event of this publisher. The first call for a kind makes peers ring for it.
    pub fn event(&self, kind: EventKind) -> Event<'_> {
        self.events.event(kind, self.outlet.context(), &self.on_events)
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
