//! What goes in and comes out of the rings: messages behind two small interfaces.

use crate::error::Result;

/// The 4 bytes before a CDR body: representation identifier and options.
pub type Encapsulation = [u8; 4];

/// Plain CDR, little endian: what this middleware writes.
pub const CDR_LITTLE_ENDIAN: Encapsulation = [0, 1, 0, 0];

/// The type of an endpoint as the graph shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeInfo {
    /// For example `std_msgs/msg/String`.
    pub name: String,
    /// REP-2011 type hash: version and value; version 0 when there is none.
    pub hash: (u8, [u8; 32]),
    /// Size of the CDR body in bytes when it is the same for every message.
    pub fixed_size: Option<usize>,
    /// Size of the message in memory when its bytes are its CDR body.
    pub loanable_size: Option<usize>,
}

/// A message on its way out.
pub trait Outgoing {
    /// Bytes of the CDR body, without the encapsulation header.
    ///
    /// # Errors
    /// The message cannot be serialized (a bound exceeded, say).
    fn size(&self) -> Result<usize>;
    /// The encapsulation header that describes the body.
    fn encapsulation(&self) -> Encapsulation;
    /// Writes the body into `out`, which has [`size`](Self::size) bytes, and says how many were written.
    ///
    /// # Errors
    /// As [`size`](Self::size).
    fn write(&self, out: &mut [u8]) -> Result<usize>;
}

/// A message body in its publisher's memory, valid for the duration of the call that hands it out.
///
/// The bytes belong to another process: read them through the pointer, once each, and trust none.
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// The encapsulation header.
    pub encapsulation: Encapsulation,
    /// First byte of the body.
    pub ptr: *const u8,
    /// Bytes of the body.
    pub len: usize,
}

/// Where a taken message goes. When it fails the sample is used up all the same.
pub type Sink<'a> = &'a mut dyn FnMut(Incoming) -> Result<()>;

/// Source and meta data of a taken message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageInfo {
    /// Wall-clock time at which it was published, nanoseconds since 1970.
    pub source_timestamp: i64,
    /// Wall-clock time from which this subscription could have taken it, nanoseconds since 1970.
    pub received_timestamp: i64,
    /// The publisher's number for it, from 1.
    pub publication_sequence: u64,
    /// The subscription's number for it, from 1.
    pub reception_sequence: u64,
    /// The publisher.
    pub gid: [u8; 16],
    /// Whether the publisher belongs to the context that took it.
    pub from_this_context: bool,
}

/// Source and meta data of a taken request or response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServiceInfo {
    /// Wall-clock time at which it was sent, nanoseconds since 1970.
    pub source_timestamp: i64,
    /// Wall-clock time from which it could have been taken, nanoseconds since 1970.
    pub received_timestamp: i64,
    /// The client that asked.
    pub client: [u8; 16],
    /// The client's number for the request.
    pub sequence: i64,
}
