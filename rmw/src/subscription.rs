//! Subscriptions.

use std::sync::Arc;

use shoal_registry::{gid, Kind, Qos, Registry};

use crate::bounds::Bounds;
use crate::endpoint::{enter, Entry, FLAG_IGNORE_LOCAL};
use crate::error::{Error, Result};
use crate::events::{Event, EventCallbacks, EventKind, Events};
use crate::filter::SampleFilter;
use crate::graph;
use crate::inlet::{Inlet, InletPlan, SourceLag, StreamEvent, StreamNews, Taken, WorkItem};
use crate::loan::{Copier, Loanable, Loans};
use crate::matching::kept;
use crate::message::{MessageInfo, Sink, TypeInfo};
use crate::node::Node;
use crate::notify::{Callback, Watch};

/// Choices of a subscription beyond its profile.
#[derive(Clone, Debug, Default)]
pub struct SubscriptionOptions {
    /// Take nothing that publishers of the same context sent, neither live nor from history.
    pub ignore_local_publications: bool,
    /// Take only samples that pass, from the first on.
    pub filter: Option<Arc<dyn SampleFilter>>,
}

/// Receives the samples of one topic.
pub struct Subscription {
    // Dropped first: nobody may look through the inlet once it gives up its slot.
    on_new: Watch,
    on_stream: Watch,
    on_events: EventCallbacks,
    /// Given back before the reader leaves the graph.
    loans: Loans,
    loanable: Loanable,
    inlet: Arc<Inlet>,
    gid: [u8; 16],
    events: Arc<Events>,
    // Keeps the node in the graph for as long as its subscription is.
    _node: Arc<Node>,
}

impl Subscription {
    /// Joins a topic: with TRANSIENT_LOCAL the samples that matching publishers keep can be taken at once, whether
    /// or not their processes run.
    ///
    /// # Errors
    /// A name is over-long, or the registry is full.
    pub fn new(
        node: &Arc<Node>,
        topic: &str,
        ty: TypeInfo,
        qos: Qos,
        options: SubscriptionOptions,
    ) -> Result<Arc<Self>> {
        let ignore_local = options.ignore_local_publications;
        let flags = if ignore_local { FLAG_IGNORE_LOCAL } else { 0 };
        let entered = enter(node, Entry { kind: Kind::Subscription, name: topic, ty: &ty, qos: &qos, flags })?;
        let context = node.context();
        let depth = kept(qos.history, qos.depth);
        let limits = context.config().bounds(topic).map(|bounds| bounds.limits(depth)).transpose()?;
        let plan = InletPlan {
            slot: entered.slot,
            channel: entered.channel,
            outlets: Kind::Publisher,
            qos,
            depth,
            of_each: depth,
            ignore_local,
            filter: options.filter,
            limits,
        };
        let inlet = Arc::new(Inlet::join(context, plan)?);
        context.registry().publish(entered.slot);
        if limits.is_some_and(|limits| limits.sheds) {
            inlet.watch_streams();
        }
        let gid = gid(context.registry().context_id(), Kind::Subscription, entered.endpoint);
        let events = Events::of_subscription(topic, &inlet);
        let (on_new, on_stream) = (Watch::new(context), Watch::new(context));
        let (loans, loanable, on_events) = (Loans::default(), Loanable::of(&ty), EventCallbacks::default());
        Ok(Arc::new(Self { on_new, on_stream, on_events, loans, loanable, inlet, gid, events, _node: node.clone() }))
    }

    /// Takes the oldest unread sample; `Ok(None)` when there is none.
    ///
    /// # Errors
    /// The sink's own error: the sample is used up then.
    pub fn take(&self, sink: Sink<'_>) -> Result<Option<MessageInfo>> {
        Ok(self.inlet.take(sink)?.map(|taken| self.info(&taken)))
    }

    /// Whether messages can be taken as loans.
    ///
    /// # Errors
    /// The type cannot be loaned; says why.
    pub fn check_loanable(&self) -> Result<()> {
        self.loanable.size().map(drop)
    }

    /// Takes the oldest unread sample without copying it, if it can be read where its publisher wrote it: that takes
    /// `in_place` (whatever its bytes are, they are a message) and a sample that was lent to its publisher, or that is
    /// too long for a slot. Otherwise, and where this context has too much on loan already, `copy` makes a private one.
    ///
    /// The message may be read until it is given to [`return_loan`](Self::return_loan) or the subscription is gone. It
    /// never changes in that time, whatever becomes of its publisher; writing to it is a fault.
    ///
    /// # Errors
    /// The type cannot be loaned; or `copy`'s own error: the sample is used up then.
    pub fn take_loan(&self, in_place: bool, copy: Copier<'_>) -> Result<Option<(*const u8, MessageInfo)>> {
        let size = self.loanable.size()?;
        let taken = self.inlet.take_loan(in_place.then_some(size), copy)?;
        Ok(taken.map(|(taken, loan)| (self.loans.add(loan), self.info(&taken))))
    }

    /// Gives back a message that was taken as a loan. Works also after the context was shut down.
    ///
    /// # Errors
    /// The message is not on loan from this subscription.
    pub fn return_loan(&self, at: *const u8) -> Result<()> {
        self.loanable.size()?;
        self.loans.end(at)
    }

    fn info(&self, taken: &Taken) -> MessageInfo {
        MessageInfo {
            source_timestamp: taken.meta.source_timestamp,
            received_timestamp: taken.received,
            publication_sequence: taken.sequence,
            reception_sequence: taken.reception,
            gid: gid(taken.context_id, Kind::Publisher, taken.endpoint),
            from_this_context: taken.context_id == self.inlet.context().registry().context_id(),
        }
    }

    /// Whether [`take`](Self::take) would find a sample now.
    pub fn has_data(&self) -> bool {
        self.inlet.has_data()
    }

    /// From now on, at the latest with the first [`take_stream_event`](Self::take_stream_event), the ends of streams are
    /// recorded: of publishers that have finished and still are there, and of all that finish or die later.
    pub fn watch_streams(&self) {
        self.inlet.watch_streams();
    }

    /// Takes what became of a publisher's stream, or of all of the topic, once its samples have been taken; oldest first,
    /// each once. `Ok(None)`: nothing ended since the last call.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn take_stream_event(&self) -> Result<Option<StreamEvent>> {
        self.inlet.take_stream_event()
    }

    /// The publisher's sequence number when this subscription joined: what it sent up to there comes from history, as far
    /// as both profiles keep it, and everything above comes live, nothing missing or twice. 0 for a publisher that came later.
    ///
    /// # Errors
    /// No matching publisher with this GID is there. The context was shut down or belongs to a parent process.
    pub fn join_bound(&self, publisher: &[u8; 16]) -> Result<u64> {
        self.inlet.join_bound(publisher)?.ok_or_else(|| unknown(publisher))
    }

    /// From now on what is taken stays in flight with its reliable KEEP_ALL publishers, until [`consumed`](Self::consumed)
    /// gives it back. Else taking does. What is taken and then fails to deserialize is given back at once.
    ///
    /// # Errors
    /// This subscription is not reliable and KEEP_ALL; the context was shut down or belongs to a parent process.
    pub fn hold_credit(&self) -> Result<()> {
        self.inlet.hold_credit()
    }

    /// Gives back the `count` oldest samples that were taken and not yet consumed, of whatever publishers.
    ///
    /// # Errors
    /// Fewer were taken, or this subscription does not [hold credit](Self::hold_credit): nothing was given back then. The
    /// context was shut down or belongs to a parent process.
    pub fn consumed(&self, count: u64) -> Result<()> {
        self.inlet.consumed(count)
    }

    /// Sets how far this subscription may be behind each of its publishers. Earlier bounds are replaced.
    ///
    /// # Errors
    /// A bound is out of range. The context was shut down or belongs to a parent process.
    pub fn set_bounds(&self, bounds: Bounds) -> Result<()> {
        let qos = self.qos();
        self.inlet.set_limits(bounds.limits(kept(qos.history, qos.depth))?)
    }

    /// Joins a publisher again, after it was too far ahead ([`Outcome::Shed`](crate::Outcome)) or at any time: what it sent
    /// up to the answer comes from history, as far as both profiles keep it, and everything above live. What was unread is
    /// given up.
    ///
    /// # Errors
    /// As [`join_bound`](Self::join_bound).
    pub fn rejoin(&self, publisher: &[u8; 16]) -> Result<u64> {
        self.inlet.rejoin(publisher)?.ok_or_else(|| unknown(publisher))
    }

    /// Has each of these subscriptions join its publishers anew, those of one process (context) at one instant: there is a
    /// point in what the process published, one sample after the other, up to which everything on these topics is at or
    /// below the [`join_bound`](Self::join_bound)s, and after which everything is above.
    ///
    /// # Errors
    /// A process published so fast that no such instant was found: then nothing has changed. A context was shut down or
    /// belongs to a parent process.
    pub fn join_many(subscriptions: &[&Subscription]) -> Result<()> {
        let inlets: Vec<_> = subscriptions.iter().map(|subscription| &*subscription.inlet).collect();
        Inlet::join_many(&inlets)
    }

    /// How far this subscription is behind each publisher that it reads.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn lag(&self) -> Result<Vec<SourceLag>> {
        self.inlet.lag()
    }

    /// Sets what is called when something became of a stream, or clears it (`None`). As
    /// [`on_new_message`](Self::on_new_message); the streams are watched from then on.
    ///
    /// # Errors
    /// As [`on_new_message`](Self::on_new_message).
    pub fn on_stream_event(&self, callback: Option<Callback>) -> Result<()> {
        if callback.is_some() {
            self.inlet.watch_streams();
        }
        self.on_stream.set(callback, || Arc::new(StreamNews(self.inlet.clone())))
    }

    /// From now on this subscription shares the items of its topic's queues ([`Publisher::make_queue`](crate::Publisher::make_queue)) with others: it
    /// claims instead of taking. It is ready when an item is for the taking; that includes those that others have claimed and
    /// lost. The end of a queue comes to all that share it behind the last acknowledgement. Samples of ordinary
    /// publishers are passed over.
    ///
    /// # Errors
    /// This subscription is not reliable and KEEP_ALL, filters, or holds credit; the context was shut down or belongs to a
    /// parent process.
    pub fn share_work(&self) -> Result<()> {
        self.inlet.share_work()
    }

    /// Claims the oldest item that is for the taking; `Ok(None)` when there is none. It is this subscription's until it is
    /// [acknowledged](Self::acknowledge) or [given back](Self::give_back), its lease runs out, or the process dies.
    ///
    /// # Errors
    /// The sink's own error: the item is given back then, or acknowledged where it is no message of the type. This subscription does not [share work](Self::share_work).
    pub fn claim(&self, sink: Sink<'_>) -> Result<Option<(MessageInfo, WorkItem)>> {
        Ok(self.inlet.claim(sink)?.map(|(taken, item)| (self.info(&taken), item)))
    }

    /// Acknowledges an item: nobody gets it any more. False: the claim was lost before, so somebody else has the item, or
    /// has had it.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn acknowledge(&self, item: &WorkItem) -> Result<bool> {
        self.inlet.acknowledge_item(item)
    }

    /// Gives an item back, for anybody to claim. False: as for [`acknowledge`](Self::acknowledge).
    ///
    /// # Errors
    /// As for [`acknowledge`](Self::acknowledge).
    pub fn give_back(&self, item: &WorkItem) -> Result<bool> {
        self.inlet.give_back_item(item)
    }

    pub(crate) fn shares_work(&self) -> bool {
        self.inlet.shares_work()
    }

    pub(crate) fn next_moment(&self) -> Option<u64> {
        self.inlet.next_lease()
    }

    pub(crate) fn streams(&self) -> Option<&Inlet> {
        self.inlet.watches_streams().then_some(&*self.inlet)
    }

    /// Takes only samples that pass from now on, `None`: all. Samples that passed an earlier filter and were not taken
    /// yet are asked again; those that did not pass are gone.
    pub fn set_filter(&self, filter: Option<Arc<dyn SampleFilter>>) {
        self.inlet.set_filter(filter);
    }

    /// Sets what is called for new samples, or clears it (`None`). Samples that nobody was told of and that can be taken
    /// now are the first call's. Answers when no call of the callback before runs, except within that call.
    ///
    /// # Errors
    /// The context was shut down (clearing still works) or belongs to a parent process; no thread can be started.
    pub fn on_new_message(&self, callback: Option<Callback>) -> Result<()> {
        self.on_new.set(callback, || self.inlet.clone())
    }

    /// The subscription's identity, unique in the domain.
    pub fn gid(&self) -> [u8; 16] {
        self.gid
    }

    pub(crate) fn registry(&self) -> &Arc<Registry> {
        self.inlet.context().registry()
    }

    /// An event of this subscription. The first call for a kind makes peers ring for it.
    pub fn event(&self, kind: EventKind) -> Event<'_> {
        self.events.event(kind, self.inlet.context(), &self.on_events)
    }

    /// The profile in use.
    pub fn qos(&self) -> &Qos {
        self.inlet.qos()
    }

    /// Number of publishers that match now.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn matched_publishers(&self) -> Result<usize> {
        graph::matched(self.inlet.context(), Kind::Publisher, self.inlet.channel(), self.inlet.qos())
    }
}

fn unknown(publisher: &[u8; 16]) -> Error {
    let number = u128::from_be_bytes(*publisher);
    Error::InvalidArgument(format!("no publisher {number:032x} matches this subscription"))
}
