//! shoal.h: the ends of streams.

use shoal_rmw::StreamEvent;

use super::code;
use crate::boundary::{exports, Failure, In, InOut};
use crate::sys;

exports! {
    /// Ends a publisher's stream.
    fn shoal_publisher_finish(publisher: *const sys::rmw_publisher_t) -> sys::rmw_ret_t = finish;
    /// Says that a session of a publisher is over.
    fn shoal_publisher_end_of_day(publisher: *const sys::rmw_publisher_t) -> sys::rmw_ret_t = end_of_day;
    /// Says that a session of each publisher of a context is over.
    fn shoal_context_end_of_day(context: *const sys::rmw_context_t) -> sys::rmw_ret_t = end_of_day_of_all;
    /// Takes what became of a stream.
    fn shoal_subscription_take_stream_event(
        subscription: *const sys::rmw_subscription_t,
        event: *mut sys::shoal_stream_event_t,
        taken: *mut bool,
    ) -> sys::rmw_ret_t = take;
}

fn finish(publisher: In<sys::rmw_publisher_t>) -> Result<(), Failure> {
    Ok(publisher.handle()?.publisher.finish()?)
}

fn end_of_day(publisher: In<sys::rmw_publisher_t>) -> Result<(), Failure> {
    Ok(publisher.handle()?.publisher.end_of_day()?)
}

fn end_of_day_of_all(context: In<sys::rmw_context_t>) -> Result<(), Failure> {
    Ok(context.running()?.end_of_day()?)
}

fn take(
    subscription: In<sys::rmw_subscription_t>,
    event: InOut<sys::shoal_stream_event_t>,
    taken: InOut<bool>,
) -> Result<(), Failure> {
    let subscription = subscription.handle()?;
    event.pointer()?;
    taken.pointer()?;
    let found = subscription.subscription.take_stream_event()?;
    if let Some(found) = found {
        event.write(to_c(found))?;
    }
    taken.write(found.is_some())
}

fn to_c(event: StreamEvent) -> sys::shoal_stream_event_t {
    sys::shoal_stream_event_t {
        outcome: code(event.outcome),
        of_topic: event.publisher.is_none(),
        publisher_gid: event.publisher.unwrap_or_default(),
        last_sequence: event.last_sequence,
    }
}
