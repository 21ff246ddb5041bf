//! rmw/rmw.h: wait sets.

use std::ffi::c_void;
use std::time::Duration;

use shoal_rmw::{Manner, Outcome, Waitable};
use smallvec::{smallvec, SmallVec};

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::event::event_of;
use crate::handle::{ClientData, GuardConditionData, ServiceData, SubscriptionData, WaitSetData};
use crate::sys;

exports! {
    /// Creates a wait set; it holds any number of conditions.
    fn rmw_create_wait_set(context: *mut sys::rmw_context_t, max_conditions: usize) -> *mut sys::rmw_wait_set_t
        = create;
    /// Frees a wait set.
    fn rmw_destroy_wait_set(wait_set: *mut sys::rmw_wait_set_t) -> sys::rmw_ret_t = destroy;
    /// Waits until something of the arrays is ready, and sets the entries of the rest to NULL.
    fn rmw_wait(
        subscriptions: *mut sys::rmw_subscriptions_t,
        guard_conditions: *mut sys::rmw_guard_conditions_t,
        services: *mut sys::rmw_services_t,
        clients: *mut sys::rmw_clients_t,
        events: *mut sys::rmw_events_t,
        wait_set: *mut sys::rmw_wait_set_t,
        wait_timeout: *const sys::rmw_time_t,
    ) -> sys::rmw_ret_t = wait;
}

fn create(context: InOut<sys::rmw_context_t>, _max_conditions: usize) -> Result<*mut sys::rmw_wait_set_t, Failure> {
    // Also after shutdown: a thread that was about to wait when a signal handler shut the context down ends in the
    // ordinary way, by what it waits for, and not by an error of rmw_wait's preparations.
    Ok(WaitSetData::expose(context.shared().initialized()?.context.clone()))
}

fn destroy(wait_set: InOut<sys::rmw_wait_set_t>) -> Result<(), Failure> {
    drop(wait_set.reclaim().map_err(Failure::as_the_suite_asks)?);
    Ok(())
}

/// An array of the private parts of handles.
struct Entries<'call> {
    what: &'static str,
    slots: &'call mut [*mut c_void],
}

impl<'call> Entries<'call> {
    /// The array behind an argument, which may be NULL; an entry may not.
    fn new<T: Copy>(argument: InOut<'call, T>, parts: fn(&T) -> (usize, *mut *mut c_void)) -> Result<Self, Failure> {
        let what = argument.shared().name();
        let (count, start) = argument.shared().get_or_null().map_or((0, std::ptr::null_mut()), parts);
        if count == 0 {
            return Ok(Entries { what, slots: &mut [] });
        }
        if start.is_null() {
            return Err(Failure::invalid(format!("{what} has {count} entries at NULL")));
        }
        // SAFETY: the array says how many entries it has, and they are the callee's to write during the call.
        let slots = unsafe { std::slice::from_raw_parts_mut(start, count) };
        match slots.iter().position(|entry| entry.is_null()) {
            Some(index) => Err(Failure::invalid(format!("entry {index} of {what} is NULL"))),
            None => Ok(Entries { what, slots }),
        }
    }

    /// The Rust values behind the entries.
    fn items<'a, D: 'a>(&self) -> impl Iterator<Item = &'a D> + use<'a, '_, 'call, D> {
        // SAFETY: rcl fills the array for this kind of handle with the `data` of handles of ours (of events: with the
        // events themselves) that outlive the wait, and no entry is NULL.
        self.slots.iter().map(|entry| unsafe { &*entry.cast_const().cast::<D>() })
    }

    /// Sets what is not ready to NULL; `ready` is for this array's entries.
    fn keep_ready(&mut self, ready: &[bool]) {
        for (slot, ready) in self.slots.iter_mut().zip(ready) {
            if !ready {
                *slot = std::ptr::null_mut();
            }
        }
    }
}

fn wait(
    subscriptions: InOut<sys::rmw_subscriptions_t>,
    guards: InOut<sys::rmw_guard_conditions_t>,
    services: InOut<sys::rmw_services_t>,
    clients: InOut<sys::rmw_clients_t>,
    events: InOut<sys::rmw_events_t>,
    wait_set: InOut<sys::rmw_wait_set_t>,
    timeout: In<sys::rmw_time_t>,
) -> Result<(), Failure> {
    let set = wait_set.handle()?;
    let arrays = Arrays::new(subscriptions, guards, services, clients, events)?;
    match wait_in(Manner::Once, set, arrays, timeout)? {
        Outcome::Ready => Ok(()),
        // Nothing is ready. Who asks shoal_wait_outcome learns why.
        Outcome::TimedOut
        | Outcome::Interrupted
        | Outcome::EndOfStream
        | Outcome::Broken
        | Outcome::EndOfDay
        | Outcome::Shed => Err(Failure::timed_out()),
    }
}

/// As many items as an ordinary executor waits for: for them a wait allocates nothing.
const FEW: usize = 24;

type Items<'a> = SmallVec<[Waitable<'a>; FEW]>;

/// What a wait waits for.
pub(super) struct Arrays<'call> {
    handles: [Entries<'call>; 4],
    events: Entries<'call>,
}

impl<'call> Arrays<'call> {
    pub(super) fn new(
        subscriptions: InOut<'call, sys::rmw_subscriptions_t>,
        guards: InOut<'call, sys::rmw_guard_conditions_t>,
        services: InOut<'call, sys::rmw_services_t>,
        clients: InOut<'call, sys::rmw_clients_t>,
        events: InOut<'call, sys::rmw_events_t>,
    ) -> Result<Self, Failure> {
        let handles = [
            Entries::new(subscriptions, |a| (a.subscriber_count, a.subscribers))?,
            Entries::new(guards, |a| (a.guard_condition_count, a.guard_conditions))?,
            Entries::new(services, |a| (a.service_count, a.services))?,
            Entries::new(clients, |a| (a.client_count, a.clients))?,
        ];
        Ok(Arrays { handles, events: Entries::new(events, |a| (a.event_count, a.events))? })
    }

    fn items(&self) -> Result<Items<'call>, Failure> {
        let mut items = waitables(&self.handles);
        for event in self.events.items::<sys::rmw_event_t>() {
            items.push(Waitable::Event(event_of(event, self.events.what)?));
        }
        Ok(items)
    }

    /// Sets what is not ready to NULL; `ready` is for the items.
    fn keep_ready(&mut self, ready: &[bool]) {
        let mut rest = ready;
        for array in self.handles.iter_mut().chain([&mut self.events]) {
            let (own, others) = rest.split_at(array.slots.len());
            array.keep_ready(own);
            rest = others;
        }
    }
}

/// Waits, keeps the entries that are ready, and remembers in the wait set how it ended.
pub(super) fn wait_in(
    manner: Manner,
    set: &WaitSetData,
    mut arrays: Arrays<'_>,
    timeout: In<sys::rmw_time_t>,
) -> Result<Outcome, Failure> {
    let items = arrays.items()?;
    let mut ready: SmallVec<[bool; FEW]> = smallvec![false; items.len()];
    let _in_use = set.begin()?;
    let outcome = shoal_rmw::wait_in(manner, &set.context, &items, &mut ready, duration(timeout))?;
    arrays.keep_ready(&ready);
    set.ended(outcome);
    Ok(outcome)
}

fn waitables<'a>(arrays: &[Entries<'a>; 4]) -> Items<'a> {
    let [subscriptions, guards, services, clients] = arrays;
    let mut items = Items::with_capacity(arrays.iter().map(|array| array.slots.len()).sum());
    items.extend(subscriptions.items::<SubscriptionData>().map(|d| Waitable::Subscription(&d.subscription)));
    items.extend(guards.items::<GuardConditionData>().map(|d| Waitable::Guard(&d.guard)));
    items.extend(services.items::<ServiceData>().map(|d| Waitable::Service(&d.service)));
    items.extend(clients.items::<ClientData>().map(|d| Waitable::Client(&d.client)));
    items
}

/// NULL, and what exceeds the range of nanoseconds, is for ever.
pub(super) fn duration(timeout: In<sys::rmw_time_t>) -> Option<Duration> {
    let time = timeout.get_or_null()?;
    let nanoseconds = time.sec.checked_mul(1_000_000_000)?.checked_add(time.nsec)?;
    (nanoseconds < i64::MAX as u64).then(|| Duration::from_nanos(nanoseconds))
}
