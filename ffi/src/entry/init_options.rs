//! rmw/init_options.h

use std::ffi::c_char;

use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::{check_ours, IDENTIFIER};
use crate::strings::check_allocator;
use crate::sys;

exports! {
    /// Fills in the options with defaults.
    fn rmw_init_options_init(
        init_options: *mut sys::rmw_init_options_t,
        allocator: sys::rcutils_allocator_t,
    ) -> sys::rmw_ret_t = init;
    /// Copies options, with everything they own.
    fn rmw_init_options_copy(
        src: *const sys::rmw_init_options_t,
        dst: *mut sys::rmw_init_options_t,
    ) -> sys::rmw_ret_t = copy;
    /// Frees what the options own.
    fn rmw_init_options_fini(init_options: *mut sys::rmw_init_options_t) -> sys::rmw_ret_t = fini;
}

/// RMW_DEFAULT_DOMAIN_ID: the caller leaves the domain to us.
pub(super) const DEFAULT_DOMAIN: usize = usize::MAX;

fn zero() -> sys::rmw_init_options_t {
    // SAFETY: returns a struct by value.
    unsafe { sys::rmw_get_zero_initialized_init_options() }
}

fn init(target: InOut<sys::rmw_init_options_t>, allocator: sys::rcutils_allocator_t) -> Result<(), Failure> {
    check_unused(target)?;
    let mut allocator = check_allocator(allocator, "allocator")?;
    let mut options = zero();
    options.implementation_identifier = IDENTIFIER.as_ptr();
    options.domain_id = DEFAULT_DOMAIN;
    options.allocator = allocator;
    // SAFETY: returns a struct by value.
    options.security_options = unsafe { sys::rmw_get_default_security_options() };
    // SAFETY: a zero-initialized struct and a valid allocator.
    let code = unsafe { sys::rmw_discovery_options_init(&mut options.discovery_options, 0, &mut allocator) };
    if code != sys::RMW_RET_OK {
        return Err(Failure::of_library(code, "rmw_discovery_options_init"));
    }
    target.write(options)
}

fn check_unused(target: InOut<sys::rmw_init_options_t>) -> Result<(), Failure> {
    if target.shared().get()?.implementation_identifier.is_null() {
        return Ok(());
    }
    let name = target.shared().name();
    Err(Failure::invalid(format!("{name} is initialized already; finalize it before using it again")))
}

/// Initialized options of ours.
pub(super) fn check<'call>(
    options: In<'call, sys::rmw_init_options_t>,
) -> Result<&'call sys::rmw_init_options_t, Failure> {
    let held = options.get()?;
    if held.implementation_identifier.is_null() {
        let name = options.name();
        return Err(Failure::invalid(format!("{name} is zero-initialized; call rmw_init_options_init on it first")));
    }
    check_ours(held.implementation_identifier, options.name())?;
    Ok(held)
}

fn copy(source: In<sys::rmw_init_options_t>, target: InOut<sys::rmw_init_options_t>) -> Result<(), Failure> {
    source.get()?;
    target.pointer()?;
    let source = check(source)?;
    check_unused(target)?;
    target.write(duplicate(source)?)
}

/// A copy that owns everything in it, in the allocator of the original.
pub(super) fn duplicate(source: &sys::rmw_init_options_t) -> Result<sys::rmw_init_options_t, Failure> {
    let mut allocator = check_allocator(source.allocator, "the options' allocator")?;
    let mut copy = *source;
    // Nothing of the source may be freed with the copy if a step fails.
    copy.enclave = std::ptr::null_mut();
    // SAFETY: both return a struct by value.
    (copy.discovery_options, copy.security_options) = unsafe {
        (sys::rmw_get_zero_initialized_discovery_options(), sys::rmw_get_zero_initialized_security_options())
    };
    // SAFETY: initialized options and zero-initialized targets; a valid allocator.
    let code = unsafe { copy_parts(source, &mut copy, &mut allocator) };
    if code == sys::RMW_RET_OK {
        return Ok(copy);
    }
    let failure = Failure::of_library(code, "copying the init options");
    // The first error is reported, and a part that cannot be freed cannot be helped.
    let _ = release(&mut copy);
    Err(failure)
}

/// # Safety
/// `source` is initialized; the three parts of `copy` are zero; `allocator` is valid.
unsafe fn copy_parts(
    source: &sys::rmw_init_options_t,
    copy: &mut sys::rmw_init_options_t,
    allocator: &mut sys::rcutils_allocator_t,
) -> sys::rmw_ret_t {
    // SAFETY: the caller's promise, for this block.
    unsafe {
        let code = sys::rmw_discovery_options_copy(&source.discovery_options, allocator, &mut copy.discovery_options);
        if code != sys::RMW_RET_OK {
            return code;
        }
        let code = sys::rmw_security_options_copy(&source.security_options, allocator, &mut copy.security_options);
        if code != sys::RMW_RET_OK || source.enclave.is_null() {
            return code;
        }
        copy.enclave = sys::rcutils_strdup(source.enclave, *allocator);
        if copy.enclave.is_null() {
            return sys::RMW_RET_BAD_ALLOC;
        }
    }
    sys::RMW_RET_OK
}

fn fini(target: InOut<sys::rmw_init_options_t>) -> Result<(), Failure> {
    check(target.shared())?;
    let mut options = target.read()?;
    check_allocator(options.allocator, "the options' allocator")?;
    target.write(zero())?;
    release(&mut options)
}

/// Frees what options own. All of it is tried; the first error is reported.
pub(super) fn release(options: &mut sys::rmw_init_options_t) -> Result<(), Failure> {
    free_string(options.enclave, &options.allocator);
    // SAFETY: options that own their parts, which are not used afterwards; a valid allocator.
    let codes = unsafe {
        [
            sys::rmw_security_options_fini(&mut options.security_options, &options.allocator),
            sys::rmw_discovery_options_fini(&mut options.discovery_options),
        ]
    };
    match codes.into_iter().find(|code| *code != sys::RMW_RET_OK) {
        None => Ok(()),
        Some(code) => Err(Failure::of_library(code, "freeing the init options")),
    }
}

fn free_string(text: *mut c_char, allocator: &sys::rcutils_allocator_t) {
    if let (false, Some(deallocate)) = (text.is_null(), allocator.deallocate) {
        // SAFETY: the string was made by this allocator, and the options that owned it are being finalized.
        unsafe { deallocate(text.cast(), allocator.state) };
    }
}
