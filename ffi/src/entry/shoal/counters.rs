//! shoal.h: counters of a domain.

use crate::boundary::{exports, Failure, In, InOut};
use crate::sys;

exports! {
    /// Adds to a counter.
    fn shoal_tick(context: *const sys::rmw_context_t, index: usize, inc: u64, value: *mut u64) -> sys::rmw_ret_t = tick;
    /// Sets a counter.
    fn shoal_tock(context: *const sys::rmw_context_t, index: usize, value: u64) -> sys::rmw_ret_t = tock;
}

fn tick(context: In<sys::rmw_context_t>, index: usize, inc: u64, value: InOut<u64>) -> Result<(), Failure> {
    let context = context.running()?;
    value.pointer()?;
    value.write(context.tick(index, inc)?)
}

fn tock(context: In<sys::rmw_context_t>, index: usize, value: u64) -> Result<(), Failure> {
    context.running()?.tock(index, value)?;
    Ok(())
}
