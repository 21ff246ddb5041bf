//! rmw/dynamic_message_type_support.h

use std::ffi::c_char;

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::refusals::refuse;
use crate::sys;

exports! {
    /// Takes a message of a type known at run time only.
    fn rmw_take_dynamic_message(
        subscription: *const sys::rmw_subscription_t,
        dynamic_message: *mut sys::rosidl_dynamic_typesupport_dynamic_data_t,
        taken: *mut bool,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = |subscription, message, taken, _allocation| take(subscription, message, taken);
    /// Takes such a message and what is known about it.
    fn rmw_take_dynamic_message_with_info(
        subscription: *const sys::rmw_subscription_t,
        dynamic_message: *mut sys::rosidl_dynamic_typesupport_dynamic_data_t,
        taken: *mut bool,
        message_info: *mut sys::rmw_message_info_t,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = |subscription, message, taken, info, _allocation| {
        take_with_info(subscription, message, taken, info)
    };
    /// Sets up the serialization of such messages.
    fn rmw_serialization_support_init(
        serialization_lib_name: *const c_char,
        allocator: *mut sys::rcutils_allocator_t,
        serialization_support: *mut sys::rosidl_dynamic_typesupport_serialization_support_t,
    ) -> sys::rmw_ret_t = support_init;
}

type Message<'call> = InOut<'call, sys::rosidl_dynamic_typesupport_dynamic_data_t>;

fn take(subscription: In<sys::rmw_subscription_t>, message: Message, taken: InOut<bool>) -> Result<(), Failure> {
    subscription.handle()?;
    message.pointer()?;
    taken.pointer()?;
    Err(refuse("rmw_take_dynamic_message"))
}

fn take_with_info(
    subscription: In<sys::rmw_subscription_t>,
    message: Message,
    taken: InOut<bool>,
    info: InOut<sys::rmw_message_info_t>,
) -> Result<(), Failure> {
    subscription.handle()?;
    message.pointer()?;
    taken.pointer()?;
    info.pointer()?;
    Err(refuse("rmw_take_dynamic_message_with_info"))
}

fn support_init(
    _library: In<c_char>,
    allocator: InOut<sys::rcutils_allocator_t>,
    support: InOut<sys::rosidl_dynamic_typesupport_serialization_support_t>,
) -> Result<(), Failure> {
    allocator.pointer()?;
    support.pointer()?;
    Err(refuse("rmw_serialization_support_init"))
}
