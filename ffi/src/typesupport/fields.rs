//! Single values out of messages in memory: a path like `poses[2].position.x` becomes a few steps from the message's
//! first byte to the value.

use std::borrow::Cow;
use std::ffi::c_void;

use shoal_rmw::cdr::{BoolVectorFunctions, RawSequence, Resize, SequenceAccess, Span, StringAccess};
use shoal_rmw::filter::{Fields, Path, Schema, Segment, Type, Unresolved, Value};

use super::introspection::{nested, scalar, Binding, Member, Members, Scalar};
use super::lookup::text;
use super::scratch::Scratch;
use super::MessageType;

/// The way to a value of a message.
#[derive(Debug)]
pub struct Field {
    steps: Vec<Step>,
    leaf: Leaf,
}

#[derive(Debug)]
enum Step {
    /// So many bytes further.
    Offset(usize),
    /// From a sequence to one of its elements.
    Element { access: SequenceAccess, index: usize, stride: usize },
}

#[derive(Debug)]
enum Leaf {
    Scalar(Scalar),
    String(StringAccess),
    WString(StringAccess),
    /// An element of a packed sequence of booleans.
    Packed {
        functions: &'static BoolVectorFunctions,
        index: usize,
    },
}

impl Leaf {
    fn type_of(&self) -> Type {
        match self {
            Self::Scalar(scalar) => scalar.type_of(),
            Self::String(_) | Self::WString(_) => Type::Text,
            Self::Packed { .. } => Type::Bool,
        }
    }

    /// Bytes from one element of an array to the next.
    fn stride(&self) -> usize {
        match self {
            Self::Scalar(scalar) => scalar.width(),
            Self::String(access) | Self::WString(access) => access.size_of(),
            Self::Packed { .. } => 0,
        }
    }
}

impl Scalar {
    fn type_of(self) -> Type {
        match self {
            Self::Bool => Type::Bool,
            Self::Character => Type::Character(i8::MAX as u32),
            Self::U8 => Type::Character(u8::MAX.into()),
            Self::U16Character => Type::Character(u16::MAX.into()),
            Self::F32 => Type::Float32,
            Self::F64 => Type::Float64,
            _ => Type::Integer,
        }
    }

    /// # Safety
    /// `at` leads to a value of this kind, of any alignment.
    unsafe fn read(self, at: *const u8) -> Value<'static> {
        macro_rules! integer {
            ($ty:ty) => {
                // SAFETY: the caller's promise.
                Value::Integer(i128::from(unsafe { at.cast::<$ty>().read_unaligned() }))
            };
        }
        match self {
            // SAFETY: the caller's promise; as a byte, whatever it is.
            Self::Bool => Value::Bool(unsafe { at.read() } != 0),
            Self::Character | Self::I8 => integer!(i8),
            Self::U8 => integer!(u8),
            Self::I16 => integer!(i16),
            Self::U16 | Self::U16Character => integer!(u16),
            Self::I32 => integer!(i32),
            Self::U32 => integer!(u32),
            Self::I64 => integer!(i64),
            Self::U64 => integer!(u64),
            // SAFETY: the caller's promise.
            Self::F32 => Value::Float32(unsafe { at.cast::<f32>().read_unaligned() }),
            // SAFETY: the caller's promise.
            Self::F64 => Value::Float64(unsafe { at.cast::<f64>().read_unaligned() }),
        }
    }
}

impl Schema for MessageType {
    type Field = Field;

    fn resolve(&self, path: &Path) -> Result<(Field, Type), Unresolved> {
        let introspection = &self.introspection;
        resolve(introspection.binding(), introspection.members(), &self.name, path)
    }
}

impl Fields<Field> for Scratch {
    fn value(&self, field: &Field) -> Option<Value<'_>> {
        let mut at = self.ptr();
        for step in &field.steps {
            // SAFETY: the steps were made for this type of message, which is initialised: each starts where the one
            // before ended. Filters are compiled for the type whose messages they read (`ContentFilter`).
            at = unsafe { step.take(at)? };
        }
        // SAFETY: as above; what is borrowed lives in the message.
        unsafe { field.leaf.read(at) }
    }
}

impl Step {
    /// # Safety
    /// `at` is where this step starts in a valid message.
    unsafe fn take(&self, at: *const u8) -> Option<*const u8> {
        match *self {
            // SAFETY: a field lies within its structure.
            Self::Offset(bytes) => Some(unsafe { at.add(bytes) }),
            Self::Element { access: SequenceAccess::Struct { .. }, index, stride } => {
                // SAFETY: a sequence of the C runtime.
                let sequence = unsafe { at.cast::<RawSequence>().read() };
                let inside = index < sequence.size && !sequence.data.is_null();
                // SAFETY: `index` is within the elements.
                inside.then(|| unsafe { sequence.data.cast_const().cast::<u8>().add(index * stride) })
            }
            Self::Element { access: SequenceAccess::Functions { size, get_const, .. }, index, .. } => {
                // SAFETY: the functions of this container; `index` is within its elements.
                let element = unsafe {
                    if index >= size(at.cast()) {
                        return None;
                    }
                    get_const(at.cast(), index)
                };
                (!element.is_null()).then(|| element.cast())
            }
        }
    }
}

impl Leaf {
    /// # Safety
    /// `at` leads to such a value, which outlives 'a unchanged.
    unsafe fn read<'a>(&self, at: *const u8) -> Option<Value<'a>> {
        // SAFETY: the caller's promise.
        unsafe {
            match *self {
                Self::Scalar(scalar) => Some(scalar.read(at)),
                Self::String(access) => Some(Value::Text(Cow::Borrowed(characters::<u8>(access, at)))),
                Self::WString(access) => {
                    let wide = characters::<u16>(access, at);
                    Some(Value::Text(String::from_utf16_lossy(wide).into_bytes().into()))
                }
                Self::Packed { functions, index } => {
                    let container: *const c_void = at.cast();
                    if index >= (functions.len)(container) {
                        return None;
                    }
                    let mut bits = vec![0; index + 1];
                    (functions.read)(container, bits.as_mut_ptr(), bits.len());
                    Some(Value::Bool(bits[index] != 0))
                }
            }
        }
    }
}

/// # Safety
/// `at` leads to a string object of this access with characters of type `C`, which outlives 'a unchanged.
unsafe fn characters<'a, C>(access: StringAccess, at: *const u8) -> &'a [C] {
    // SAFETY: the caller's promise.
    let Span { data, len } = unsafe {
        match access {
            StringAccess::Struct => {
                let string = at.cast::<RawSequence>().read();
                Span { data: string.data, len: string.size }
            }
            StringAccess::Functions(functions) => (functions.view)(at.cast()),
        }
    };
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the string says where its characters are and how many.
    unsafe { std::slice::from_raw_parts(data.cast(), len) }
}

fn resolve(binding: &Binding, members: &Members, name: &str, path: &Path) -> Result<(Field, Type), Unresolved> {
    let mut steps = Vec::new();
    let (mut members, mut owner) = (members, name.to_owned());
    for (segment, part) in path.0.iter().enumerate() {
        let wrong = |why| Unresolved { segment, why };
        let member = find(members, &owner, &part.name).map_err(wrong)?;
        let last = segment + 1 == path.0.len();
        steps.push(Step::Offset(member.offset_ as usize));
        // SAFETY: introspection of a loaded library, all of which was checked when the type was compiled.
        match (unsafe { nested(member) }, last) {
            (Some((inner, inner_name)), false) => {
                steps.extend(element(binding, member, part, inner.size_of_).map_err(wrong)?);
                (members, owner) = (inner, inner_name);
            }
            (None, true) => {
                let leaf = leaf(binding, member, part).map_err(wrong)?;
                if !matches!(leaf, Leaf::Packed { .. }) {
                    steps.extend(element(binding, member, part, leaf.stride()).map_err(wrong)?);
                }
                let found = leaf.type_of();
                return Ok((Field { steps, leaf }, found));
            }
            (Some((inner, inner_name)), true) => {
                let fields = names(inner);
                return Err(wrong(format!("'{}' is a {inner_name}; name one of its fields: {fields}", part.name)));
            }
            (None, false) => {
                let why = format!("'{}' is a value and has no fields", part.name);
                return Err(Unresolved { segment: segment + 1, why });
            }
        }
    }
    Err(Unresolved { segment: 0, why: "an empty name".to_owned() })
}

fn list(members: &Members) -> &[Member] {
    match members.members_.is_null() {
        true => &[],
        // SAFETY: introspection says how many members stand there.
        false => unsafe { std::slice::from_raw_parts(members.members_, members.member_count_ as usize) },
    }
}

fn name_of(member: &Member) -> String {
    // SAFETY: a name is a string constant of the library.
    unsafe { text(member.name_) }
}

fn names(members: &Members) -> String {
    list(members).iter().map(name_of).collect::<Vec<_>>().join(", ")
}

fn find<'a>(members: &'a Members, owner: &str, name: &str) -> Result<&'a Member, String> {
    let found = list(members).iter().find(|member| name_of(member) == name);
    found.ok_or_else(|| format!("{owner} has no field '{name}'; it has: {}", names(members)))
}

/// The step to the element that is named, of a field whose elements are `stride` bytes apart.
fn element(binding: &Binding, member: &Member, part: &Segment, stride: usize) -> Result<Option<Step>, String> {
    let Some(index) = index_in(member, part)? else { return Ok(None) };
    if is_fixed(member) {
        return Ok(Some(Step::Offset(index * stride)));
    }
    let function = member.resize_function.map_or(std::ptr::null(), |resize| resize as *const ());
    let access = (binding.sequence)(member, Resize { call: binding.call_resize, function });
    let access = access.ok_or_else(|| format!("the type support cannot reach elements of '{}'", part.name))?;
    Ok(Some(Step::Element { access, index, stride }))
}

fn is_fixed(member: &Member) -> bool {
    member.array_size_ > 0 && !member.is_upper_bound_
}

fn index_in(member: &Member, part: &Segment) -> Result<Option<usize>, String> {
    let name = &part.name;
    match (member.is_array_, part.index) {
        (false, None) => Ok(None),
        (false, Some(_)) => Err(format!("'{name}' is not an array; leave the index out")),
        (true, None) => Err(format!("'{name}' is an array; name an element, as in {name}[0]")),
        (true, Some(index)) if member.array_size_ > 0 && index >= member.array_size_ => {
            Err(format!("'{name}' has at most {} elements, counted from 0", member.array_size_))
        }
        (true, index) => Ok(index),
    }
}

fn leaf(binding: &Binding, member: &Member, part: &Segment) -> Result<Leaf, String> {
    let found = scalar(member);
    if let (Some(Scalar::Bool), Some(functions), Some(index)) = (found, binding.bool_vector, index_in(member, part)?) {
        if !is_fixed(member) {
            return Ok(Leaf::Packed { functions, index });
        }
    }
    match found {
        Some(scalar) => Ok(Leaf::Scalar(scalar)),
        None if super::introspection::is_wide(member) => Ok(Leaf::WString(binding.wstring)),
        None => Ok(Leaf::String(binding.string)),
    }
}
