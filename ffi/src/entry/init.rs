//! rmw/init.h

use shoal_rmw::{Context, ContextOptions, Discovery};

use super::init_options::{check as check_options, duplicate, release, DEFAULT_DOMAIN};
use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::{check_ours, ContextData, Handle, IDENTIFIER};
use crate::sys;

exports! {
    /// Joins a domain.
    fn rmw_init(options: *const sys::rmw_init_options_t, context: *mut sys::rmw_context_t) -> sys::rmw_ret_t = init;
    /// Leaves the domain; what still waits there is woken.
    fn rmw_shutdown(context: *mut sys::rmw_context_t) -> sys::rmw_ret_t = shutdown;
    /// Frees a context that was shut down.
    fn rmw_context_fini(context: *mut sys::rmw_context_t) -> sys::rmw_ret_t = fini;
}

fn init(options: In<sys::rmw_init_options_t>, context: InOut<sys::rmw_context_t>) -> Result<(), Failure> {
    options.get()?;
    context.pointer()?;
    let options = check_options(options)?;
    check_unused(context)?;
    let domain_id = match options.domain_id {
        DEFAULT_DOMAIN => 0,
        chosen => chosen,
    };
    let joined = Context::new(context_options(options, domain_id)?)?;
    let copy = duplicate(options)?;
    context.write(sys::rmw_context_t {
        instance_id: options.instance_id,
        implementation_identifier: IDENTIFIER.as_ptr(),
        options: copy,
        actual_domain_id: domain_id,
        impl_: ContextData { context: joined }.into_impl(),
    })
}

fn check_unused(context: InOut<sys::rmw_context_t>) -> Result<(), Failure> {
    if context.shared().get()?.implementation_identifier.is_null() {
        return Ok(());
    }
    Err(Failure::invalid("context is initialized already; shut it down and finalize it before using it again"))
}

fn context_options(options: &sys::rmw_init_options_t, domain_id: usize) -> Result<ContextOptions, Failure> {
    // SAFETY: NULL or a NUL-terminated string that the options own.
    let enclave = unsafe { options.enclave.as_ref().map(|start| std::ffi::CStr::from_ptr(start)) };
    let enclave = enclave.ok_or_else(|| Failure::invalid("options has no enclave; set one (\"/\" when in doubt)"))?;
    Ok(ContextOptions {
        domain_id,
        enclave: enclave.to_string_lossy().into_owned(),
        discovery: discovery(options.discovery_options.automatic_discovery_range)?,
        security_enforced: options.security_options.enforce_security == sys::RMW_SECURITY_ENFORCEMENT_ENFORCE,
    })
}

fn discovery(range: sys::rmw_automatic_discovery_range_t) -> Result<Discovery, Failure> {
    match range {
        sys::RMW_AUTOMATIC_DISCOVERY_RANGE_OFF => Ok(Discovery::Off),
        sys::RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST => Ok(Discovery::Localhost),
        sys::RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET => Ok(Discovery::Subnet),
        sys::RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT => Ok(Discovery::SystemDefault),
        other => Err(Failure::invalid(format!(
            "options has automatic_discovery_range {other}; set it to OFF, LOCALHOST, SUBNET or SYSTEM_DEFAULT"
        ))),
    }
}

fn shutdown(context: InOut<sys::rmw_context_t>) -> Result<(), Failure> {
    Ok(context.shared().initialized()?.context.shutdown()?)
}

fn fini(context: InOut<sys::rmw_context_t>) -> Result<(), Failure> {
    if !context.shared().initialized()?.context.is_shut_down() {
        return Err(Failure::invalid("context was not shut down; call rmw_shutdown on it first"));
    }
    let mut held = context.read()?;
    check_ours(held.identifier(), "context")?;
    // SAFETY: returns a struct by value.
    context.write(unsafe { sys::rmw_get_zero_initialized_context() })?;
    // SAFETY: ours and initialized, so from `into_impl`, and the struct does not name it any more.
    drop(unsafe { ContextData::from_impl(held.data()) });
    release(&mut held.options)
}
