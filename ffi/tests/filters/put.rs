//! Values for single fields of C messages.

use std::ffi::{c_char, CStr, CString};

use rmw_shoal::sys;

use crate::message::{Members, Message};

/// A value to put into a field.
#[derive(Clone, Copy, Debug)]
pub enum Put {
    Integer(i128),
    Float(f64),
    Text(&'static str),
}

/// Puts a value into a field of a C message; sequences on the way get three elements.
pub fn put(message: &mut Message, path: &str, value: Put) {
    let (mut members, mut at): (&Members, *mut u8) = (message.members, message.ptr_mut());
    for part in path.split('.') {
        let (name, index) = match part.split_once('[') {
            Some((name, index)) => (name, Some(index.trim_end_matches(']').parse::<usize>().unwrap())),
            None => (part, None),
        };
        // SAFETY: a C message is as its introspection says.
        unsafe {
            let list = std::slice::from_raw_parts(members.members_, members.member_count_ as usize);
            let named = |member: &&_| CStr::from_ptr(member_name(member)).to_str() == Ok(name);
            let member = list.iter().find(named).unwrap_or_else(|| panic!("{path}: no {name}"));
            at = at.add(member.offset_ as usize);
            if let Some(index) = index {
                if let (Some(size), Some(resize)) = (member.size_function, member.resize_function) {
                    assert!(size(at.cast()) > index || resize(at.cast(), 3));
                }
                at = member.get_function.expect("elements")(at.cast(), index).cast();
            }
            match member.members_.as_ref() {
                Some(nested) => members = &*nested.data.cast::<Members>(),
                None => return put_value(u32::from(member.type_id_), at, value),
            }
        }
    }
    panic!("{path} is a message");
}

fn member_name(member: &sys::rosidl_typesupport_introspection_c__MessageMember) -> *const c_char {
    member.name_
}

/// # Safety
/// `at` is an initialised value of that type.
unsafe fn put_value(type_id: u32, at: *mut u8, value: Put) {
    use sys::{
        rosidl_typesupport_introspection_c__ROS_TYPE_DOUBLE as DOUBLE,
        rosidl_typesupport_introspection_c__ROS_TYPE_FLOAT as FLOAT,
        rosidl_typesupport_introspection_c__ROS_TYPE_INT16 as INT16,
        rosidl_typesupport_introspection_c__ROS_TYPE_INT32 as INT32,
        rosidl_typesupport_introspection_c__ROS_TYPE_INT64 as INT64,
        rosidl_typesupport_introspection_c__ROS_TYPE_UINT16 as UINT16,
        rosidl_typesupport_introspection_c__ROS_TYPE_UINT32 as UINT32,
        rosidl_typesupport_introspection_c__ROS_TYPE_UINT64 as UINT64,
        rosidl_typesupport_introspection_c__ROS_TYPE_WSTRING as WSTRING,
    };
    // SAFETY: the caller's promise.
    unsafe {
        match (value, type_id) {
            (Put::Float(value), FLOAT) => at.cast::<f32>().write(value as f32),
            (Put::Float(value), DOUBLE) => at.cast::<f64>().write(value),
            (Put::Integer(value), INT16 | UINT16) => at.cast::<u16>().write(value as u16),
            (Put::Integer(value), INT32 | UINT32) => at.cast::<u32>().write(value as u32),
            (Put::Integer(value), INT64 | UINT64) => at.cast::<u64>().write(value as u64),
            (Put::Integer(value), _) => at.write(value as u8),
            (Put::Text(text), WSTRING) => {
                let wide: Vec<u16> = text.encode_utf16().collect();
                assert!(sys::rosidl_runtime_c__U16String__assignn(at.cast(), wide.as_ptr(), wide.len()));
            }
            (Put::Text(text), _) => {
                let text = CString::new(text).unwrap();
                assert!(sys::rosidl_runtime_c__String__assign(at.cast(), text.as_ptr()));
            }
            (value, _) => panic!("{value:?} does not fit type {type_id}"),
        }
    }
}
