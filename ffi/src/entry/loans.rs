//! rmw/rmw.h: loaned messages.

use std::ffi::c_void;
use std::sync::Arc;

use shoal_rmw::{Incoming, MessageInfo};

use super::take::report;
use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::{PublisherData, SubscriptionData};
use crate::message::Target;
use crate::sys;
use crate::typesupport::MessageType;

exports! {
    /// Lends a message to be filled in place and then published or returned. It is initialised, but for large ones:
    /// see `MessageType::init`.
    fn rmw_borrow_loaned_message(
        publisher: *const sys::rmw_publisher_t,
        type_support: *const sys::rosidl_message_type_support_t,
        ros_message: *mut *mut c_void,
    ) -> sys::rmw_ret_t = borrow;
    /// Takes a lent message back unpublished.
    fn rmw_return_loaned_message_from_publisher(
        publisher: *const sys::rmw_publisher_t,
        loaned_message: *mut c_void,
    ) -> sys::rmw_ret_t = return_from_publisher;
    /// Publishes a lent message as it lies. It is the middleware's again, unless it was never lent.
    fn rmw_publish_loaned_message(
        publisher: *const sys::rmw_publisher_t,
        ros_message: *mut c_void,
        allocation: *mut sys::rmw_publisher_allocation_t,
    ) -> sys::rmw_ret_t = publish;
    /// Takes the next message where it lies. It is to be read only: where it is its publisher's memory, which is mapped
    /// read-only, writing is a fault.
    fn rmw_take_loaned_message(
        subscription: *const sys::rmw_subscription_t,
        loaned_message: *mut *mut c_void,
        taken: *mut bool,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = take;
    /// Takes the next message where it lies and what is known about it. See `rmw_take_loaned_message`.
    fn rmw_take_loaned_message_with_info(
        subscription: *const sys::rmw_subscription_t,
        loaned_message: *mut *mut c_void,
        taken: *mut bool,
        message_info: *mut sys::rmw_message_info_t,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = take_with_info;
    /// Gives a message back that was taken where it lies.
    fn rmw_return_loaned_message_from_subscription(
        subscription: *const sys::rmw_subscription_t,
        loaned_message: *mut c_void,
    ) -> sys::rmw_ret_t = return_from_subscription;
}

/// A place for a message must be empty, so that nothing leaks.
fn check_place(place: InOut<*mut c_void>) -> Result<(), Failure> {
    match place.read()?.is_null() {
        true => Ok(()),
        false => Err(Failure::invalid(format!("{} already leads to a message", place.shared().name()))),
    }
}

/// The type support must be of the publisher's type: the memory has that type's size.
fn check_type(publisher: &PublisherData, type_support: In<sys::rosidl_message_type_support_t>) -> Result<(), Failure> {
    if std::ptr::eq(type_support.pointer()?, publisher.type_support) {
        return Ok(());
    }
    let given = super::message_type(type_support)?;
    let own = &publisher.message;
    match Arc::ptr_eq(&given, own) || (&given.name, given.hash, given.size_of) == (&own.name, own.hash, own.size_of) {
        true => Ok(()),
        false => Err(Failure::invalid(format!(
            "{} is of {}, the publisher's type is {}",
            type_support.name(),
            given.name,
            own.name
        ))),
    }
}

fn borrow(
    publisher: In<sys::rmw_publisher_t>,
    type_support: In<sys::rosidl_message_type_support_t>,
    place: InOut<*mut c_void>,
) -> Result<(), Failure> {
    let publisher = publisher.handle()?;
    publisher.publisher.check_loanable()?;
    type_support.pointer()?;
    check_place(place)?;
    check_type(publisher, type_support)?;
    let message = publisher.publisher.borrow_loan()?;
    // SAFETY: lent for one message of this type and as long, starts on a cache line, and is nobody else's yet.
    unsafe { publisher.message.init(message) };
    place.write(message.as_ptr().cast())
}

fn return_from_publisher(publisher: In<sys::rmw_publisher_t>, message: InOut<c_void>) -> Result<(), Failure> {
    let publisher = publisher.handle()?;
    publisher.publisher.check_loanable()?;
    Ok(publisher.publisher.return_loan(message.pointer()?.cast())?)
}

fn publish(
    publisher: In<sys::rmw_publisher_t>,
    message: InOut<c_void>,
    _allocation: InOut<sys::rmw_publisher_allocation_t>,
) -> Result<(), Failure> {
    let publisher = publisher.handle()?;
    publisher.publisher.check_loanable()?;
    publisher.publisher.publish_loan(message.pointer()?.cast())?;
    Ok(())
}

/// A message of this process, deserialized from a sample that cannot be lent where it lies.
fn copied(message: &MessageType, sample: Incoming) -> shoal_rmw::Result<Box<[u64]>> {
    let mut words = vec![0_u64; message.size_of.div_ceil(8)].into_boxed_slice();
    // SAFETY: large enough, aligned for every field, and all zeros is a message of a type that has no pointers.
    let target = unsafe { Target::from_raw(&message.plan, words.as_mut_ptr().cast()) };
    target.map_err(|_| shoal_rmw::Error::Other("the copy of a message has no address".into()))?.fill(sample)?;
    Ok(words)
}

fn take_loan(
    subscription: &SubscriptionData,
    place: InOut<*mut c_void>,
    taken: InOut<bool>,
) -> Result<Option<MessageInfo>, Failure> {
    let message = &subscription.message;
    taken.write(false)?;
    let in_place = message.plan.readable_in_place();
    let loan = subscription.subscription.take_loan(in_place, &mut |sample| copied(message, sample))?;
    let Some((at, info)) = loan else { return Ok(None) };
    place.write(at.cast_mut().cast())?;
    Ok(Some(info))
}

fn take(
    subscription: In<sys::rmw_subscription_t>,
    place: InOut<*mut c_void>,
    taken: InOut<bool>,
    _allocation: InOut<sys::rmw_subscription_allocation_t>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    subscription.subscription.check_loanable()?;
    check_place(place)?;
    report(take_loan(subscription, place, taken)?, taken, None)
}

fn take_with_info(
    subscription: In<sys::rmw_subscription_t>,
    place: InOut<*mut c_void>,
    taken: InOut<bool>,
    info: InOut<sys::rmw_message_info_t>,
    _allocation: InOut<sys::rmw_subscription_allocation_t>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    subscription.subscription.check_loanable()?;
    check_place(place)?;
    taken.pointer()?;
    info.pointer()?;
    report(take_loan(subscription, place, taken)?, taken, Some(info))
}

fn return_from_subscription(subscription: In<sys::rmw_subscription_t>, message: InOut<c_void>) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    subscription.subscription.check_loanable()?;
    Ok(subscription.subscription.return_loan(message.pointer()?.cast())?)
}
