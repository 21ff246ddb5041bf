//! A C message of any type; the text of those that are one string can be set and read.

use super::types::Members;
use super::{MessageType, Result, ServiceType};
use rmw_shoal::sys;
use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::ffi::c_void;

/// A message with its defaults.
pub struct Message {
    at: *mut c_void,
    layout: Layout,
    members: &'static Members,
}

impl Message {
    /// A new one of this type.
    ///
    /// # Errors
    /// The type has no introspection.
    pub fn new(ty: MessageType) -> Result<Message> {
        Ok(Message::of(ty.members()?))
    }

    /// A request and a response.
    ///
    /// # Errors
    /// The type has no introspection.
    pub fn of_service(ty: ServiceType) -> Result<(Message, Message)> {
        let (request, response) = ty.members()?;
        Ok((Message::of(request), Message::of(response)))
    }

    fn of(members: &'static Members) -> Message {
        let layout = Layout::from_size_align(members.size_of_.max(1), 16).expect("messages are small");
        // SAFETY: a layout of at least a byte; the initialiser gets memory of the size that its type has.
        let at = unsafe {
            let at = alloc_zeroed(layout).cast();
            if let (false, Some(init)) = (std::ptr::eq(at, std::ptr::null()), members.init_function) {
                init(at, sys::ROSIDL_RUNTIME_C_MSG_INIT_ALL);
            }
            at
        };
        if at.is_null() {
            handle_alloc_error(layout);
        }
        Message { at, layout, members }
    }

    /// The message for the C API.
    pub(super) fn as_ptr(&self) -> *mut c_void {
        self.at
    }

    /// Sets the text of a message that is one string (`std_msgs/msg/String`).
    pub fn set_text(&mut self, text: &[u8]) {
        if let Some(string) = self.string() {
            // SAFETY: an initialised string, and bytes that live across the call.
            unsafe { sys::rosidl_runtime_c__String__assignn(string, text.as_ptr().cast(), text.len()) };
        }
    }

    /// The text of a message that is one string; empty for others.
    pub fn text(&mut self) -> &[u8] {
        match self.string() {
            // SAFETY: an initialised string has `size` bytes at `data`; nobody changes it while it is borrowed.
            Some(string) => unsafe { std::slice::from_raw_parts((*string).data.cast(), (*string).size) },
            None => &[],
        }
    }

    fn string(&mut self) -> Option<*mut sys::rosidl_runtime_c__String> {
        let is_string =
            self.members.member_count_ == 1 && self.layout.size() == size_of::<sys::rosidl_runtime_c__String>();
        is_string.then_some(self.at.cast())
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, with the same layout.
        unsafe {
            if let Some(fini) = self.members.fini_function {
                fini(self.at);
            }
            dealloc(self.at.cast(), self.layout);
        }
    }
}
