//! rmw/rmw.h: loaned messages.

use std::ffi::c_void;

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::later::refuse;
use crate::handle::Handle;
use crate::sys;

exports! {
    /// Lends a message to be published.
    fn rmw_borrow_loaned_message(
        publisher: *const sys::rmw_publisher_t,
        type_support: *const sys::rosidl_message_type_support_t,
        ros_message: *mut *mut c_void,
    ) -> sys::rmw_ret_t = borrow;
    /// Takes a lent message back unpublished.
    fn rmw_return_loaned_message_from_publisher(
        publisher: *const sys::rmw_publisher_t,
        loaned_message: *mut c_void,
    ) -> sys::rmw_ret_t = |publisher, message| {
        give_back("rmw_return_loaned_message_from_publisher", publisher, message)
    };
    /// Publishes a lent message.
    fn rmw_publish_loaned_message(
        publisher: *const sys::rmw_publisher_t,
        ros_message: *mut c_void,
        allocation: *mut sys::rmw_publisher_allocation_t,
    ) -> sys::rmw_ret_t = |publisher, message, _allocation| give_back("rmw_publish_loaned_message", publisher, message);
    /// Takes a message where it lies.
    fn rmw_take_loaned_message(
        subscription: *const sys::rmw_subscription_t,
        loaned_message: *mut *mut c_void,
        taken: *mut bool,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = |subscription, message, taken, _allocation| take(subscription, message, taken);
    /// Takes a message where it lies and what is known about it.
    fn rmw_take_loaned_message_with_info(
        subscription: *const sys::rmw_subscription_t,
        loaned_message: *mut *mut c_void,
        taken: *mut bool,
        message_info: *mut sys::rmw_message_info_t,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = |subscription, message, taken, info, _allocation| {
        take_with_info(subscription, message, taken, info)
    };
    /// Gives a message back that was taken where it lies.
    fn rmw_return_loaned_message_from_subscription(
        subscription: *const sys::rmw_subscription_t,
        loaned_message: *mut c_void,
    ) -> sys::rmw_ret_t = |subscription, message| {
        give_back("rmw_return_loaned_message_from_subscription", subscription, message)
    };
}

/// A place for a message must be empty, so that nothing leaks.
fn check_place(place: InOut<*mut c_void>) -> Result<(), Failure> {
    match place.read()?.is_null() {
        true => Ok(()),
        false => Err(Failure::invalid(format!("{} already leads to a message", place.shared().name()))),
    }
}

fn borrow(
    publisher: In<sys::rmw_publisher_t>,
    type_support: In<sys::rosidl_message_type_support_t>,
    place: InOut<*mut c_void>,
) -> Result<(), Failure> {
    publisher.handle()?;
    type_support.pointer()?;
    check_place(place)?;
    Err(refuse("rmw_borrow_loaned_message"))
}

fn give_back<T: Handle>(name: &str, handle: In<T>, message: InOut<c_void>) -> Result<(), Failure> {
    handle.handle()?;
    message.pointer()?;
    Err(refuse(name))
}

fn take(
    subscription: In<sys::rmw_subscription_t>,
    place: InOut<*mut c_void>,
    taken: InOut<bool>,
) -> Result<(), Failure> {
    subscription.handle()?;
    check_place(place)?;
    taken.pointer()?;
    Err(refuse("rmw_take_loaned_message"))
}

fn take_with_info(
    subscription: In<sys::rmw_subscription_t>,
    place: InOut<*mut c_void>,
    taken: InOut<bool>,
    info: InOut<sys::rmw_message_info_t>,
) -> Result<(), Failure> {
    subscription.handle()?;
    check_place(place)?;
    taken.pointer()?;
    info.pointer()?;
    Err(refuse("rmw_take_loaned_message_with_info"))
}
