//! `rmw_service_t`.

use std::ffi::CString;
use std::sync::Arc;

use shoal_rmw::Service;

use super::{expose, handle, IDENTIFIER};
use crate::sys;
use crate::typesupport::ServiceType;

/// The private part of a service.
pub struct ServiceData {
    /// The service.
    pub service: Arc<Service>,
    /// Its service type.
    pub types: Arc<ServiceType>,
    /// The service name, which `rmw_service_t` points to.
    pub name: CString,
}

handle!(sys::rmw_service_t => ServiceData, data, "service");

impl ServiceData {
    /// Gives it to C.
    pub fn expose(self) -> *mut sys::rmw_service_t {
        expose::<sys::rmw_service_t>(self, |private, data| sys::rmw_service_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data: private,
            service_name: data.name.as_ptr(),
        })
    }
}
