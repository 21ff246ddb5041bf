//! Messages on their way between C memory and the rings.

use std::ffi::c_void;
use std::marker::PhantomData;

use shoal_rmw::cdr::Plan;
use shoal_rmw::{Incoming, Outgoing, CDR_LITTLE_ENDIAN};

use crate::boundary::{Failure, In, InOut};
use crate::sys;

/// Bytes of the encapsulation header before every serialized message.
const HEADER: usize = 4;

/// What the size of a taken serialized message is a multiple of.
const PADDING: usize = 4;

/// A ROS message of the endpoint's type, as `rmw_publish` and its like get it.
pub struct Typed<'a> {
    plan: &'a Plan,
    message: *const u8,
    call: PhantomData<&'a c_void>,
}

impl<'a> Typed<'a> {
    /// A message argument, which by the precondition of every function that has one is of the endpoint's type.
    pub fn new(plan: &'a Plan, message: In<'a, c_void>) -> Result<Typed<'a>, Failure> {
        Ok(Typed { plan, message: message.pointer()?.cast(), call: PhantomData })
    }
}

impl Outgoing for Typed<'_> {
    fn size(&self) -> shoal_rmw::Result<usize> {
        // SAFETY: an initialized message of the plan's type that is not changed during the call (`new`).
        Ok(unsafe { self.plan.size(self.message) }?)
    }

    fn encapsulation(&self) -> [u8; HEADER] {
        CDR_LITTLE_ENDIAN
    }

    fn write(&self, out: &mut [u8]) -> shoal_rmw::Result<usize> {
        // SAFETY: as in `size`.
        Ok(unsafe { self.plan.encode(self.message, out) }?)
    }
}

/// A message that the caller serialized: encapsulation header and body.
pub struct Serialized<'a> {
    encapsulation: [u8; HEADER],
    body: &'a [u8],
}

impl<'a> Serialized<'a> {
    /// The parts of a serialized message; an error when it is too short to have them.
    pub fn new(message: In<'a, sys::rmw_serialized_message_t>) -> Result<Serialized<'a>, Failure> {
        let array = message.get()?;
        let length = array.buffer_length;
        if array.buffer.is_null() || length < HEADER {
            let name = message.name();
            return Err(Failure::invalid(format!("{name} has {length} bytes; CDR starts with a {HEADER}-byte header")));
        }
        // SAFETY: the array says how long its buffer is, and is not changed during the call.
        let bytes = unsafe { std::slice::from_raw_parts(array.buffer.cast_const(), length) };
        let (header, body) = bytes.split_at(HEADER);
        let mut encapsulation = [0; HEADER];
        encapsulation.copy_from_slice(header);
        Ok(Serialized { encapsulation, body })
    }

    /// As what arrives from a ring.
    pub fn incoming(&self) -> Incoming {
        Incoming { encapsulation: self.encapsulation, ptr: self.body.as_ptr(), len: self.body.len() }
    }
}

impl Outgoing for Serialized<'_> {
    fn size(&self) -> shoal_rmw::Result<usize> {
        Ok(self.body.len())
    }

    fn encapsulation(&self) -> [u8; HEADER] {
        self.encapsulation
    }

    fn write(&self, out: &mut [u8]) -> shoal_rmw::Result<usize> {
        let room = out.len();
        let target = out.get_mut(..self.body.len()).ok_or_else(|| {
            shoal_rmw::Error::Other(format!("a slot of {room} bytes for a body of {}", self.body.len()))
        })?;
        target.copy_from_slice(self.body);
        Ok(self.body.len())
    }
}

/// A ROS message that gets what arrives.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    plan: &'a Plan,
    message: *mut u8,
    call: PhantomData<&'a mut c_void>,
}

impl<'a> Target<'a> {
    /// A message argument, which by the precondition of every function that has one is of the endpoint's type.
    pub fn new(plan: &'a Plan, message: InOut<'a, c_void>) -> Result<Target<'a>, Failure> {
        Ok(Target { plan, message: message.pointer()?.cast(), call: PhantomData })
    }

    /// A message out of an array.
    ///
    /// # Safety
    /// `message` is NULL (which is refused) or leads to an initialized message of the plan's type, which is the
    /// caller's to write during 'a.
    pub unsafe fn from_raw(plan: &'a Plan, message: *mut c_void) -> Result<Target<'a>, Failure> {
        if message.is_null() {
            return Err(Failure::invalid("a message in the sequence is NULL"));
        }
        Ok(Target { plan, message: message.cast(), call: PhantomData })
    }

    /// Deserializes into the message.
    pub fn fill(&self, incoming: Incoming) -> shoal_rmw::Result<()> {
        let Incoming { encapsulation, ptr, len } = incoming;
        // SAFETY: an initialized message of the plan's type which is the callee's to write during the call (`new`);
        // the body is readable for `len` bytes while the sink runs.
        Ok(unsafe { self.plan.decode(encapsulation, ptr, len, self.message) }?)
    }
}

/// A byte array of the caller, which is grown by its own allocator.
#[derive(Clone, Copy)]
pub struct Bytes<'a>(InOut<'a, sys::rmw_serialized_message_t>);

impl<'a> Bytes<'a> {
    /// A serialized message argument that is written to.
    pub fn new(array: InOut<'a, sys::rmw_serialized_message_t>) -> Result<Bytes<'a>, Failure> {
        array.pointer()?;
        Ok(Bytes(array))
    }

    /// Room for a body of `body` bytes behind a header, which is written.
    fn prepare(&self, encapsulation: [u8; HEADER], body: usize) -> Result<&'a mut [u8], Failure> {
        let array = self.0.pointer()?;
        let length = HEADER.checked_add(body).ok_or_else(|| Failure::bad_alloc(format!("a body of {body} bytes")))?;
        // SAFETY: an initialized array which is the callee's to write during the call.
        let array = unsafe { &mut *array };
        if array.buffer_capacity < length {
            // SAFETY: as above; resizing is what the header of rmw_serialize allows.
            let code = unsafe { sys::rcutils_uint8_array_resize(array, length) };
            if code != sys::RMW_RET_OK {
                return Err(Failure::bad_alloc(format!("{}: no memory for {length} bytes", self.0.shared().name())));
            }
        }
        array.buffer_length = length;
        // SAFETY: the capacity is at least `length`; whoever resized it may have left it unwritten, so it is zeroed.
        let bytes = unsafe {
            array.buffer.write_bytes(0, length);
            std::slice::from_raw_parts_mut(array.buffer, length)
        };
        let (header, room) = bytes.split_at_mut(HEADER);
        header.copy_from_slice(&encapsulation);
        Ok(room)
    }

    /// Serializes a message into the array.
    pub fn write(&self, message: &dyn Outgoing) -> Result<(), Failure> {
        let room = self.prepare(message.encapsulation(), message.size()?)?;
        message.write(room)?;
        Ok(())
    }

    /// Copies what arrived into the array, with zeros up to a multiple of 4 bytes: users get it as from the network,
    /// where RTPS pads every payload so (DDSI-RTPS 9.4.2.15), and ROS's own tests of `topic echo --raw` count on it.
    pub fn fill(&self, incoming: Incoming) -> Result<(), Failure> {
        let padded = incoming.len.checked_next_multiple_of(PADDING).unwrap_or(usize::MAX);
        let room = self.prepare(incoming.encapsulation, padded)?;
        // SAFETY: the body is readable for `len` bytes while the sink runs, and `room` is at least as long and private.
        unsafe { std::ptr::copy_nonoverlapping(incoming.ptr, room.as_mut_ptr(), incoming.len) };
        Ok(())
    }
}
