//! `rmw_guard_condition_t`.

use std::sync::Arc;

use shoal_rmw::GuardCondition;

use super::{expose, handle, IDENTIFIER};
use crate::sys;

/// The private part of a guard condition.
pub struct GuardConditionData {
    /// The guard condition.
    pub guard: Arc<GuardCondition>,
    /// A node's graph guard condition, which ends with its node and not by `rmw_destroy_guard_condition`.
    pub of_node: bool,
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
