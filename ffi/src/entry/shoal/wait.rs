//! shoal.h: waiting.

use shoal_rmw::{Manner, Outcome};

use super::code;
use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::wait::{wait_in, Arrays};
use crate::sys;

exports! {
    /// Waits and says why it ended.
    fn shoal_wait(
        subscriptions: *mut sys::rmw_subscriptions_t,
        guard_conditions: *mut sys::rmw_guard_conditions_t,
        services: *mut sys::rmw_services_t,
        clients: *mut sys::rmw_clients_t,
        events: *mut sys::rmw_events_t,
        wait_set: *mut sys::rmw_wait_set_t,
        wait_timeout: *const sys::rmw_time_t,
        outcome: *mut sys::shoal_outcome_t,
    ) -> sys::rmw_ret_t = wait;
    /// Why the last wait on a wait set ended.
    fn shoal_wait_outcome(wait_set: *const sys::rmw_wait_set_t, outcome: *mut sys::shoal_outcome_t) -> sys::rmw_ret_t
        = last_outcome;
}

#[allow(clippy::too_many_arguments, reason = "the signature is that of rmw_wait and one more")]
fn wait(
    subscriptions: InOut<sys::rmw_subscriptions_t>,
    guards: InOut<sys::rmw_guard_conditions_t>,
    services: InOut<sys::rmw_services_t>,
    clients: InOut<sys::rmw_clients_t>,
    events: InOut<sys::rmw_events_t>,
    wait_set: InOut<sys::rmw_wait_set_t>,
    timeout: In<sys::rmw_time_t>,
    outcome: InOut<sys::shoal_outcome_t>,
) -> Result<(), Failure> {
    let set = wait_set.handle()?;
    outcome.pointer()?;
    let arrays = Arrays::new(subscriptions, guards, services, clients, events)?;
    outcome.write(code(wait_in(Manner::UntilResumed, set, arrays, timeout)?))
}

fn last_outcome(wait_set: In<sys::rmw_wait_set_t>, outcome: InOut<sys::shoal_outcome_t>) -> Result<(), Failure> {
    outcome.write(code(wait_set.handle()?.last().unwrap_or(Outcome::Ready)))
}
