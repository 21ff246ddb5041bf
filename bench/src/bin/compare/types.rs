//! Message types: `std_msgs/msg/UInt8MultiArray` and `std_srvs/srv/SetBool` of the ROS prefix, and fixed-size messages
//! made by hand, for loans.

use std::ffi::{c_char, c_void, CStr, CString};
use std::mem::zeroed;
use std::ptr::null;

use libloading::Library;
use rmw_shoal::sys::{self, rosidl_message_type_support_t as Support};

use crate::error::{Error, Result};

/// Looks up a type support of the prefix that works for every RMW.
fn prefix_type<T>(package: &str, family: &str, name: &str) -> Result<*const T> {
    let path = format!("lib{package}__rosidl_typesupport_c.so");
    let symbol = format!("rosidl_typesupport_c__get_{family}_handle__{package}__{name}\0");
    let fail = |source| Error::Load { path: path.clone().into(), source };
    // SAFETY: a library of the ROS prefix, whose generated function has this signature. It stays loaded for good.
    unsafe {
        let library: &'static Library = Box::leak(Box::new(Library::new(&path).map_err(fail)?));
        let get = library.get::<unsafe extern "C" fn() -> *const T>(symbol.as_bytes()).map_err(fail)?;
        Ok(get())
    }
}

/// The type of [`Bytes`].
pub fn bytes_type() -> Result<*const Support> {
    prefix_type("std_msgs", "message_type_support", "msg__UInt8MultiArray")
}

/// The type of [`Request`] and [`Response`].
pub fn service_type() -> Result<*const sys::rosidl_service_type_support_t> {
    prefix_type("std_srvs", "service_type_support", "srv__SetBool")
}

/// `std_msgs/msg/UInt8MultiArray`: an empty layout and bytes.
#[repr(C)]
pub struct Bytes {
    dimensions: sys::rosidl_runtime_c__uint8__Sequence,
    data_offset: u32,
    data: sys::rosidl_runtime_c__uint8__Sequence,
}

impl Bytes {
    /// A message of `size` bytes, all of whose pages are touched.
    pub fn new(size: usize) -> Result<Bytes> {
        // SAFETY: zeros are an empty message; the sequence is initialized once.
        unsafe {
            let mut message: Bytes = zeroed();
            if !sys::rosidl_runtime_c__uint8__Sequence__init(&mut message.data, size) {
                return Err(Error::Other(format!("no memory for a message of {size} bytes")));
            }
            std::slice::from_raw_parts_mut(message.data.data, size).fill(1);
            Ok(message)
        }
    }

    /// The payload.
    pub fn data(&mut self) -> &mut [u8] {
        if self.data.data.is_null() {
            return &mut [];
        }
        // SAFETY: the sequence says how long it is.
        unsafe { std::slice::from_raw_parts_mut(self.data.data, self.data.size) }
    }

    /// The message for the C API.
    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        (&raw mut *self).cast()
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: initialized.
        unsafe { sys::rosidl_runtime_c__uint8__Sequence__fini(&mut self.data) };
    }
}

/// `std_srvs/srv/SetBool`, the request.
#[repr(C)]
#[derive(Default)]
pub struct Request {
    /// Its only field.
    pub data: bool,
}

/// `std_srvs/srv/SetBool`, the response.
#[repr(C)]
pub struct Response {
    success: bool,
    message: sys::rosidl_runtime_c__String,
}

impl Response {
    /// An empty response.
    pub fn new() -> Response {
        // SAFETY: an all-zero string is replaced by an initialized one.
        unsafe {
            let mut response: Response = zeroed();
            sys::rosidl_runtime_c__String__init(&mut response.message);
            response
        }
    }
}

impl Drop for Response {
    fn drop(&mut self) {
        // SAFETY: initialized.
        unsafe { sys::rosidl_runtime_c__String__fini(&mut self.message) };
    }
}

/// Finds itself when asked for its own identifier, as generated type supports do.
unsafe extern "C" fn find(support: *const Support, identifier: *const c_char) -> *const Support {
    // SAFETY: both are what the RMW was given here.
    let same = unsafe { CStr::from_ptr((*support).typesupport_identifier) == CStr::from_ptr(identifier) };
    match same {
        true => support,
        false => null(),
    }
}

/// A message of `size` bytes and nothing else, which can be loaned. It lives as long as the process.
pub fn fixed_type(size: usize) -> *const Support {
    // SAFETY: NULL, zero, false and no function are values of every field.
    let (mut member, mut members, mut support) = unsafe {
        (
            zeroed::<sys::rosidl_typesupport_introspection_c__MessageMember>(),
            zeroed::<sys::rosidl_typesupport_introspection_c__MessageMembers>(),
            zeroed::<Support>(),
        )
    };
    member.name_ = c"data".as_ptr();
    member.type_id_ = sys::rosidl_typesupport_introspection_c__ROS_TYPE_UINT8 as u8;
    (member.is_array_, member.array_size_) = (true, size);
    members.message_namespace_ = c"bench_msgs__msg".as_ptr();
    members.message_name_ = CString::new(format!("Bytes{size}")).unwrap_or_default().into_raw();
    (members.member_count_, members.size_of_) = (1, size);
    members.members_ = Box::leak(Box::new(member));
    support.typesupport_identifier = c"rosidl_typesupport_introspection_c".as_ptr();
    support.func = Some(find);
    support.data = std::ptr::from_mut(Box::leak(Box::new(members))).cast();
    Box::leak(Box::new(support))
}
