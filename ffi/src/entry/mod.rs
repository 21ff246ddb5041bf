//! The exported functions, one file per group of the rmw headers.

mod callbacks;
mod client;
mod event;
mod features;
mod filters;
mod gid;
mod graph;
mod guard_condition;
mod init;
mod init_options;
mod loans;
mod node;
mod publish;
mod publisher;
pub mod refusals;
mod serialization;
mod service;
mod shoal;
mod subscription;
mod take;
mod unsupported;
mod wait;

use std::sync::Arc;

use shoal_rmw::TypeInfo;

use crate::boundary::{Failure, In};
use crate::sys;
use crate::typesupport::{MessageType, ServiceType};

/// Shared memory has no network flows, so an endpoint that insists on its own cannot be made.
fn check_network_flows(
    name: &str,
    requirement: sys::rmw_unique_network_flow_endpoints_requirement_t,
) -> Result<(), Failure> {
    match requirement {
        sys::RMW_UNIQUE_NETWORK_FLOW_ENDPOINTS_STRICTLY_REQUIRED => Err(refusals::refuse(name)),
        _ => Ok(()),
    }
}

/// The compiled type behind a type support argument.
fn message_type(handle: In<'_, sys::rosidl_message_type_support_t>) -> Result<Arc<MessageType>, Failure> {
    let pointer = handle.pointer()?;
    // SAFETY: a message type support, whose libraries rcl keeps loaded as long as anything of the type is in use.
    unsafe { MessageType::of(pointer) }.map_err(|e| Failure::error(format!("{}: {e}", handle.name())))
}

/// As [`message_type`].
fn service_type(handle: In<'_, sys::rosidl_service_type_support_t>) -> Result<Arc<ServiceType>, Failure> {
    let pointer = handle.pointer()?;
    // SAFETY: a service type support, otherwise as above.
    unsafe { ServiceType::of(pointer) }.map_err(|e| Failure::error(format!("{}: {e}", handle.name())))
}

/// A message type as the graph shows it.
fn message_info(message: &MessageType) -> TypeInfo {
    TypeInfo {
        name: message.name.clone(),
        hash: message.hash,
        fixed_size: message.plan.fixed_size(),
        loanable_size: message.loanable_size(),
    }
}

/// A service type as the graph shows it: sizes are those of neither request nor response.
fn service_info(service: &ServiceType) -> TypeInfo {
    TypeInfo { name: service.name.clone(), hash: service.hash, fixed_size: None, loanable_size: None }
}

/// Every entry point.
#[cfg(feature = "test-hooks")]
pub fn exports() -> Vec<&'static crate::boundary::hooks::Export> {
    let groups = [
        callbacks::EXPORTS,
        client::EXPORTS,
        event::EXPORTS,
        features::EXPORTS,
        filters::EXPORTS,
        gid::EXPORTS,
        graph::by_node::EXPORTS,
        graph::counts::EXPORTS,
        graph::endpoints::EXPORTS,
        graph::names::EXPORTS,
        guard_condition::EXPORTS,
        init::EXPORTS,
        init_options::EXPORTS,
        loans::EXPORTS,
        node::EXPORTS,
        publish::EXPORTS,
        publisher::EXPORTS,
        serialization::EXPORTS,
        service::EXPORTS,
        shoal::bounds::EXPORTS,
        shoal::counters::EXPORTS,
        shoal::credit::EXPORTS,
        shoal::interrupt::EXPORTS,
        shoal::progress::EXPORTS,
        shoal::streams::EXPORTS,
        shoal::wait::EXPORTS,
        shoal::work::EXPORTS,
        subscription::EXPORTS,
        take::EXPORTS,
        unsupported::allocations::EXPORTS,
        unsupported::dynamic::EXPORTS,
        unsupported::flows::EXPORTS,
        wait::EXPORTS,
    ];
    groups.into_iter().flatten().collect()
}
