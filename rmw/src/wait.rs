//! Waiting: one look at everything, one word to sleep on.
//!
//! 1. A waiter says that it is parked, fences, looks at every item, and only then sleeps on the word's value.
//! 2. Whoever makes an item ready marks it, fences, and looks whether somebody is parked.
//!
//! So one of them sees the other. Nothing is consumed before the wait ends, and only what is reported is consumed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use shoal_registry::Registry;
use shoal_shm::doorbell::Parked;
use shoal_shm::futex::{wait_any, Deadline};
use shoal_shm::sync::{fence, Ordering};

use crate::client::Client;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::guard_condition::GuardCondition;
use crate::service::Service;
use crate::subscription::Subscription;

/// How often a wait on the graph looks for processes that were killed: those cannot ring.
const LOOK_FOR_THE_DEAD: Duration = Duration::from_millis(500);

/// Something a wait can end for.
#[derive(Clone, Copy)]
pub enum Waitable<'a> {
    /// A sample can be taken.
    Subscription(&'a Subscription),
    /// A request can be taken.
    Service(&'a Service),
    /// A response can be taken.
    Client(&'a Client),
    /// The condition is set. It is cleared when the wait reports it.
    Guard(&'a GuardCondition),
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOutcome {
    /// At least one item is ready.
    Ready,
    /// The time is over and nothing is ready.
    TimedOut,
}

impl Waitable<'_> {
    fn is_ready(&self) -> bool {
        match self {
            Waitable::Subscription(subscription) => subscription.has_data(),
            Waitable::Service(service) => service.has_data(),
            Waitable::Client(client) => client.has_data(),
            Waitable::Guard(guard) => guard.is_set(),
        }
    }

    fn report(&self) -> bool {
        match self {
            Waitable::Guard(guard) => guard.consume(),
            other => other.is_ready(),
        }
    }

    fn context_registry(&self) -> &Arc<Registry> {
        match self {
            Waitable::Subscription(subscription) => subscription.registry(),
            Waitable::Service(service) => service.registry(),
            Waitable::Client(client) => client.registry(),
            Waitable::Guard(guard) => guard.registry(),
        }
    }

    fn is_graph(&self) -> bool {
        matches!(self, Waitable::Guard(guard) if guard.is_graph())
    }
}

/// Waits until an item is ready or the time is over. `ready[i]` says whether `items[i]` is.
///
/// `timeout`: `None` waits for ever, zero only looks.
///
/// # Errors
/// The context belongs to the parent of this forked process, or `ready` is shorter than `items`.
pub fn wait(
    context: &Arc<Context>,
    items: &[Waitable<'_>],
    ready: &mut [bool],
    timeout: Option<Duration>,
) -> Result<WaitOutcome> {
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
    loop {
        if graph {
            watched.iter().for_each(|registry| registry.sweep());
        }
        if look(items, ready) {
            return Ok(WaitOutcome::Ready);
        }
        if end.is_some_and(|end| end <= Instant::now()) {
            return Ok(WaitOutcome::TimedOut);
        }
        sleep(&watched, items, nearest(end, graph));
    }
}

/// The registries whose doorbells can end the wait: one, except where contexts are mixed.
fn watched_registries<'a>(context: &'a Arc<Context>, items: &'a [Waitable<'_>]) -> Vec<&'a Arc<Registry>> {
    let mut watched = vec![context.registry()];
    for item in items {
        let registry = item.context_registry();
        if !watched.iter().any(|known| Arc::ptr_eq(known, registry)) {
            watched.push(registry);
        }
    }
    watched
}

/// Reports what is ready; consumes what it reports.
fn look(items: &[Waitable<'_>], ready: &mut [bool]) -> bool {
    let mut any = false;
    for (item, ready) in items.iter().zip(ready.iter_mut()) {
        *ready = item.report();
        any |= *ready;
    }
    any
}

fn nearest(end: Option<Instant>, graph: bool) -> Option<Deadline> {
    let look_again = graph.then(|| Instant::now() + LOOK_FOR_THE_DEAD);
    let nearest = match (end, look_again) {
        (Some(end), Some(again)) => Some(end.min(again)),
        (end, again) => end.or(again),
    };
    nearest.map(|moment| Deadline::after(moment.saturating_duration_since(Instant::now())))
}

/// Parks until a doorbell rings, unless something is ready by then.
fn sleep(watched: &[&Arc<Registry>], items: &[Waitable<'_>], deadline: Option<Deadline>) {
    let parked: Vec<Parked<'_>> = watched.iter().map(|registry| registry.park()).collect();
    // ORDERING(park.ring): the parked bit is out before this last look; meets the fence of whoever rings
    // (Readers::announce, Responses::send, GuardCondition::trigger).
    fence(Ordering::SeqCst);
    if !items.iter().any(Waitable::is_ready) {
        let words: Vec<_> = parked.iter().map(Parked::word).collect();
        // However it ends, the caller looks again.
        let _ = wait_any(&words, deadline);
    }
}
