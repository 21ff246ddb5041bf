//! CDR (XCDR1, plain) from a compiled plan: the only part of this crate that touches raw memory.
//!
//! A [`Layout`] says where the fields of a message lie. [`Plan::compile`] turns it into a flat list of operations in
//! which neighbouring fields whose memory equals their CDR are one copy. The body of a sample is what follows the
//! 4-byte encapsulation header, which travels apart; alignment counts from the body's start.

mod access;
mod error;
mod layout;

pub use access::{BoolVectorFunctions, RawSequence, Resize, SequenceAccess, Span, StringAccess, StringFunctions};
pub use error::{CompileError, DecodeError, EncodeError};
pub use layout::{Extent, Field, Kind, Layout};

/// The encapsulation header of everything encoded here: plain CDR, little endian, no options.
pub const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];

/// A compiled message type.
#[derive(Debug)]
pub struct Plan {
    never: std::convert::Infallible,
}

impl Plan {
    /// Compiles a layout.
    pub fn compile(layout: &Layout) -> Result<Plan, CompileError> {
        Err(CompileError::Unusable {
            message: layout.name.clone(),
            size_of: layout.size_of,
            fields: layout.fields.len(),
        })
    }

    /// Bytes of the body, when they are the same for every message of the type.
    pub fn fixed_size(&self) -> Option<usize> {
        match self.never {}
    }

    /// Whether the whole structure equals its body byte for byte, so that it can be written and read in place.
    pub fn memory_is_cdr(&self) -> bool {
        match self.never {}
    }

    /// Bytes the body of this message takes.
    ///
    /// # Safety
    /// `msg` is a valid, initialised message of the compiled type that nobody writes meanwhile.
    pub unsafe fn size(&self, _msg: *const u8) -> Result<usize, EncodeError> {
        match self.never {}
    }

    /// Writes the body to the start of `out` and returns its length.
    ///
    /// # Safety
    /// As for [`Plan::size`].
    pub unsafe fn encode(&self, _msg: *const u8, _out: &mut [u8]) -> Result<usize, EncodeError> {
        match self.never {}
    }

    /// Reads a body into a message. The body may be written by others meanwhile: what is read is checked, then used.
    ///
    /// # Safety
    /// `body` is readable for `len` bytes. `msg` is a valid, initialised message of the compiled type that nobody
    /// else uses meanwhile.
    pub unsafe fn decode(&self, _: [u8; 4], _body: *const u8, _len: usize, _msg: *mut u8) -> Result<(), DecodeError> {
        match self.never {}
    }
}
