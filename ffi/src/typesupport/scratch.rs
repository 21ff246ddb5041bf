//! A message of our own.

use std::sync::Arc;

use shoal_rmw::cdr::{DecodeError, EncodeError};
use shoal_rmw::Incoming;

use super::error::TypeSupportError;
use super::introspection::broken;
use super::MessageType;

/// An initialised message, made and finalised by its type support.
#[derive(Debug)]
pub struct Scratch {
    message: Arc<MessageType>,
    /// 16-byte units: aligned for every type. Never moved out, so that the message stays where it was made.
    memory: Box<[u128]>,
}

impl Scratch {
    /// A message as its type support initialises it.
    ///
    /// # Errors
    /// The type support cannot initialise or finalise messages, or has no memory for one.
    pub fn new(message: &Arc<MessageType>) -> Result<Scratch, TypeSupportError> {
        let members = message.introspection.members();
        let missing = |what: &str| broken(&message.name, what.to_owned());
        let init = members.init_function.ok_or_else(|| missing("it has no function to initialise a message"))?;
        members.fini_function.ok_or_else(|| missing("it has no function to finalise a message"))?;
        let mut memory = vec![0_u128; message.size_of.div_ceil(size_of::<u128>()).max(1)].into_boxed_slice();
        // SAFETY: the type's own function, on zeroed memory of its size and of any alignment.
        let made = unsafe { (message.introspection.binding().call_init)(init, memory.as_mut_ptr().cast()) };
        match made {
            true => Ok(Scratch { message: message.clone(), memory }),
            false => Err(missing("a message could not be initialised")),
        }
    }

    /// Deserializes into the message.
    ///
    /// # Errors
    /// The sample is not one of this type; the message stays valid.
    pub fn fill(&mut self, sample: Incoming) -> Result<(), DecodeError> {
        let Incoming { encapsulation, ptr, len } = sample;
        // SAFETY: the body is readable for `len` bytes while the sample is shown; the message is initialised, of the
        // plan's type and, because of `&mut self`, nobody else's.
        unsafe { self.message.plan.decode(encapsulation, ptr, len, self.memory.as_mut_ptr().cast()) }
    }

    /// The message's CDR body.
    ///
    /// # Errors
    /// It cannot be serialized.
    pub fn body(&self) -> Result<Vec<u8>, TypeSupportError> {
        let plan = &self.message.plan;
        let wrong = |e: EncodeError| broken(&self.message.name, e.to_string());
        // SAFETY: the message is initialised, of the plan's type, and nobody writes it.
        let mut body = vec![0; unsafe { plan.size(self.ptr()) }.map_err(wrong)?];
        // SAFETY: as above.
        unsafe { plan.encode(self.ptr(), &mut body) }.map_err(wrong)?;
        Ok(body)
    }

    /// First byte of the message.
    pub(super) fn ptr(&self) -> *const u8 {
        self.memory.as_ptr().cast()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(fini) = self.message.introspection.members().fini_function {
            // SAFETY: an initialised message of this type, which ends here. Finalising does not throw.
            unsafe { fini(self.memory.as_mut_ptr().cast()) };
        }
    }
}
