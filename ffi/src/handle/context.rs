//! `rmw_context_t`.

use std::ffi::c_void;
use std::sync::Arc;

use shoal_rmw::Context;

use super::{check_ours, handle};
use crate::boundary::{Failure, In};
use crate::sys;

/// The private part of a context.
pub struct ContextData {
    /// The context.
    pub context: Arc<Context>,
}

handle!(sys::rmw_context_t => ContextData, impl_, "context");

impl ContextData {
    /// Gives the private part to a context struct, which is the caller's memory.
    pub fn into_impl(self) -> *mut sys::rmw_context_impl_s {
        Box::into_raw(Box::new(self)).cast()
    }

    /// Takes the private part back.
    ///
    /// # Safety
    /// `private` comes from [`ContextData::into_impl`] and is not used afterwards.
    pub unsafe fn from_impl(private: *mut c_void) -> Box<ContextData> {
        // SAFETY: the caller's promise.
        unsafe { Box::from_raw(private.cast()) }
    }
}

impl<'call> In<'call, sys::rmw_context_t> {
    /// The context, initialized and perhaps shut down.
    pub fn initialized(&self) -> Result<&'call ContextData, Failure> {
        let outer = self.get()?;
        if outer.implementation_identifier.is_null() {
            let name = self.name();
            return Err(Failure::invalid(format!("{name} is zero-initialized; call rmw_init on it first")));
        }
        check_ours(outer.implementation_identifier, self.name())?;
        self.handle()
    }

    /// The context, initialized and not shut down.
    pub fn running(&self) -> Result<&'call Arc<Context>, Failure> {
        let context = &self.initialized()?.context;
        if context.is_shut_down() {
            return Err(Failure::invalid(format!("{} was shut down; initialize another one", self.name())));
        }
        Ok(context)
    }
}
