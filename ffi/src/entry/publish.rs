//! rmw/rmw.h: publishing.

use std::ffi::c_void;

use crate::boundary::{exports, Failure, In, InOut};
use crate::message::{Serialized, Typed};
use crate::sys;

exports! {
    /// Publishes a message.
    fn rmw_publish(
        publisher: *const sys::rmw_publisher_t,
        ros_message: *const c_void,
        allocation: *mut sys::rmw_publisher_allocation_t,
    ) -> sys::rmw_ret_t = publish;
    /// Publishes a message that the caller serialized.
    fn rmw_publish_serialized_message(
        publisher: *const sys::rmw_publisher_t,
        serialized_message: *const sys::rmw_serialized_message_t,
        allocation: *mut sys::rmw_publisher_allocation_t,
    ) -> sys::rmw_ret_t = publish_serialized;
}

fn publish(
    publisher: In<sys::rmw_publisher_t>,
    message: In<c_void>,
    _allocation: InOut<sys::rmw_publisher_allocation_t>,
) -> Result<(), Failure> {
    let publisher = publisher.handle()?;
    publisher.publisher.publish(&Typed::new(&publisher.message.plan, message)?)?;
    Ok(())
}

fn publish_serialized(
    publisher: In<sys::rmw_publisher_t>,
    message: In<sys::rmw_serialized_message_t>,
    _allocation: InOut<sys::rmw_publisher_allocation_t>,
) -> Result<(), Failure> {
    publisher.handle()?.publisher.publish(&Serialized::new(message)?)?;
    Ok(())
}
