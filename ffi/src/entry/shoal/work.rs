//! shoal.h: work queues.

use std::ffi::c_void;

use shoal_rmw::{Incoming, MessageInfo, WorkItem};

use crate::boundary::{exports, Failure, In, InOut};
use crate::entry::wait::duration;
use crate::handle::SubscriptionData;
use crate::message::{Bytes, Target};
use crate::sys;

exports! {
    /// Makes a publisher's samples the items of a queue.
    fn shoal_publisher_make_queue(
        publisher: *const sys::rmw_publisher_t,
        window: usize,
        lease: *const sys::rmw_time_t,
    ) -> sys::rmw_ret_t = make_queue;
    /// From now on this subscription claims items.
    fn shoal_subscription_share_work(subscription: *const sys::rmw_subscription_t) -> sys::rmw_ret_t = share;
    /// Claims the oldest item for the taking.
    fn shoal_subscription_claim(
        subscription: *const sys::rmw_subscription_t,
        ros_message: *mut c_void,
        item: *mut sys::shoal_work_item_t,
        claimed: *mut bool,
    ) -> sys::rmw_ret_t = claim;
    /// The same, as bytes.
    fn shoal_subscription_claim_serialized(
        subscription: *const sys::rmw_subscription_t,
        serialized_message: *mut sys::rmw_serialized_message_t,
        item: *mut sys::shoal_work_item_t,
        claimed: *mut bool,
    ) -> sys::rmw_ret_t = claim_serialized;
    /// Acknowledges an item.
    fn shoal_subscription_acknowledge(
        subscription: *const sys::rmw_subscription_t,
        item: *const sys::shoal_work_item_t,
        current: *mut bool,
    ) -> sys::rmw_ret_t = acknowledge;
    /// Gives an item back.
    fn shoal_subscription_give_back(
        subscription: *const sys::rmw_subscription_t,
        item: *const sys::shoal_work_item_t,
        current: *mut bool,
    ) -> sys::rmw_ret_t = give_back;
}

fn make_queue(publisher: In<sys::rmw_publisher_t>, window: usize, lease: In<sys::rmw_time_t>) -> Result<(), Failure> {
    let publisher = publisher.handle()?;
    let time = *lease.get()?;
    let lease =
        duration(lease).ok_or_else(|| Failure::invalid(format!("a lease of {} s is longer than 49 days", time.sec)))?;
    Ok(publisher.publisher.make_queue(window, lease)?)
}

fn share(subscription: In<sys::rmw_subscription_t>) -> Result<(), Failure> {
    Ok(subscription.handle()?.subscription.share_work()?)
}

fn claim(
    subscription: In<sys::rmw_subscription_t>,
    message: InOut<c_void>,
    item: InOut<sys::shoal_work_item_t>,
    claimed: InOut<bool>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    let target = Target::new(&subscription.message.plan, message)?;
    item.pointer()?;
    claimed.write(false)?;
    let found = subscription.subscription.claim(&mut |incoming| target.fill(incoming))?;
    report(found, item, claimed)
}

fn claim_serialized(
    subscription: In<sys::rmw_subscription_t>,
    message: InOut<sys::rmw_serialized_message_t>,
    item: InOut<sys::shoal_work_item_t>,
    claimed: InOut<bool>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    let bytes = Bytes::new(message)?;
    item.pointer()?;
    claimed.write(false)?;
    report(claim_bytes(subscription, bytes)?, item, claimed)
}

/// A failure to grow the array is kept as what it is, past the sink's own error type; the item is given back then.
fn claim_bytes(subscription: &SubscriptionData, bytes: Bytes<'_>) -> Result<Option<(MessageInfo, WorkItem)>, Failure> {
    let mut failed = None;
    let mut sink = |incoming: Incoming| {
        bytes.fill(incoming).map_err(|failure| {
            failed = Some(failure);
            shoal_rmw::Error::Other("the item could not be copied out".into())
        })
    };
    let claimed = subscription.subscription.claim(&mut sink);
    match failed {
        Some(failure) => Err(failure),
        None => Ok(claimed?),
    }
}

fn report(
    found: Option<(MessageInfo, WorkItem)>,
    item: InOut<sys::shoal_work_item_t>,
    claimed: InOut<bool>,
) -> Result<(), Failure> {
    if let Some((info, found)) = found {
        let WorkItem { publisher: (index, incarnation), sequence, claim } = found;
        item.write(sys::shoal_work_item_t {
            publisher_gid: info.gid,
            sequence,
            private_data: [u64::from(index) << 32 | u64::from(incarnation), claim],
        })?;
        claimed.write(true)?;
    }
    Ok(())
}

fn from_c(item: &sys::shoal_work_item_t) -> WorkItem {
    let [publisher, claim] = item.private_data;
    WorkItem { publisher: ((publisher >> 32) as u32, publisher as u32), sequence: item.sequence, claim }
}

fn acknowledge(
    subscription: In<sys::rmw_subscription_t>,
    item: In<sys::shoal_work_item_t>,
    current: InOut<bool>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    current.pointer()?;
    current.write(subscription.subscription.acknowledge(&from_c(item.get()?))?)
}

fn give_back(
    subscription: In<sys::rmw_subscription_t>,
    item: In<sys::shoal_work_item_t>,
    current: InOut<bool>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    current.pointer()?;
    current.write(subscription.subscription.give_back(&from_c(item.get()?))?)
}
