//! Introspection data → layout. The C and C++ structures have the same memory layout (checked where the C++ bridge is
//! compiled), so one reader serves both; what differs is how containers are reached, which a [`Binding`] tells.

use std::ffi::CStr;
use std::sync::Arc;

use shoal_rmw::cdr::{BoolVectorFunctions, Extent, Field, Kind, Layout, Resize, SequenceAccess, StringAccess};

use super::error::TypeSupportError;
use super::lookup::text;
use crate::sys::{
    self, rosidl_typesupport_introspection_c__ROS_TYPE_BOOLEAN as BOOLEAN,
    rosidl_typesupport_introspection_c__ROS_TYPE_CHAR as CHAR,
    rosidl_typesupport_introspection_c__ROS_TYPE_DOUBLE as DOUBLE,
    rosidl_typesupport_introspection_c__ROS_TYPE_FLOAT as FLOAT,
    rosidl_typesupport_introspection_c__ROS_TYPE_INT16 as INT16,
    rosidl_typesupport_introspection_c__ROS_TYPE_INT32 as INT32,
    rosidl_typesupport_introspection_c__ROS_TYPE_INT64 as INT64,
    rosidl_typesupport_introspection_c__ROS_TYPE_INT8 as INT8,
    rosidl_typesupport_introspection_c__ROS_TYPE_LONG_DOUBLE as LONG_DOUBLE,
    rosidl_typesupport_introspection_c__ROS_TYPE_MESSAGE as MESSAGE,
    rosidl_typesupport_introspection_c__ROS_TYPE_OCTET as OCTET,
    rosidl_typesupport_introspection_c__ROS_TYPE_STRING as STRING,
    rosidl_typesupport_introspection_c__ROS_TYPE_UINT16 as UINT16,
    rosidl_typesupport_introspection_c__ROS_TYPE_UINT32 as UINT32,
    rosidl_typesupport_introspection_c__ROS_TYPE_UINT64 as UINT64,
    rosidl_typesupport_introspection_c__ROS_TYPE_UINT8 as UINT8,
    rosidl_typesupport_introspection_c__ROS_TYPE_WCHAR as WCHAR,
    rosidl_typesupport_introspection_c__ROS_TYPE_WSTRING as WSTRING,
};

pub(super) type Member = sys::rosidl_typesupport_introspection_c__MessageMember;
pub(super) type Members = sys::rosidl_typesupport_introspection_c__MessageMembers;

/// A function that initialises a message in zeroed memory.
pub(super) type InitFunction =
    unsafe extern "C" fn(*mut std::ffi::c_void, sys::rosidl_runtime_c__message_initialization);

/// The introspection of a type.
#[derive(Debug)]
pub(super) struct Introspection {
    members: *const Members,
    binding: &'static Binding,
}

// SAFETY: it leads to constants of a loaded library, which nobody writes.
unsafe impl Send for Introspection {}
// SAFETY: as for Send.
unsafe impl Sync for Introspection {}

impl Introspection {
    /// # Safety
    /// The members are of this binding, and of a library that stays loaded for as long as the result lives.
    pub unsafe fn new(binding: &'static Binding, members: &Members) -> Introspection {
        Introspection { members, binding }
    }

    pub fn members(&self) -> &Members {
        // SAFETY: promised to `new`.
        unsafe { &*self.members }
    }

    pub fn binding(&self) -> &'static Binding {
        self.binding
    }
}

/// What one element of a field is, unless it is a string or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Bool,
    /// A `char` of C.
    Character,
    I8,
    U8,
    I16,
    U16,
    U16Character,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    pub fn width(self) -> usize {
        match self {
            Self::Bool | Self::Character | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::U16Character => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

pub(super) fn scalar(member: &Member) -> Option<Scalar> {
    Some(match u32::from(member.type_id_) {
        BOOLEAN => Scalar::Bool,
        CHAR => Scalar::Character,
        OCTET | UINT8 => Scalar::U8,
        INT8 => Scalar::I8,
        WCHAR => Scalar::U16Character,
        UINT16 => Scalar::U16,
        INT16 => Scalar::I16,
        UINT32 => Scalar::U32,
        INT32 => Scalar::I32,
        UINT64 => Scalar::U64,
        INT64 => Scalar::I64,
        FLOAT => Scalar::F32,
        DOUBLE => Scalar::F64,
        _ => return None,
    })
}

/// Whether a field without a scalar is a wide string.
pub(super) fn is_wide(member: &Member) -> bool {
    u32::from(member.type_id_) == WSTRING
}

/// The type of a field that is a message, and its name.
///
/// # Safety
/// `member` is introspection data.
pub(super) unsafe fn nested(member: &Member) -> Option<(&Members, String)> {
    if u32::from(member.type_id_) != MESSAGE {
        return None;
    }
    // SAFETY: the nested handle is of the same introspection, and its data is its members.
    unsafe {
        let members = member.members_.as_ref()?.data.cast::<Members>().as_ref()?;
        Some((members, type_name(members.message_namespace_, members.message_name_)))
    }
}

/// Deeper nesting than any real type has: introspection that refers to itself must not overflow the stack.
const MAX_DEPTH: usize = 64;

/// How one language binding keeps its containers.
#[derive(Debug)]
pub(super) struct Binding {
    /// Its introspection's identifier.
    pub identifier: &'static CStr,
    pub string: StringAccess,
    pub wstring: StringAccess,
    /// Access to a sequence, given its member and resize function; `None` when a function is missing.
    pub sequence: fn(&Member, Resize) -> Option<SequenceAccess>,
    /// Calls a member's resize function.
    pub call_resize: unsafe fn(*const (), *mut std::ffi::c_void, usize) -> bool,
    /// Calls a type's init function on zeroed memory; false when it fails.
    pub call_init: unsafe fn(InitFunction, *mut std::ffi::c_void) -> bool,
    /// Set when sequences of booleans are packed.
    pub bool_vector: Option<&'static BoolVectorFunctions>,
}

/// "std_msgs__msg" or "std_msgs::msg", and "String" → "std_msgs/msg/String".
///
/// # Safety
/// Both are NULL or strings.
pub(super) unsafe fn type_name(namespace: *const std::ffi::c_char, name: *const std::ffi::c_char) -> String {
    // SAFETY: the caller's promise.
    let (namespace, name) = unsafe { (text(namespace), text(name)) };
    format!("{}/{name}", namespace.replace("__", "/").replace("::", "/"))
}

/// The layout of a message and of all that is nested in it.
///
/// # Safety
/// `members` is introspection data of this binding.
pub(super) unsafe fn layout(binding: &Binding, members: &Members) -> Result<Layout, TypeSupportError> {
    // SAFETY: the caller's promise.
    unsafe { layout_at(binding, members, 0) }
}

/// # Safety
/// As for [`layout`].
unsafe fn layout_at(binding: &Binding, members: &Members, depth: usize) -> Result<Layout, TypeSupportError> {
    // SAFETY: the caller's promise.
    let name = unsafe { type_name(members.message_namespace_, members.message_name_) };
    if depth > MAX_DEPTH {
        return Err(broken(&name, format!("it is nested more than {MAX_DEPTH} deep")));
    }
    if members.members_.is_null() {
        return Err(broken(&name, "it has no list of members".to_owned()));
    }
    // SAFETY: introspection says how many members stand there.
    let list = unsafe { std::slice::from_raw_parts(members.members_, members.member_count_ as usize) };
    // SAFETY: the members are of this binding too.
    let fields = list.iter().map(|member| unsafe { field(binding, &name, member, depth) });
    let fields = fields.collect::<Result<_, _>>()?;
    Ok(Layout { name, size_of: members.size_of_, fields })
}

/// # Safety
/// `member` is introspection data of this binding.
unsafe fn field(binding: &Binding, message: &str, member: &Member, depth: usize) -> Result<Field, TypeSupportError> {
    // SAFETY: a name is a string constant of the library.
    let name = unsafe { text(member.name_) };
    // SAFETY: the caller's promise.
    let kind = unsafe { kind(binding, message, &name, member, depth)? };
    let extent = extent(binding, message, &name, member)?;
    Ok(Field { name, offset: member.offset_ as usize, kind, extent })
}

/// # Safety
/// As for [`field`].
unsafe fn kind(
    binding: &Binding,
    message: &str,
    name: &str,
    member: &Member,
    depth: usize,
) -> Result<Kind, TypeSupportError> {
    let primitive = |width| Ok(Kind::Primitive { width });
    let bound = (member.string_upper_bound_ > 0).then_some(member.string_upper_bound_);
    match u32::from(member.type_id_) {
        BOOLEAN => Ok(Kind::Bool),
        CHAR | OCTET | UINT8 | INT8 => primitive(1),
        WCHAR | UINT16 | INT16 => primitive(2),
        FLOAT | UINT32 | INT32 => primitive(4),
        DOUBLE | UINT64 | INT64 => primitive(8),
        STRING => Ok(Kind::String { bound, access: binding.string }),
        WSTRING => Ok(Kind::WString { bound, access: binding.wstring }),
        MESSAGE => {
            // SAFETY: the nested handle is of the same introspection, and its data is its members.
            let nested = unsafe { member.members_.as_ref().and_then(|handle| handle.data.cast::<Members>().as_ref()) };
            let nested = nested.ok_or_else(|| broken(message, format!("field '{name}' has no nested type")))?;
            // SAFETY: as above.
            Ok(Kind::Message(Arc::new(unsafe { layout_at(binding, nested, depth + 1)? })))
        }
        LONG_DOUBLE => {
            let (message, field) = (message.to_owned(), name.to_owned());
            Err(TypeSupportError::Unsupported { message, field, kind: "long double" })
        }
        other => Err(broken(message, format!("field '{name}' is of the unknown type {other}"))),
    }
}

fn extent(binding: &Binding, message: &str, name: &str, member: &Member) -> Result<Extent, TypeSupportError> {
    if !member.is_array_ {
        return Ok(Extent::One);
    }
    if member.array_size_ > 0 && !member.is_upper_bound_ {
        return Ok(Extent::Array(member.array_size_));
    }
    let bound = member.is_upper_bound_.then_some(member.array_size_);
    if let (BOOLEAN, Some(functions)) = (u32::from(member.type_id_), binding.bool_vector) {
        return Ok(Extent::BoolVector { bound, functions });
    }
    let missing = || broken(message, format!("sequence '{name}' lacks functions to reach its elements"));
    let function = member.resize_function.ok_or_else(missing)? as *const ();
    let access = (binding.sequence)(member, Resize { call: binding.call_resize, function }).ok_or_else(missing)?;
    Ok(Extent::Sequence { bound, access })
}

pub(super) fn broken(message: &str, what: String) -> TypeSupportError {
    TypeSupportError::Broken { message: message.to_owned(), what }
}
