//! Introspection that a type cannot be made of: made by hand, as a broken or newer library would have it.

use std::ffi::{c_char, CStr};

use rmw_shoal::sys::{self, rosidl_message_type_support_t as Support};
use rmw_shoal::typesupport::{MessageType, TypeSupportError};

use crate::message::Members;

type Member = sys::rosidl_typesupport_introspection_c__MessageMember;

/// Finds itself when asked for its own identifier, as generated type supports do.
unsafe extern "C" fn find(support: *const Support, identifier: *const c_char) -> *const Support {
    // SAFETY: both are what the library under test was given here.
    let same = unsafe { CStr::from_ptr((*support).typesupport_identifier) == CStr::from_ptr(identifier) };
    if same {
        support
    } else {
        std::ptr::null()
    }
}

/// What a message with one field `x` comes to.
fn compile(change: impl FnOnce(&mut Member, &mut Members)) -> Result<(), TypeSupportError> {
    // SAFETY: NULL, zero, false and no function are values of every field.
    let (mut member, mut members, mut support) =
        unsafe { (std::mem::zeroed::<Member>(), std::mem::zeroed::<Members>(), std::mem::zeroed::<Support>()) };
    member.name_ = c"x".as_ptr();
    member.type_id_ = sys::rosidl_typesupport_introspection_c__ROS_TYPE_DOUBLE as u8;
    members.message_namespace_ = c"odd_msgs__msg".as_ptr();
    members.message_name_ = c"Odd".as_ptr();
    (members.member_count_, members.size_of_) = (1, 16);
    change(&mut member, &mut members);
    members.members_ = &member;
    support.typesupport_identifier = c"rosidl_typesupport_introspection_c".as_ptr();
    support.func = Some(find);
    support.data = (&raw const members).cast();
    // SAFETY: all of it outlives the call, and nothing of it is kept.
    unsafe { MessageType::of(&support) }.map(drop)
}

#[test]
fn a_number_makes_a_type() {
    compile(|_, _| ()).expect("a double at 0 in 16 bytes");
}

#[test]
fn a_long_double_is_refused_by_name() {
    let outcome = compile(|member, _| {
        member.type_id_ = sys::rosidl_typesupport_introspection_c__ROS_TYPE_LONG_DOUBLE as u8;
    });
    let text = outcome.expect_err("unsupported").to_string();
    assert!(text.contains("odd_msgs/msg/Odd") && text.contains("'x'") && text.contains("long double"), "{text}");
}

#[test]
fn what_no_generator_writes_is_refused() {
    let message = sys::rosidl_typesupport_introspection_c__ROS_TYPE_MESSAGE as u8;
    let broken = |outcome| assert!(matches!(outcome, Err(TypeSupportError::Broken { .. })), "{outcome:?}");
    broken(compile(|member, _| member.type_id_ = 0));
    broken(compile(|member, _| member.type_id_ = 200));
    broken(compile(|member, _| member.type_id_ = message));
    broken(compile(|member, _| member.is_array_ = true));
    let misplaced = |outcome| assert!(matches!(outcome, Err(TypeSupportError::Compile(_))), "{outcome:?}");
    misplaced(compile(|member, _| member.offset_ = 9));
    misplaced(compile(|_, members| members.member_count_ = 0));
    misplaced(compile(|_, members| members.size_of_ = 0));
}
