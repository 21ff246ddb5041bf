//! shoal.h: credit streams.

use std::ffi::c_void;

use shoal_rmw::{Offered, Stream};

use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::{PublisherData, StreamData};
use crate::sys;

exports! {
    /// Makes a publisher carry a stream.
    fn shoal_stream_create(
        publisher: *const sys::rmw_publisher_t,
        window: usize,
        chunk_bytes: usize,
    ) -> *mut sys::shoal_stream_t = create;
    /// Frees a stream; its publisher goes on as any other.
    fn shoal_stream_destroy(stream: *mut sys::shoal_stream_t) -> sys::rmw_ret_t = destroy;
    /// Sends one chunk if there is credit.
    fn shoal_stream_offer(
        stream: *const sys::shoal_stream_t,
        data: *const c_void,
        length: usize,
        offered: *mut sys::shoal_offered_t,
    ) -> sys::rmw_ret_t = offer;
    /// Sends as many chunks as there is credit for.
    fn shoal_stream_write(
        stream: *const sys::shoal_stream_t,
        data: *const c_void,
        length: usize,
        at: usize,
        chunk: usize,
        reached: *mut usize,
    ) -> sys::rmw_ret_t = write;
    /// Ends the stream.
    fn shoal_stream_finish(stream: *const sys::shoal_stream_t) -> sys::rmw_ret_t = finish;
    /// Credit, what is in flight, and whether it goes on.
    fn shoal_stream_get_state(
        stream: *const sys::shoal_stream_t,
        state: *mut sys::shoal_stream_state_t,
    ) -> sys::rmw_ret_t = get_state;
    /// What to wait for.
    fn shoal_stream_credit(stream: *const sys::shoal_stream_t) -> *const sys::rmw_guard_condition_t = credit;
    /// From now on taking gives no credit back.
    fn shoal_subscription_hold_credit(subscription: *const sys::rmw_subscription_t) -> sys::rmw_ret_t = hold;
    /// Gives credit back.
    fn shoal_subscription_consumed(subscription: *const sys::rmw_subscription_t, count: usize) -> sys::rmw_ret_t
        = consumed;
}

fn create(
    publisher: In<sys::rmw_publisher_t>,
    window: usize,
    chunk_bytes: usize,
) -> Result<*mut sys::shoal_stream_t, Failure> {
    let publisher = publisher.handle()?;
    let head = head(publisher, chunk_bytes)?;
    let stream = Stream::new(&publisher.publisher, window, chunk_bytes, &head)?;
    Ok(StreamData::expose(stream, publisher.context))
}

/// What the body of each chunk begins with.
fn head(publisher: &PublisherData, chunk_bytes: usize) -> Result<Vec<u8>, Failure> {
    let name = &publisher.message.name;
    let found = publisher.message.head_of_bytes().map_err(|e| Failure::error(e.to_string()))?;
    match found {
        Some((head, most)) if chunk_bytes <= most => Ok(head),
        Some((_, most)) => Err(Failure::invalid(format!("chunks of {chunk_bytes} bytes; {name} holds at most {most}"))),
        None => Err(Failure::invalid(format!(
            "{name} does not end with a sequence of bytes that is empty by default; use std_msgs/msg/UInt8MultiArray, say"
        ))),
    }
}

fn destroy(stream: InOut<sys::shoal_stream_t>) -> Result<(), Failure> {
    drop(stream.reclaim()?);
    Ok(())
}

fn offer(
    stream: In<sys::shoal_stream_t>,
    data: In<c_void>,
    length: usize,
    offered: InOut<sys::shoal_offered_t>,
) -> Result<(), Failure> {
    let stream = stream.handle()?;
    offered.pointer()?;
    offered.write(match stream.stream.offer(data.cast::<u8>().array(length)?)? {
        Offered::Sent => sys::SHOAL_SENT,
        Offered::Full => sys::SHOAL_FULL,
        Offered::Finished => sys::SHOAL_FINISHED,
    })
}

fn write(
    stream: In<sys::shoal_stream_t>,
    data: In<c_void>,
    length: usize,
    at: usize,
    chunk: usize,
    reached: InOut<usize>,
) -> Result<(), Failure> {
    let stream = stream.handle()?;
    reached.pointer()?;
    reached.write(stream.stream.write(data.cast::<u8>().array(length)?, at, chunk)?)
}

fn finish(stream: In<sys::shoal_stream_t>) -> Result<(), Failure> {
    Ok(stream.handle()?.stream.finish()?)
}

fn get_state(stream: In<sys::shoal_stream_t>, state: InOut<sys::shoal_stream_state_t>) -> Result<(), Failure> {
    let stream = stream.handle()?;
    state.pointer()?;
    let now = stream.stream.state()?;
    state.write(sys::shoal_stream_state_t {
        window: now.window,
        available: now.available,
        in_flight: now.in_flight,
        peak: now.peak,
        over: now.over,
    })
}

fn credit(stream: In<sys::shoal_stream_t>) -> Result<*const sys::rmw_guard_condition_t, Failure> {
    Ok(stream.handle()?.credit())
}

fn hold(subscription: In<sys::rmw_subscription_t>) -> Result<(), Failure> {
    Ok(subscription.handle()?.subscription.hold_credit()?)
}

fn consumed(subscription: In<sys::rmw_subscription_t>, count: usize) -> Result<(), Failure> {
    Ok(subscription.handle()?.subscription.consumed(count as u64)?)
}
