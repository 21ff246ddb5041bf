//! `rmw_wait_set_t`.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use shoal_rmw::{Context, Outcome};

use super::{expose, handle, IDENTIFIER};
use crate::boundary::Failure;
use crate::sys;

/// The private part of a wait set.
pub struct WaitSetData {
    /// The context it waits in.
    pub context: Arc<Context>,
    in_use: Mutex<()>,
    last: Mutex<Option<Outcome>>,
}

handle!(sys::rmw_wait_set_t => WaitSetData, data, "wait set");

impl WaitSetData {
    /// Gives a wait set to C.
    pub fn expose(context: Arc<Context>) -> *mut sys::rmw_wait_set_t {
        let data = WaitSetData { context, in_use: Mutex::new(()), last: Mutex::new(None) };
        expose::<sys::rmw_wait_set_t>(data, |private, _| sys::rmw_wait_set_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            guard_conditions: std::ptr::null_mut(),
            data: private,
        })
    }

    /// Marks the set as waited on until the returned value is dropped; an error when it is already.
    pub fn begin(&self) -> Result<MutexGuard<'_, ()>, Failure> {
        let in_use = || Failure::error("wait_set is being waited on by another thread; use one wait set per thread");
        self.in_use.try_lock().ok_or_else(in_use)
    }

    /// Why the last wait on it ended; `None` before the first.
    pub fn last(&self) -> Option<Outcome> {
        *self.last.lock()
    }

    /// Remembers why a wait ended.
    pub fn ended(&self, outcome: Outcome) {
        *self.last.lock() = Some(outcome);
    }
}
