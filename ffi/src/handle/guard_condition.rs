//! `rmw_guard_condition_t`.

use std::sync::Arc;

use shoal_rmw::GuardCondition;

use super::{expose, handle, IDENTIFIER};
use crate::sys;

/// The private part of a guard condition.
pub struct GuardConditionData {
    /// The guard condition.
    pub guard: Arc<GuardCondition>,
    /// What it ends with, where that is not `rmw_destroy_guard_condition`.
    pub owner: Option<Owner>,
}

/// An object that has a guard condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A node has one for its graph.
    Node,
    /// A stream has one for its credit.
    Stream,
}

handle!(sys::rmw_guard_condition_t => GuardConditionData, data, "guard condition");

impl GuardConditionData {
    /// Gives it to C.
    pub fn expose(self, context: *mut sys::rmw_context_t) -> *mut sys::rmw_guard_condition_t {
        expose::<sys::rmw_guard_condition_t>(self, |data, _| sys::rmw_guard_condition_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data,
            context,
        })
    }
}

/// A guard condition as C sees it, which ends with its owner.
pub struct OwnedGuard(*mut sys::rmw_guard_condition_t);

impl OwnedGuard {
    /// Shows a guard condition to C for as long as the result lives.
    pub fn new(guard: Arc<GuardCondition>, owner: Owner, context: *mut sys::rmw_context_t) -> OwnedGuard {
        OwnedGuard(GuardConditionData { guard, owner: Some(owner) }.expose(context))
    }

    /// The handle.
    pub fn as_ptr(&self) -> *const sys::rmw_guard_condition_t {
        self.0
    }
}

impl Drop for OwnedGuard {
    fn drop(&mut self) {
        // SAFETY: exposed in the constructor; a guard condition that has an owner is reclaimed nowhere else.
        let outer = unsafe { Box::from_raw(self.0) };
        // SAFETY: as above.
        drop(unsafe { Box::from_raw(outer.data.cast::<GuardConditionData>()) });
    }
}
