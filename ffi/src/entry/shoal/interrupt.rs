//! shoal.h: interruption.

use std::ffi::c_int;

use shoal_rmw::Interrupt;

use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::InterruptData;
use crate::sys;

exports! {
    /// Arms signals until the guard is destroyed.
    fn shoal_interrupt_guard_create(signals: *const c_int, count: usize) -> *mut sys::shoal_interrupt_guard_t = create;
    /// Frees a guard and restores what its signals displaced.
    fn shoal_interrupt_guard_destroy(guard: *mut sys::shoal_interrupt_guard_t) -> sys::rmw_ret_t = destroy;
    /// Raises the process's flag and wakes its waiting threads. Async-signal-safe.
    fn shoal_interrupt_guard_interrupt(guard: *const sys::shoal_interrupt_guard_t) -> sys::rmw_ret_t = interrupt;
    /// Whether the flag is raised.
    fn shoal_interrupt_guard_interrupted(guard: *const sys::shoal_interrupt_guard_t) -> bool = interrupted;
    /// Lowers the flag.
    fn shoal_interrupt_guard_resume(guard: *const sys::shoal_interrupt_guard_t) -> sys::rmw_ret_t = resume;
}

fn create(signals: In<c_int>, count: usize) -> Result<*mut sys::shoal_interrupt_guard_t, Failure> {
    let interrupt = Interrupt::new(signals.array(count)?).map_err(|e| Failure::invalid(e.to_string()))?;
    Ok(InterruptData { interrupt }.expose())
}

fn destroy(guard: InOut<sys::shoal_interrupt_guard_t>) -> Result<(), Failure> {
    drop(guard.reclaim()?);
    Ok(())
}

fn interrupt(guard: In<sys::shoal_interrupt_guard_t>) -> Result<(), Failure> {
    guard.handle()?.interrupt.interrupt();
    Ok(())
}

fn interrupted(guard: In<sys::shoal_interrupt_guard_t>) -> Result<bool, Failure> {
    Ok(guard.handle()?.interrupt.interrupted())
}

fn resume(guard: In<sys::shoal_interrupt_guard_t>) -> Result<(), Failure> {
    guard.handle()?.interrupt.resume();
    Ok(())
}
