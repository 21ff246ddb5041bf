//! Compiled types of this process, shared by all endpoints that use them.
//!
//! Keyed by the address of the introspection data and held weakly: a type lives as long as an endpoint uses it, so a
//! type support library that was unloaded and another one loaded at its address cannot be mistaken for each other.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use shoal_rmw::cdr::Plan;

use super::error::TypeSupportError;
use super::introspection::{broken, layout, type_name, Binding, Introspection, Members};
use super::lookup::Found;
use super::{MessageType, ServiceType, TypeHash};
use crate::sys;

type ServiceMembers = sys::rosidl_typesupport_introspection_c__ServiceMembers;

static MESSAGES: Mutex<Option<HashMap<usize, Weak<MessageType>>>> = Mutex::new(None);

/// # Safety
/// `found` is introspection of a loaded library.
pub(super) unsafe fn message(
    found: Found<sys::rosidl_message_type_support_t>,
) -> Result<Arc<MessageType>, TypeSupportError> {
    // SAFETY: the data of message introspection is its members.
    let members = unsafe { found.handle.data.cast::<Members>().as_ref() };
    // SAFETY: the caller's promise.
    unsafe { compiled(found.binding, members, Some(found.handle)) }
}

/// # Safety
/// As for [`message`].
pub(super) unsafe fn service(
    found: Found<sys::rosidl_service_type_support_t>,
) -> Result<Arc<ServiceType>, TypeSupportError> {
    let handle = found.handle;
    // SAFETY: the data of service introspection is its service members, with strings and members of a loaded library.
    unsafe {
        let members = handle.data.cast::<ServiceMembers>().as_ref();
        let members = members.ok_or_else(|| broken("a service", "it has no members".to_owned()))?;
        let name = type_name(members.service_namespace_, members.service_name_);
        let request = compiled(found.binding, members.request_members_.as_ref(), handle.request_typesupport.as_ref())?;
        let response =
            compiled(found.binding, members.response_members_.as_ref(), handle.response_typesupport.as_ref())?;
        let hash = hash(handle.get_type_hash_func.map_or(std::ptr::null(), |get| get(handle)));
        Ok(Arc::new(ServiceType { name, hash, request, response }))
    }
}

/// # Safety
/// `members` and `handle` are introspection of one type of this binding, of a loaded library.
unsafe fn compiled(
    binding: &'static Binding,
    members: Option<&Members>,
    handle: Option<&sys::rosidl_message_type_support_t>,
) -> Result<Arc<MessageType>, TypeSupportError> {
    let members = members.ok_or_else(|| broken("a message", "it has no members".to_owned()))?;
    let key = std::ptr::from_ref(members).addr();
    // Held while compiling, so that each type is compiled once; nothing in there takes another lock.
    let mut cache = MESSAGES.lock();
    let cache = cache.get_or_insert_default();
    if let Some(known) = cache.get(&key).and_then(Weak::upgrade) {
        return Ok(known);
    }
    // SAFETY: the caller's promise.
    let message = Arc::new(unsafe { compile(binding, members, handle)? });
    cache.retain(|_, known| known.strong_count() > 0);
    cache.insert(key, Arc::downgrade(&message));
    Ok(message)
}

/// # Safety
/// As for [`compiled`].
unsafe fn compile(
    binding: &'static Binding,
    members: &Members,
    handle: Option<&sys::rosidl_message_type_support_t>,
) -> Result<MessageType, TypeSupportError> {
    // SAFETY: the caller's promise; the handle's own function is called on it.
    let (layout, hash) = unsafe {
        let get = |handle: &sys::rosidl_message_type_support_t| {
            handle.get_type_hash_func.map_or(std::ptr::null(), |get| get(handle))
        };
        (layout(binding, members)?, hash(handle.map_or(std::ptr::null(), get)))
    };
    let plan = Plan::compile(&layout)?;
    // SAFETY: the caller's promise, and a type lives no longer than its library.
    let introspection = unsafe { Introspection::new(binding, members) };
    Ok(MessageType { name: layout.name, hash, plan, size_of: layout.size_of, introspection })
}

/// # Safety
/// NULL or a type hash.
unsafe fn hash(hash: *const sys::rosidl_type_hash_t) -> TypeHash {
    // SAFETY: the caller's promise.
    unsafe { hash.as_ref() }.map_or((0, [0; 32]), |hash| (hash.version, hash.value))
}
