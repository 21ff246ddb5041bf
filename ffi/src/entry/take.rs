//! rmw/rmw.h: taking messages.

use std::ffi::c_void;

use shoal_rmw::{Incoming, MessageInfo};

use super::gid::to_gid;
use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::SubscriptionData;
use crate::message::{Bytes, Target};
use crate::sys;

exports! {
    /// Takes the next message.
    fn rmw_take(
        subscription: *const sys::rmw_subscription_t,
        ros_message: *mut c_void,
        taken: *mut bool,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = take;
    /// Takes the next message and what is known about it.
    fn rmw_take_with_info(
        subscription: *const sys::rmw_subscription_t,
        ros_message: *mut c_void,
        taken: *mut bool,
        message_info: *mut sys::rmw_message_info_t,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = take_with_info;
    /// Takes up to `count` messages that have arrived.
    fn rmw_take_sequence(
        subscription: *const sys::rmw_subscription_t,
        count: usize,
        message_sequence: *mut sys::rmw_message_sequence_t,
        message_info_sequence: *mut sys::rmw_message_info_sequence_t,
        taken: *mut usize,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = take_sequence;
    /// Takes the next message as it was serialized.
    fn rmw_take_serialized_message(
        subscription: *const sys::rmw_subscription_t,
        serialized_message: *mut sys::rmw_serialized_message_t,
        taken: *mut bool,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = take_serialized;
    /// Takes the next message as it was serialized and what is known about it.
    fn rmw_take_serialized_message_with_info(
        subscription: *const sys::rmw_subscription_t,
        serialized_message: *mut sys::rmw_serialized_message_t,
        taken: *mut bool,
        message_info: *mut sys::rmw_message_info_t,
        allocation: *mut sys::rmw_subscription_allocation_t,
    ) -> sys::rmw_ret_t = take_serialized_with_info;
}

type Allocation<'call> = InOut<'call, sys::rmw_subscription_allocation_t>;

/// What is known about a message, as C sees it.
fn to_info(info: &MessageInfo) -> sys::rmw_message_info_t {
    sys::rmw_message_info_t {
        source_timestamp: info.source_timestamp,
        received_timestamp: info.received_timestamp,
        publication_sequence_number: info.publication_sequence,
        reception_sequence_number: info.reception_sequence,
        publisher_gid: to_gid(info.gid),
        // Intra-process delivery of the client library; what comes through here is not it.
        from_intra_process: false,
    }
}

fn take_typed(subscription: &SubscriptionData, target: Target<'_>) -> Result<Option<MessageInfo>, Failure> {
    Ok(subscription.subscription.take(&mut |incoming| target.fill(incoming))?)
}

/// Takes into a byte array. A failure to grow the array is kept as what it is, past the sink's own error type.
fn take_bytes(subscription: &SubscriptionData, bytes: Bytes<'_>) -> Result<Option<MessageInfo>, Failure> {
    let mut failed = None;
    let mut sink = |incoming: Incoming| {
        bytes.fill(incoming).map_err(|failure| {
            failed = Some(failure);
            shoal_rmw::Error::Other("the message could not be copied out".into())
        })
    };
    let taken = subscription.subscription.take(&mut sink);
    match failed {
        Some(failure) => Err(failure),
        None => Ok(taken?),
    }
}

/// Reports a take: `info` may be absent.
pub(super) fn report(
    outcome: Option<MessageInfo>,
    taken: InOut<bool>,
    info: Option<InOut<sys::rmw_message_info_t>>,
) -> Result<(), Failure> {
    if let (Some(known), Some(out)) = (&outcome, info) {
        out.write(to_info(known))?;
    }
    taken.write(outcome.is_some())
}

fn take(
    subscription: In<sys::rmw_subscription_t>,
    message: InOut<c_void>,
    taken: InOut<bool>,
    _: Allocation,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    let target = Target::new(&subscription.message.plan, message)?;
    taken.write(false)?;
    report(take_typed(subscription, target)?, taken, None)
}

fn take_with_info(
    subscription: In<sys::rmw_subscription_t>,
    message: InOut<c_void>,
    taken: InOut<bool>,
    info: InOut<sys::rmw_message_info_t>,
    _: Allocation,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    let target = Target::new(&subscription.message.plan, message)?;
    info.pointer()?;
    taken.write(false)?;
    report(take_typed(subscription, target)?, taken, Some(info))
}

fn take_serialized(
    subscription: In<sys::rmw_subscription_t>,
    message: InOut<sys::rmw_serialized_message_t>,
    taken: InOut<bool>,
    _: Allocation,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    let bytes = Bytes::new(message)?;
    taken.write(false)?;
    report(take_bytes(subscription, bytes)?, taken, None)
}

fn take_serialized_with_info(
    subscription: In<sys::rmw_subscription_t>,
    message: InOut<sys::rmw_serialized_message_t>,
    taken: InOut<bool>,
    info: InOut<sys::rmw_message_info_t>,
    _: Allocation,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    let bytes = Bytes::new(message)?;
    info.pointer()?;
    taken.write(false)?;
    report(take_bytes(subscription, bytes)?, taken, Some(info))
}

fn take_sequence(
    subscription: In<sys::rmw_subscription_t>,
    count: usize,
    messages: InOut<sys::rmw_message_sequence_t>,
    infos: InOut<sys::rmw_message_info_sequence_t>,
    taken: InOut<usize>,
    _: Allocation,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    let (mut message_sequence, mut info_sequence) = (messages.read()?, infos.read()?);
    taken.pointer()?;
    check_room(count, message_sequence.capacity, messages.shared().name())?;
    check_room(count, info_sequence.capacity, infos.shared().name())?;
    taken.write(0)?;
    // SAFETY: both sequences are initialized with at least `count` entries, the first with messages of the
    // subscription's type, which are the callee's to write during the call.
    let number = unsafe { fill_sequence(subscription, count, message_sequence.data, info_sequence.data) }?;
    if number > 0 {
        (message_sequence.size, info_sequence.size) = (number, number);
        messages.write(message_sequence)?;
        infos.write(info_sequence)?;
    }
    taken.write(number)
}

fn check_room(count: usize, capacity: usize, name: &str) -> Result<(), Failure> {
    match count {
        0 => Err(Failure::invalid("count is 0; ask for at least one message")),
        _ if capacity < count => Err(Failure::invalid(format!("{name} holds {capacity} entries, not {count}"))),
        _ => Ok(()),
    }
}

/// # Safety
/// `messages` leads to `count` messages of the subscription's type and `infos` to `count` infos.
unsafe fn fill_sequence(
    subscription: &SubscriptionData,
    count: usize,
    messages: *mut *mut c_void,
    infos: *mut sys::rmw_message_info_t,
) -> Result<usize, Failure> {
    for index in 0..count {
        // SAFETY: `index` is less than `count`.
        let (message, info) = unsafe { (*messages.add(index), infos.add(index)) };
        // SAFETY: a message of the subscription's type, or NULL, which is refused.
        let target = unsafe { Target::from_raw(&subscription.message.plan, message) }?;
        let Some(known) = take_typed(subscription, target)? else { return Ok(index) };
        // SAFETY: as above.
        unsafe { info.write(to_info(&known)) };
    }
    Ok(count)
}
