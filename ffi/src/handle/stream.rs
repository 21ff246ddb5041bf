//! `shoal_stream_t`.

use shoal_rmw::Stream;

use super::{expose, handle, OwnedGuard, Owner, IDENTIFIER};
use crate::sys;

/// The private part of a stream.
pub struct StreamData {
    /// What C waits for. Dropped first: it looks at the stream.
    credit: OwnedGuard,
    /// The stream.
    pub stream: Stream,
}

handle!(sys::shoal_stream_t => StreamData, data, "stream");

impl StreamData {
    /// Gives a stream to C, with the guard condition of its credit.
    pub fn expose(stream: Stream, context: *mut sys::rmw_context_t) -> *mut sys::shoal_stream_t {
        let credit = OwnedGuard::new(stream.credit().clone(), Owner::Stream, context);
        expose::<sys::shoal_stream_t>(StreamData { credit, stream }, |private, _| sys::shoal_stream_t {
            implementation_identifier: IDENTIFIER.as_ptr(),
            data: private,
        })
    }

    /// The guard condition of its credit as C sees it, valid as long as the stream.
    pub fn credit(&self) -> *const sys::rmw_guard_condition_t {
        self.credit.as_ptr()
    }
}
