//! `rmw_client_t`.

use std::ffi::CString;
use std::sync::Arc;

use shoal_rmw::Client;

use super::{expose, handle, IDENTIFIER};
use crate::sys;
use crate::typesupport::ServiceType;

/// The private part of a client.
pub struct ClientData {
    /// The client.
    pub client: Arc<Client>,
    /// Its service type.
    pub types: Arc<ServiceType>,
    /// The service name, which `rmw_client_t` points to.
    pub name: CString,
}

handle!(sys::rmw_client_t => ClientData, data, "client");

impl ClientData {
    /// Gives it to C.
    pub fn expose(self) -> *mut sys::rmw_client_t {
        expose::<sys::rmw_client_t>(self, |private, data| sys::rmw_client_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data: private,
            service_name: data.name.as_ptr(),
        })
    }
}
