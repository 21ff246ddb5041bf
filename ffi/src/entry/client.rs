//! rmw/rmw.h: service clients.

use std::ffi::{c_char, c_void};

use shoal_rmw::Client;

use super::gid::to_gid;
use super::service::to_info;
use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::ClientData;
use crate::message::{Target, Typed};
use crate::{names, qos, sys};

exports! {
    /// Creates a client and enters it into the graph.
    fn rmw_create_client(
        node: *const sys::rmw_node_t,
        type_support: *const sys::rosidl_service_type_support_t,
        service_name: *const c_char,
        qos_policies: *const sys::rmw_qos_profile_t,
    ) -> *mut sys::rmw_client_t = create;
    /// Takes a client out of the graph and frees it.
    fn rmw_destroy_client(node: *mut sys::rmw_node_t, client: *mut sys::rmw_client_t) -> sys::rmw_ret_t = destroy;
    /// Sends a request; its number comes back.
    fn rmw_send_request(
        client: *const sys::rmw_client_t,
        ros_request: *const c_void,
        sequence_id: *mut i64,
    ) -> sys::rmw_ret_t = send_request;
    /// Takes the next response.
    fn rmw_take_response(
        client: *const sys::rmw_client_t,
        request_header: *mut sys::rmw_service_info_t,
        ros_response: *mut c_void,
        taken: *mut bool,
    ) -> sys::rmw_ret_t = take_response;
    /// The profile with which requests are sent.
    fn rmw_client_request_publisher_get_actual_qos(
        client: *const sys::rmw_client_t,
        qos: *mut sys::rmw_qos_profile_t,
    ) -> sys::rmw_ret_t = actual_qos;
    /// The profile with which responses are received.
    fn rmw_client_response_subscription_get_actual_qos(
        client: *const sys::rmw_client_t,
        qos: *mut sys::rmw_qos_profile_t,
    ) -> sys::rmw_ret_t = actual_qos;
    /// The client's identity, unique in the domain.
    fn rmw_get_gid_for_client(client: *const sys::rmw_client_t, gid: *mut sys::rmw_gid_t) -> sys::rmw_ret_t = own_gid;
    /// Whether a request sent now will be read by a service.
    fn rmw_service_server_is_available(
        node: *const sys::rmw_node_t,
        client: *const sys::rmw_client_t,
        is_available: *mut bool,
    ) -> sys::rmw_ret_t = server_is_available;
}

fn create(
    node: In<sys::rmw_node_t>,
    type_support: In<sys::rosidl_service_type_support_t>,
    name: In<c_char>,
    profile: In<sys::rmw_qos_profile_t>,
) -> Result<*mut sys::rmw_client_t, Failure> {
    let node = node.handle()?;
    type_support.pointer()?;
    let mut profile = *profile.get()?;
    let name = names::endpoint(name, &profile)?;
    let types = super::service_type(type_support)?;
    qos::for_service(&mut profile);
    let client = Client::new(&node.node, name, super::service_info(&types), qos::resolve(&profile)?)?;
    Ok(ClientData { client, types, name: names::to_c(name)? }.expose())
}

fn destroy(node: InOut<sys::rmw_node_t>, client: InOut<sys::rmw_client_t>) -> Result<(), Failure> {
    node.handle()?;
    drop(client.reclaim()?);
    Ok(())
}

fn send_request(client: In<sys::rmw_client_t>, request: In<c_void>, sequence: InOut<i64>) -> Result<(), Failure> {
    let client = client.handle()?;
    let request = Typed::new(&client.types.request.plan, request)?;
    sequence.pointer()?;
    sequence.write(client.client.send(&request)?)
}

fn take_response(
    client: In<sys::rmw_client_t>,
    header: InOut<sys::rmw_service_info_t>,
    response: InOut<c_void>,
    taken: InOut<bool>,
) -> Result<(), Failure> {
    let client = client.handle()?;
    header.pointer()?;
    let target = Target::new(&client.types.response.plan, response)?;
    taken.write(false)?;
    if let Some(info) = client.client.take(&mut |incoming| target.fill(incoming))? {
        header.write(to_info(&info))?;
        taken.write(true)?;
    }
    Ok(())
}

fn actual_qos(client: In<sys::rmw_client_t>, profile: InOut<sys::rmw_qos_profile_t>) -> Result<(), Failure> {
    profile.write(qos::to_profile(client.handle()?.client.qos()))
}

fn own_gid(client: In<sys::rmw_client_t>, gid: InOut<sys::rmw_gid_t>) -> Result<(), Failure> {
    gid.write(to_gid(client.handle()?.client.gid()))
}

fn server_is_available(
    node: In<sys::rmw_node_t>,
    client: In<sys::rmw_client_t>,
    is_available: InOut<bool>,
) -> Result<(), Failure> {
    node.handle().map_err(Failure::as_the_suite_asks)?;
    let client = client.handle().map_err(Failure::as_the_suite_asks)?;
    is_available.pointer().map_err(Failure::as_the_suite_asks)?;
    is_available.write(client.client.server_available()?)
}
