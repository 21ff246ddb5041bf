//! rmw/rmw.h: serialization without an endpoint.

use std::ffi::{c_char, c_void};

use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::IDENTIFIER;
use crate::message::{Bytes, Serialized, Target, Typed};
use crate::sys;

exports! {
    /// The name of this implementation.
    fn rmw_get_implementation_identifier() -> *const c_char = || Ok(IDENTIFIER.as_ptr());
    /// The format of serialized messages: CDR with its encapsulation header.
    fn rmw_get_serialization_format() -> *const c_char = || Ok(c"cdr".as_ptr());
    /// Serializes a message.
    fn rmw_serialize(
        ros_message: *const c_void,
        type_support: *const sys::rosidl_message_type_support_t,
        serialized_message: *mut sys::rmw_serialized_message_t,
    ) -> sys::rmw_ret_t = serialize;
    /// Deserializes a message.
    fn rmw_deserialize(
        serialized_message: *const sys::rmw_serialized_message_t,
        type_support: *const sys::rosidl_message_type_support_t,
        ros_message: *mut c_void,
    ) -> sys::rmw_ret_t = deserialize;
}

fn serialize(
    message: In<c_void>,
    type_support: In<sys::rosidl_message_type_support_t>,
    serialized: InOut<sys::rmw_serialized_message_t>,
) -> Result<(), Failure> {
    message.pointer()?;
    let bytes = Bytes::new(serialized)?;
    let message_type = super::message_type(type_support)?;
    bytes.write(&Typed::new(&message_type.plan, message)?)
}

fn deserialize(
    serialized: In<sys::rmw_serialized_message_t>,
    type_support: In<sys::rosidl_message_type_support_t>,
    message: InOut<c_void>,
) -> Result<(), Failure> {
    let serialized = Serialized::new(serialized)?;
    message.pointer()?;
    let message_type = super::message_type(type_support)?;
    Ok(Target::new(&message_type.plan, message)?.fill(serialized.incoming())?)
}
