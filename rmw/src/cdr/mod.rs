//! CDR (XCDR1, plain) from a compiled plan: the only part of this crate that touches raw memory.
//!
//! A [`Layout`] says where the fields of a message lie. [`Plan::compile`] turns it into a flat list of operations in
//! which neighbouring fields whose memory equals their CDR are one copy. The body of a sample is what follows the
//! 4-byte encapsulation header, which travels apart; alignment counts from the body's start.

mod access;
mod bulk;
mod compile;
mod decode;
mod encode;
mod error;
mod layout;
mod program;
#[cfg(test)]
mod tests;

pub use access::{BoolVectorFunctions, RawSequence, Resize, SequenceAccess, Span, StringAccess, StringFunctions};
pub use error::{CompileError, DecodeError, EncodeError};
pub use layout::{Extent, Field, Kind, Layout};

use program::{FieldId, Program};

#[cfg(not(target_endian = "little"))]
compile_error!("rmw_shoal copies memory to the wire as it is and so needs a little-endian machine");

/// The encapsulation header of everything encoded here: plain CDR, little endian, no options.
pub const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// A compiled message type.
#[derive(Debug)]
pub struct Plan {
    native: Program,
    /// For bodies of the other byte order: nothing joined, so that each operation knows its width.
    swapped: Program,
    names: Vec<Box<str>>,
    fixed_size: Option<usize>,
    memory_is_cdr: bool,
    lies_as_cdr: bool,
    readable_in_place: bool,
}

impl Plan {
    /// Compiles a layout.
    ///
    /// # Errors
    /// The layout contradicts itself; see [`CompileError`].
    pub fn compile(layout: &Layout) -> Result<Plan, CompileError> {
        let mut names = Vec::new();
        let native = compile::compile(layout, true, &mut names)?;
        let swapped = compile::compile(layout, false, &mut names)?;
        let fixed_size = native.end_if_fixed(0);
        let memory_is_cdr = native.as_run(layout.size_of).is_some();
        let lies_as_cdr = native.end_in_place(0, 0) == Some(layout.size_of);
        let readable_in_place = lies_as_cdr && !native.has_booleans();
        Ok(Plan { native, swapped, names, fixed_size, memory_is_cdr, lies_as_cdr, readable_in_place })
    }

    /// Bytes of the body, when they are the same for every message of the type.
    pub fn fixed_size(&self) -> Option<usize> {
        self.fixed_size
    }

    /// Whether the whole structure is one copy: it equals its body byte for byte, has no padding and no booleans.
    pub fn memory_is_cdr(&self) -> bool {
        self.memory_is_cdr
    }

    /// Whether each field lies in the structure where it lies in the body, and both are equally long: then a message may
    /// be written where it is sent from.
    pub fn lies_as_cdr(&self) -> bool {
        self.lies_as_cdr
    }

    /// Whether, moreover, whatever bytes a peer writes are a valid message, so that it may be read where it was written.
    /// Not so with a boolean in it: one that is neither 0 nor 1 is undefined behaviour in the reader.
    pub fn readable_in_place(&self) -> bool {
        self.readable_in_place
    }

    /// The most bytes that the last field may hold, if that is a counted sequence of bytes: then a body ends with their
    /// number and them. `None`: it is something else.
    pub fn byte_tail(&self) -> Option<usize> {
        self.native.byte_tail()
    }

    /// Bytes the body of this message takes.
    ///
    /// # Errors
    /// The message cannot be encoded; strings are looked at only by [`Plan::encode`].
    ///
    /// # Safety
    /// `msg` is a valid, initialised message of the compiled type that nobody writes meanwhile.
    pub unsafe fn size(&self, msg: *const u8) -> Result<usize, EncodeError> {
        if let Some(size) = self.fixed_size {
            return Ok(size);
        }
        // SAFETY: the caller's promise.
        unsafe { encode::size(&self.native, msg) }.map_err(|stop| self.encode_error(stop))
    }

    /// Writes the body to the start of `out` and returns its length. Padding is zero. After an error `out` holds
    /// an unspecified part of the body.
    ///
    /// # Errors
    /// The message cannot be encoded, or `out` is shorter than [`Plan::size`].
    ///
    /// # Safety
    /// As for [`Plan::size`].
    pub unsafe fn encode(&self, msg: *const u8, out: &mut [u8]) -> Result<usize, EncodeError> {
        // SAFETY: the caller's promise.
        unsafe { encode::encode(&self.native, msg, out) }.map_err(|stop| self.encode_error(stop))
    }

    /// Reads a body into a message. The body may be written by others meanwhile: what is read is checked, then used.
    /// Bytes after the last field are ignored, as other middlewares do: some round bodies up, or write an estimate of
    /// their length.
    ///
    /// # Errors
    /// The body is not one of this type. The message is left valid, with unspecified values.
    ///
    /// # Safety
    /// `body` is readable for `len` bytes. `msg` is a valid, initialised message of the compiled type that nobody
    /// else uses meanwhile.
    pub unsafe fn decode(
        &self,
        encapsulation: [u8; 4],
        body: *const u8,
        len: usize,
        msg: *mut u8,
    ) -> Result<(), DecodeError> {
        // SAFETY: the caller's promise, and each byte order has the program compiled for it.
        let read = unsafe {
            match encapsulation {
                [0, 1, ..] => decode::decode::<false>(&self.native, body, len, msg),
                [0, 0, ..] => decode::decode::<true>(&self.swapped, body, len, msg),
                other => return Err(DecodeError::Encapsulation(other)),
            }
        };
        read.map_err(|stop| self.decode_error(stop))
    }

    fn field(&self, id: FieldId) -> String {
        self.names[id as usize].to_string()
    }

    #[cold]
    fn encode_error(&self, stop: encode::Stop) -> EncodeError {
        use encode::Why;
        let field = self.field(stop.field);
        match stop.why {
            Why::NoRoom { needed, left } => EncodeError::NoRoom { field, needed, left },
            Why::NullData { size } => EncodeError::NullData { field, size },
            Why::NulInString { at } => EncodeError::NulInString { field, at },
            Why::OverBound { len, bound } => EncodeError::OverBound { field, len, bound },
            Why::TooLong { len } => EncodeError::TooLong { field, len },
        }
    }

    #[cold]
    fn decode_error(&self, stop: decode::Stop) -> DecodeError {
        use decode::Why;
        let field = self.field(stop.field);
        match stop.why {
            Why::Truncated { needed, left } => DecodeError::Truncated { field, needed, left },
            Why::OverBound { len, bound } => DecodeError::OverBound { field, len, bound },
            Why::NotTerminated => DecodeError::NotTerminated { field },
            Why::Value(value) => DecodeError::Value { field, value },
            Why::Allocation { len } => DecodeError::Allocation { field, len },
        }
    }
}
