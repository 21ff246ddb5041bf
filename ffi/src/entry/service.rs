//! rmw/rmw.h: service servers.

use std::ffi::{c_char, c_void};

use shoal_rmw::{Service, ServiceInfo};

use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::ServiceData;
use crate::message::{Target, Typed};
use crate::{names, qos, sys};

exports! {
    /// Creates a service and enters it into the graph.
    fn rmw_create_service(
        node: *const sys::rmw_node_t,
        type_support: *const sys::rosidl_service_type_support_t,
        service_name: *const c_char,
        qos_profile: *const sys::rmw_qos_profile_t,
    ) -> *mut sys::rmw_service_t = create;
    /// Takes a service out of the graph and frees it.
    fn rmw_destroy_service(node: *mut sys::rmw_node_t, service: *mut sys::rmw_service_t) -> sys::rmw_ret_t = destroy;
    /// Takes the next request.
    fn rmw_take_request(
        service: *const sys::rmw_service_t,
        request_header: *mut sys::rmw_service_info_t,
        ros_request: *mut c_void,
        taken: *mut bool,
    ) -> sys::rmw_ret_t = take_request;
    /// Answers the request that `request_header` names.
    fn rmw_send_response(
        service: *const sys::rmw_service_t,
        request_header: *mut sys::rmw_request_id_t,
        ros_response: *mut c_void,
    ) -> sys::rmw_ret_t = send_response;
    /// The profile with which requests are received.
    fn rmw_service_request_subscription_get_actual_qos(
        service: *const sys::rmw_service_t,
        qos: *mut sys::rmw_qos_profile_t,
    ) -> sys::rmw_ret_t = actual_qos;
    /// The profile with which responses are sent.
    fn rmw_service_response_publisher_get_actual_qos(
        service: *const sys::rmw_service_t,
        qos: *mut sys::rmw_qos_profile_t,
    ) -> sys::rmw_ret_t = actual_qos;
}

/// What is known about a request or response, as C sees it.
pub(super) fn to_info(info: &ServiceInfo) -> sys::rmw_service_info_t {
    sys::rmw_service_info_t {
        source_timestamp: info.source_timestamp,
        received_timestamp: info.received_timestamp,
        request_id: sys::rmw_request_id_t { writer_guid: info.client, sequence_number: info.sequence },
    }
}

fn create(
    node: In<sys::rmw_node_t>,
    type_support: In<sys::rosidl_service_type_support_t>,
    name: In<c_char>,
    profile: In<sys::rmw_qos_profile_t>,
) -> Result<*mut sys::rmw_service_t, Failure> {
    let node = node.handle()?;
    type_support.pointer()?;
    let mut profile = *profile.get()?;
    let name = names::endpoint(name, &profile)?;
    let types = super::service_type(type_support)?;
    qos::for_service(&mut profile);
    let service = Service::new(&node.node, name, super::service_info(&types), qos::resolve(&profile)?)?;
    Ok(ServiceData { service, types, name: names::to_c(name)? }.expose())
}

fn destroy(node: InOut<sys::rmw_node_t>, service: InOut<sys::rmw_service_t>) -> Result<(), Failure> {
    node.handle()?;
    drop(service.reclaim()?);
    Ok(())
}

fn take_request(
    service: In<sys::rmw_service_t>,
    header: InOut<sys::rmw_service_info_t>,
    request: InOut<c_void>,
    taken: InOut<bool>,
) -> Result<(), Failure> {
    let service = service.handle()?;
    header.pointer()?;
    let target = Target::new(&service.types.request.plan, request)?;
    taken.write(false)?;
    if let Some(info) = service.service.take(&mut |incoming| target.fill(incoming))? {
        header.write(to_info(&info))?;
        taken.write(true)?;
    }
    Ok(())
}

fn send_response(
    service: In<sys::rmw_service_t>,
    header: InOut<sys::rmw_request_id_t>,
    response: InOut<c_void>,
) -> Result<(), Failure> {
    let service = service.handle()?;
    let request = header.read()?;
    let response = Typed::new(&service.types.response.plan, response.shared())?;
    Ok(service.service.respond(request.writer_guid, request.sequence_number, &response)?)
}

fn actual_qos(service: In<sys::rmw_service_t>, profile: InOut<sys::rmw_qos_profile_t>) -> Result<(), Failure> {
    profile.write(qos::to_profile(service.handle()?.service.qos()))
}
