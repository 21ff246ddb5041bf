//! Type supports, as a C program gets them: the generic handle, which finds the one that the RMW understands.

use super::{open, Error, Result};
use rmw_shoal::sys;
use std::path::Path;

pub(super) type Members = sys::rosidl_typesupport_introspection_c__MessageMembers;

const INTROSPECTION: &std::ffi::CStr = c"rosidl_typesupport_introspection_c";

/// The type support of a message type.
#[derive(Copy, Clone)]
pub struct MessageType(pub(super) *const sys::rosidl_message_type_support_t);

/// The type support of a service type.
#[derive(Copy, Clone)]
pub struct ServiceType(pub(super) *const sys::rosidl_service_type_support_t);

impl MessageType {
    /// For example `("std_msgs", "String")`. Its library stays loaded.
    ///
    /// # Errors
    /// There is no such package or type in the library path.
    pub fn load(package: &str, name: &str) -> Result<MessageType> {
        let symbol = format!("rosidl_typesupport_c__get_message_type_support_handle__{package}__msg__{name}");
        Ok(MessageType(call_getter(package, &symbol)?))
    }

    /// How messages of the type are made and taken down. Loads the introspection library of the package.
    pub(super) fn members(self) -> Result<&'static Members> {
        // SAFETY: a handle of a library that stays loaded; the identifier is NUL-terminated.
        let found = unsafe {
            let find = (*self.0).func.ok_or_else(|| Error::Argument("a type support without a function".into()))?;
            find(self.0, INTROSPECTION.as_ptr()).as_ref()
        };
        let support = found.ok_or_else(|| Error::Argument("a type without C introspection".into()))?;
        // SAFETY: what introspection handles point to, by rosidl_typesupport_introspection_c; it is static.
        Ok(unsafe { &*support.data.cast() })
    }
}

impl ServiceType {
    /// For example `("rcl_interfaces", "GetParameters")`. Its library stays loaded.
    ///
    /// # Errors
    /// There is no such package or type in the library path.
    pub fn load(package: &str, name: &str) -> Result<ServiceType> {
        let symbol = format!("rosidl_typesupport_c__get_service_type_support_handle__{package}__srv__{name}");
        Ok(ServiceType(call_getter(package, &symbol)?))
    }

    /// How requests and responses are made.
    pub(super) fn members(self) -> Result<(&'static Members, &'static Members)> {
        // SAFETY: a handle of a library that stays loaded; the identifier is NUL-terminated.
        let found = unsafe {
            let find = (*self.0).func.ok_or_else(|| Error::Argument("a type support without a function".into()))?;
            find(self.0, INTROSPECTION.as_ptr()).as_ref()
        };
        let support = found.ok_or_else(|| Error::Argument("a service type without C introspection".into()))?;
        // SAFETY: what introspection handles of services point to, by rosidl_typesupport_introspection_c; it is static.
        unsafe {
            let service = &*support.data.cast::<sys::rosidl_typesupport_introspection_c__ServiceMembers>();
            Ok((&*service.request_members_, &*service.response_members_))
        }
    }
}

/// Loads everything that these packages' types need, as using them would.
///
/// # Errors
/// As [`MessageType::load`].
pub fn load_all(types: &[(&str, &str)]) -> Result<()> {
    types.iter().try_for_each(|(package, name)| MessageType::load(package, name)?.members().map(drop))
}

fn call_getter<T>(package: &str, symbol: &str) -> Result<*const T> {
    let library = open(Path::new(&format!("lib{package}__rosidl_typesupport_c.so")))?;
    // SAFETY: getters of type supports take nothing and answer a static handle.
    let getter = unsafe { library.get::<unsafe extern "C" fn() -> *const T>(symbol.as_bytes()) };
    let getter = *getter.map_err(|source| Error::Load { what: symbol.to_owned(), source })?;
    std::mem::forget(library);
    // SAFETY: as above.
    Ok(unsafe { getter() })
}
