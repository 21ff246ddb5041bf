//! Names from C, checked by the rules of the installed rmw library.

use std::ffi::{c_char, c_int, CStr, CString};

use crate::boundary::{Failure, In};
use crate::sys;

type Validate = unsafe extern "C" fn(*const c_char, *mut c_int, *mut usize) -> sys::rmw_ret_t;
type Explain = unsafe extern "C" fn(c_int) -> *const c_char;

/// A node name.
pub fn node_name<'call>(name: In<'call, c_char>) -> Result<&'call str, Failure> {
    check(name, sys::rmw_validate_node_name, sys::rmw_node_name_validation_result_string)
}

/// A node's namespace.
pub fn namespace<'call>(name: In<'call, c_char>) -> Result<&'call str, Failure> {
    check(name, sys::rmw_validate_namespace, sys::rmw_namespace_validation_result_string)
}

/// A fully qualified topic or service name.
pub fn full<'call>(name: In<'call, c_char>) -> Result<&'call str, Failure> {
    check(name, sys::rmw_validate_full_topic_name, sys::rmw_full_topic_name_validation_result_string)
}

/// The name of an endpoint: fully qualified, unless its profile avoids the conventions of ROS; never empty.
pub fn endpoint<'call>(name: In<'call, c_char>, profile: &sys::rmw_qos_profile_t) -> Result<&'call str, Failure> {
    if !profile.avoid_ros_namespace_conventions {
        return full(name);
    }
    match name.text()? {
        "" => Err(Failure::invalid(format!("{} is empty", name.name()))),
        text => Ok(text),
    }
}

/// The same name for C. Names that came from C have no NUL inside.
pub fn to_c(name: &str) -> Result<CString, Failure> {
    CString::new(name).map_err(|_| Failure::invalid(format!("the name {name:?} contains NUL")))
}

fn check<'call>(name: In<'call, c_char>, validate: Validate, explain: Explain) -> Result<&'call str, Failure> {
    let text = name.text()?;
    let (mut result, mut index): (c_int, usize) = (0, 0);
    // SAFETY: a NUL-terminated string (`text` has looked at it) and two places to write to.
    let code = unsafe { validate(name.pointer()?, &mut result, &mut index) };
    if code != sys::RMW_RET_OK {
        return Err(Failure::of_library(code, "name validation"));
    }
    if result == 0 {
        return Ok(text);
    }
    // SAFETY: returns NULL or a string literal.
    let reason = unsafe { explain(result).as_ref() }.map(|start| unsafe { CStr::from_ptr(start) }.to_string_lossy());
    let reason = reason.unwrap_or_else(|| "it is not valid".into());
    Err(Failure::invalid(format!("{} {text:?} is refused at position {index}: {reason}", name.name())))
}
