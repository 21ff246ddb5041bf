//! What can go wrong, per operation. Fields are named by their path: `poses[].header.frame_id`.

use thiserror::Error;

/// A layout that no plan can be compiled for: the type support library is broken or newer than this middleware.
#[derive(Debug, Error)]
pub enum CompileError {
    /// A field reaches over the end of its structure, or lies where its type cannot.
    #[error("type {message}: field '{field}' at offset {offset} with {len} bytes is misaligned or outside its structure of {size_of} bytes; rebuild the interface package")]
    Misplaced {
        /// Type name.
        message: String,
        /// Field path.
        field: String,
        /// Bytes from the start of the structure.
        offset: usize,
        /// Bytes the field takes.
        len: usize,
        /// Bytes of the structure.
        size_of: usize,
    },
    /// A primitive of a width that CDR does not have.
    #[error("type {message}: field '{field}' is {width} bytes wide; only 1, 2, 4 and 8 can be serialized")]
    Width {
        /// Type name.
        message: String,
        /// Field path.
        field: String,
        /// Bytes.
        width: usize,
    },
    /// Messages nested deeper than any real type.
    #[error("type {message}: field '{field}' is nested more than {limit} deep")]
    TooDeep {
        /// Type name.
        message: String,
        /// Field path.
        field: String,
        /// The limit.
        limit: usize,
    },
    /// A structure without fields, or one over 4 GiB; ROS types always have at least one field.
    #[error(
        "type {message}: {size_of} bytes with {fields} fields cannot be serialized (at least one field, under 4 GiB)"
    )]
    Unusable {
        /// Type name.
        message: String,
        /// Bytes of the structure.
        size_of: usize,
        /// Number of fields.
        fields: usize,
    },
}

/// A message that cannot be encoded.
#[derive(Debug, Error, Eq, PartialEq)]
pub enum EncodeError {
    /// Encoding needs more room than was measured; somebody else changed the message meanwhile.
    #[error("field '{field}': needs {needed} more bytes where {left} are left; was the message changed while it was being published?")]
    NoRoom {
        /// Field path.
        field: String,
        /// Bytes needed.
        needed: usize,
        /// Bytes left.
        left: usize,
    },
    /// A C container claims elements but has no memory.
    #[error("field '{field}': says {size} elements but its data pointer is NULL; initialise the message with its __init function")]
    NullData {
        /// Field path.
        field: String,
        /// Elements claimed.
        size: usize,
    },
    /// A NUL inside a string: on the wire it would end there.
    #[error("field '{field}': byte {at} of the string is NUL; a ROS string cannot hold NUL, use uint8[]")]
    NulInString {
        /// Field path.
        field: String,
        /// Where.
        at: usize,
    },
    /// More elements than the type allows.
    #[error("field '{field}': {len} elements, but its type allows {bound}")]
    OverBound {
        /// Field path.
        field: String,
        /// Elements in the message.
        len: usize,
        /// Elements allowed.
        bound: usize,
    },
    /// More than 2^32 - 1 elements or bytes.
    #[error("field '{field}': {len} elements do not fit the 32-bit count of the wire format")]
    TooLong {
        /// Field path.
        field: String,
        /// Elements in the message.
        len: usize,
    },
}

/// A body that cannot be decoded. The message is left valid (it can be finalised), with unspecified values.
#[derive(Debug, Error, Eq, PartialEq)]
pub enum DecodeError {
    /// Not plain CDR.
    #[error("encapsulation {0:02x?} is not plain CDR (00 01 little endian or 00 00 big endian)")]
    Encapsulation([u8; 4]),
    /// The body ends inside a field.
    #[error("field '{field}': needs {needed} bytes where {left} are left; sender and receiver disagree about the type, or the data is cut off")]
    Truncated {
        /// Field path.
        field: String,
        /// Bytes needed at least.
        needed: usize,
        /// Bytes left.
        left: usize,
    },
    /// More elements than the type allows.
    #[error("field '{field}': {len} elements, but its type allows {bound}")]
    OverBound {
        /// Field path.
        field: String,
        /// Elements announced.
        len: usize,
        /// Elements allowed.
        bound: usize,
    },
    /// A string without its terminator.
    #[error("field '{field}': the string does not end with NUL")]
    NotTerminated {
        /// Field path.
        field: String,
    },
    /// A value that its type does not have: a boolean that is neither 0 nor 1, a wide character over 16 bits.
    #[error("field '{field}': {value} is not a value of its type")]
    Value {
        /// Field path.
        field: String,
        /// The value.
        value: u32,
    },
    /// Memory for the field could not be had.
    #[error("field '{field}': no memory for {len} elements")]
    Allocation {
        /// Field path.
        field: String,
        /// Elements.
        len: usize,
    },
}
