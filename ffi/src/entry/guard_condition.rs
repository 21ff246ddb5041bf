//! rmw/rmw.h: guard conditions.

use shoal_rmw::GuardCondition;

use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::{GuardConditionData, Owner};
use crate::sys;

exports! {
    /// Creates a guard condition.
    fn rmw_create_guard_condition(context: *mut sys::rmw_context_t) -> *mut sys::rmw_guard_condition_t = create;
    /// Frees a guard condition.
    fn rmw_destroy_guard_condition(guard_condition: *mut sys::rmw_guard_condition_t) -> sys::rmw_ret_t = destroy;
    /// Wakes who waits on it. Async-signal-safe: no lock, no allocation, one system call at most.
    fn rmw_trigger_guard_condition(guard_condition: *const sys::rmw_guard_condition_t) -> sys::rmw_ret_t = trigger;
}

fn create(context: InOut<sys::rmw_context_t>) -> Result<*mut sys::rmw_guard_condition_t, Failure> {
    let guard = GuardCondition::new(context.shared().running()?);
    Ok(GuardConditionData { guard, owner: None }.expose(context.pointer()?))
}

fn destroy(guard: InOut<sys::rmw_guard_condition_t>) -> Result<(), Failure> {
    let owned = match guard.handle()?.owner {
        None => {
            drop(guard.reclaim()?);
            return Ok(());
        }
        Some(Owner::Node) => "the graph guard condition of a node; destroy the node",
        Some(Owner::Stream) => "the credit of a stream; destroy the stream",
    };
    Err(Failure::invalid(format!("guard_condition is {owned} instead")))
}

fn trigger(guard: In<sys::rmw_guard_condition_t>) -> Result<(), Failure> {
    guard.handle()?.guard.trigger();
    Ok(())
}
