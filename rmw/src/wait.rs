//! Waiting: one look at everything, one word to sleep on.
//!
//! 1. A waiter says that it is parked, fences, looks at every item, and only then sleeps on the word's value.
//! 2. Whoever makes an item ready marks it, fences, and looks whether somebody is parked.
//!
//! So one of them sees the other. Nothing is consumed before the wait ends, and only what is reported is consumed.

pub(crate) mod patience;

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use shoal_registry::Registry;
use shoal_shm::doorbell::Parked;
use shoal_shm::futex::{wait_any, Deadline};
use shoal_shm::wait::{interruption, Outcome};
use smallvec::{smallvec, SmallVec};

use crate::client::Client;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::events::Event;
use crate::guard_condition::GuardCondition;
use crate::inlet::Inlet;
use crate::service::Service;
use crate::subscription::Subscription;
use patience::Pause;

/// How often a wait on the graph looks for processes that were killed: those cannot ring.
pub(crate) const LOOK_FOR_THE_DEAD: Duration = Duration::from_millis(500);

/// Something a wait can end for.
#[derive(Clone, Copy)]
pub enum Waitable<'a> {
    /// A sample can be taken.
    Subscription(&'a Subscription),
    /// A request can be taken.
    Service(&'a Service),
    /// A response can be taken.
    Client(&'a Client),
    /// The condition is set. It is cleared when the wait reports it; that of a stream's credit stays as long as it is true.
    Guard(&'a GuardCondition),
    /// Something happened that was not taken yet.
    Event(Event<'a>),
}

/// What a wait makes of an interruption of the process (`shoal_shm::wait::Interrupt`), and of streams that end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Each ends one wait, an interruption one of each thread: for callers that know nothing of them and wait again.
    Once,
    /// Both end every wait, until the process is resumed and the outcome of the stream is taken.
    UntilResumed,
}

thread_local! {
    /// Number of the interruption that last ended a wait of this thread in the manner [`Manner::Once`].
    static TOLD: Cell<u64> = const { Cell::new(0) };
}

impl Manner {
    /// Whether the wait of this thread is to end; says so once where once is enough.
    fn is_interrupted(self) -> bool {
        let pending = self.would_interrupt();
        if pending && self == Manner::Once {
            TOLD.set(interruption().count);
        }
        pending
    }

    fn would_interrupt(self) -> bool {
        let now = interruption();
        now.raised && (self == Manner::UntilResumed || TOLD.get() != now.count)
    }
}

/// What a look found.
#[derive(Clone, Copy)]
enum Report {
    Nothing,
    Ready,
    /// A stream's outcome, which is told before anything is taken.
    Stream(Outcome),
}

impl Waitable<'_> {
    fn is_ready(&self, manner: Manner) -> bool {
        match self {
            Waitable::Subscription(subscription) => {
                subscription.has_data()
                    || subscription.streams().is_some_and(|inlet| match manner {
                        Manner::Once => inlet.has_stream_news(false),
                        Manner::UntilResumed => inlet.stream_outcome().is_some(),
                    })
            }
            Waitable::Service(service) => service.has_data(),
            Waitable::Client(client) => client.has_data(),
            Waitable::Guard(guard) => guard.is_set(),
            Waitable::Event(event) => event.is_ready(),
        }
    }

    fn report(&self, manner: Manner) -> Report {
        let ready = match self {
            Waitable::Guard(guard) => guard.consume(),
            Waitable::Subscription(subscription) => match subscription.streams() {
                Some(inlet) if manner == Manner::UntilResumed => return look_at_stream(subscription, inlet),
                Some(inlet) if !subscription.has_data() => inlet.has_stream_news(true),
                Some(_) => true,
                None => subscription.has_data(),
            },
            other => other.is_ready(manner),
        };
        if ready {
            Report::Ready
        } else {
            Report::Nothing
        }
    }

    fn context_registry(&self) -> &Arc<Registry> {
        match self {
            Waitable::Subscription(subscription) => subscription.registry(),
            Waitable::Service(service) => service.registry(),
            Waitable::Client(client) => client.registry(),
            Waitable::Guard(guard) => guard.registry(),
            Waitable::Event(event) => event.registry(),
        }
    }

    fn watch_streams(&self) {
        if let Waitable::Subscription(subscription) = self {
            subscription.watch_streams();
        }
    }

    fn is_graph(&self) -> bool {
        matches!(self, Waitable::Guard(guard) if guard.is_graph())
    }

    /// Whether it depends on processes that may be killed: those cannot ring.
    fn needs_the_living(&self) -> bool {
        match self {
            Waitable::Event(event) => event.depends_on_the_living(),
            Waitable::Subscription(subscription) => subscription.streams().is_some() || subscription.shares_work(),
            Waitable::Guard(guard) => guard.needs_the_living(),
            Waitable::Service(_) | Waitable::Client(_) => false,
        }
    }

    /// When it may become ready without anybody ringing, in ns of CLOCK_MONOTONIC.
    fn next_moment(&self) -> Option<u64> {
        match self {
            Waitable::Event(event) => event.next_moment(),
            Waitable::Subscription(subscription) => subscription.next_moment(),
            _ => None,
        }
    }
}

/// Waits until an item is ready or the time is over. `ready[i]` says whether `items[i]` is.
///
/// `timeout`: `None` waits for ever, zero only looks. [`Outcome::TimedOut`] is also the answer when the context was shut
/// down and there is no guard condition among the items, by which executors are told of a shutdown. An interruption of
/// the process ends one wait of each thread ([`Manner::Once`]). A signal that interrupts nothing neither ends nor
/// stretches the wait.
///
/// # Errors
/// The context belongs to the parent of this forked process, its registry has lost pages ([`Error::Damaged`]), or `ready`
/// is shorter than `items`.
pub fn wait(
    context: &Arc<Context>,
    items: &[Waitable<'_>],
    ready: &mut [bool],
    timeout: Option<Duration>,
) -> Result<Outcome> {
    wait_in(Manner::Once, context, items, ready, timeout)
}

/// As [`wait`], with the choice of what an interruption means. [`Outcome::Interrupted`] comes before what is ready:
/// nothing is consumed then; a stream's outcome comes behind what is ready.
///
/// # Errors
/// As [`wait`].
pub fn wait_in(
    manner: Manner,
    context: &Arc<Context>,
    items: &[Waitable<'_>],
    ready: &mut [bool],
    timeout: Option<Duration>,
) -> Result<Outcome> {
    if context.registry().is_forked() {
        return Err(Error::Forked);
    }
    if ready.len() < items.len() {
        return Err(Error::InvalidArgument(format!("{} items, but room for {} answers", items.len(), ready.len())));
    }
    context.collect_drained();
    let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let watched = watched_registries(context, items);
    let graph = items.iter().any(Waitable::is_graph);
    if graph {
        watched.iter().for_each(|registry| registry.watch_graph());
    }
    if manner == Manner::UntilResumed {
        // Whoever asks why a wait ended wants to know that its streams did.
        items.iter().for_each(Waitable::watch_streams);
    }
    let look_for_the_dead = items.iter().any(Waitable::needs_the_living);
    let guarded = items.iter().any(|item| matches!(item, Waitable::Guard(guard) if !guard.is_graph()));
    let ends = Ends { at: end, context, guarded, manner };
    let mut pause: Option<Pause> = None;
    loop {
        if manner.is_interrupted() {
            ready.fill(false);
            return Ok(Outcome::Interrupted);
        }
        if look_for_the_dead {
            watched.iter().for_each(|registry| registry.sweep());
        }
        if let Some(outcome) = look(manner, items, ready) {
            if let Some(pause) = pause {
                pause.end();
            }
            return Ok(outcome);
        }
        if !ends.was_cut_short() {
            // No other process could end this wait any more.
            context.check_whole()?;
        }
        if ends.have_come() {
            return Ok(Outcome::TimedOut);
        }
        let found = pause.is_none() && pause.insert(Pause::begin()).look(|| ends.is_over(items));
        if !found {
            sleep(&watched, items, &ends, look_for_the_dead);
        }
    }
}

/// What ends a wait although nothing is ready.
struct Ends<'a> {
    at: Option<Instant>,
    context: &'a Context,
    /// There are guard conditions, by which executors are told of a shutdown, after it. They take a time-out of an endless
    /// wait for an error.
    guarded: bool,
    manner: Manner,
}

impl Ends<'_> {
    fn have_come(&self) -> bool {
        self.was_cut_short() || self.at.is_some_and(|end| end <= Instant::now())
    }

    /// Whether there is anything to stay awake for.
    fn is_over(&self, items: &[Waitable<'_>]) -> bool {
        self.have_come() || self.manner.would_interrupt() || items.iter().any(|item| item.is_ready(self.manner))
    }

    /// The context was shut down, which rings.
    fn was_cut_short(&self) -> bool {
        !self.guarded && self.context.is_shut_down()
    }
}

/// The registries whose doorbells can end the wait: one, except where contexts are mixed.
fn watched_registries<'a>(context: &'a Arc<Context>, items: &'a [Waitable<'_>]) -> SmallVec<[&'a Arc<Registry>; 1]> {
    let mut watched: SmallVec<[&Arc<Registry>; 1]> = smallvec![context.registry()];
    for item in items {
        let registry = item.context_registry();
        if !watched.iter().any(|known| Arc::ptr_eq(known, registry)) {
            watched.push(registry);
        }
    }
    watched
}

/// What can be taken, and what became of a stream, for who knows of it.
fn look_at_stream(subscription: &Subscription, inlet: &Inlet) -> Report {
    // First: then the end of a day that comes before what is found here is found below, too.
    let has_data = subscription.has_data();
    match inlet.outcome_before_samples() {
        Some(outcome) => Report::Stream(outcome),
        None if has_data => Report::Ready,
        None => inlet.stream_outcome().map_or(Report::Nothing, Report::Stream),
    }
}

/// Reports what is ready, and consumes what it reports. Samples come before outcomes of streams, but for those behind
/// which samples follow.
fn look(manner: Manner, items: &[Waitable<'_>], ready: &mut [bool]) -> Option<Outcome> {
    let mut found: Option<Outcome> = None;
    for (item, ready) in items.iter().zip(ready.iter_mut()) {
        let report = item.report(manner);
        *ready = !matches!(report, Report::Nothing);
        match report {
            Report::Nothing => {}
            Report::Ready => found = found.filter(|outcome| outcome.goes_on()).or(Some(Outcome::Ready)),
            Report::Stream(outcome) if outcome.goes_on() => found = Some(outcome),
            Report::Stream(outcome) => found = found.or(Some(outcome)),
        }
    }
    found
}

/// The nearest of the end, the next look for the dead, and what the items expect.
fn nearest(end: Option<Instant>, look_for_the_dead: bool, items: &[Waitable<'_>]) -> Option<Deadline> {
    let look_again = look_for_the_dead.then(|| Deadline::after(LOOK_FOR_THE_DEAD));
    let end = end.map(|end| Deadline::after(end.saturating_duration_since(Instant::now())));
    let expected = items.iter().filter_map(Waitable::next_moment).min().map(Deadline::at);
    [look_again, end, expected].into_iter().flatten().min()
}

/// Parks until a doorbell rings, unless something is ready by then.
fn sleep(watched: &[&Arc<Registry>], items: &[Waitable<'_>], ends: &Ends<'_>, look_for_the_dead: bool) {
    let parked: SmallVec<[Parked<'_>; 1]> = watched.iter().map(|registry| registry.park()).collect();
    // ORDERING(park.ring): `park` has fenced, so the parked bit is out before this last look; meets the fence of whoever
    // rings (Readers::announce, Responses::send, GuardCondition::trigger, Bells::interrupt).
    let whole = ends.context.check_whole().is_ok();
    if whole
        && !ends.was_cut_short()
        && !ends.manner.would_interrupt()
        && !items.iter().any(|item| item.is_ready(ends.manner))
    {
        let words: SmallVec<[_; 1]> = parked.iter().map(Parked::word).collect();
        // After the look, which brings up to date what the items expect. However it ends, the caller looks again.
        let _ = wait_any(&words, nearest(ends.at, look_for_the_dead, items));
    }
}
