//! `shoal_interrupt_guard_t`.

use shoal_rmw::Interrupt;

use super::{expose, handle, IDENTIFIER};
use crate::sys;

/// The private part of an interrupt guard.
pub struct InterruptData {
    /// The signals it has armed.
    pub interrupt: Interrupt,
}

handle!(sys::shoal_interrupt_guard_t => InterruptData, data, "interrupt guard");

impl InterruptData {
    /// Gives it to C.
    pub fn expose(self) -> *mut sys::shoal_interrupt_guard_t {
        expose::<sys::shoal_interrupt_guard_t>(self, |private, _| sys::shoal_interrupt_guard_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data: private,
        })
    }
}
