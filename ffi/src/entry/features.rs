//! rmw/features.h, rmw/qos_profiles.h and the log level.

use std::ffi::{c_char, c_int};

use crate::boundary::{exports, Failure, InOut};
use crate::{qos, sys};

exports! {
    /// Whether an optional feature is there.
    fn rmw_feature_supported(feature: sys::rmw_feature_t) -> bool = feature_supported;
    /// Whether a publisher and a subscription with these profiles would match, and why not.
    fn rmw_qos_profile_check_compatible(
        publisher_profile: sys::rmw_qos_profile_t,
        subscription_profile: sys::rmw_qos_profile_t,
        compatibility: *mut sys::rmw_qos_compatibility_type_t,
        reason: *mut c_char,
        reason_size: usize,
    ) -> sys::rmw_ret_t = check_compatible;
    /// Sets the level from which the logger `rmw_shoal` writes.
    fn rmw_set_log_severity(severity: sys::rmw_log_severity_t) -> sys::rmw_ret_t = set_log_severity;
}

fn feature_supported(feature: sys::rmw_feature_t) -> Result<bool, Failure> {
    Ok(matches!(
        feature,
        sys::RMW_FEATURE_MESSAGE_INFO_PUBLICATION_SEQUENCE_NUMBER
            | sys::RMW_FEATURE_MESSAGE_INFO_RECEPTION_SEQUENCE_NUMBER
    ))
}

fn check_compatible(
    offered: sys::rmw_qos_profile_t,
    requested: sys::rmw_qos_profile_t,
    compatibility: InOut<sys::rmw_qos_compatibility_type_t>,
    reason: InOut<c_char>,
    reason_size: usize,
) -> Result<(), Failure> {
    compatibility.pointer()?;
    let verdict = qos::check_compatible(&offered, &requested);
    if reason_size > 0 {
        write_text(reason, reason_size, &verdict.reasons())?;
    }
    compatibility.write(verdict.compatibility())
}

/// Writes as much of the text as fits, with its NUL.
fn write_text(target: InOut<c_char>, size: usize, text: &str) -> Result<(), Failure> {
    let start = target.pointer()?;
    let length = text.len().min(size - 1);
    // SAFETY: the caller's buffer has `size` bytes, and `length` is less.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), start.cast(), length);
        start.add(length).write(0);
    }
    Ok(())
}

fn set_log_severity(severity: sys::rmw_log_severity_t) -> Result<(), Failure> {
    let known = [
        sys::RMW_LOG_SEVERITY_DEBUG,
        sys::RMW_LOG_SEVERITY_INFO,
        sys::RMW_LOG_SEVERITY_WARN,
        sys::RMW_LOG_SEVERITY_ERROR,
        sys::RMW_LOG_SEVERITY_FATAL,
    ];
    let level = c_int::try_from(severity).ok().filter(|_| known.contains(&severity));
    let level = level.ok_or_else(|| Failure::invalid(format!("severity {severity} is none of {known:?}")))?;
    // SAFETY: a string literal; rcutils keeps a copy.
    let code = unsafe { sys::rcutils_logging_set_logger_level(c"rmw_shoal".as_ptr(), level) };
    match code {
        sys::RMW_RET_OK => Ok(()),
        code => Err(Failure::of_library(code, "rcutils_logging_set_logger_level")),
    }
}
