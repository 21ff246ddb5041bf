//! A message in memory: filled with a value, read back, given to a plan.

use super::containers::{assign, grow, raw};
use super::model::{offsets, size_and_align, Count, Flavour, Type, Value};
use crate::cdr::{DecodeError, EncodeError, Plan, RawSequence};

/// A message in memory.
pub struct Object {
    memory: Vec<u64>,
    ty: Type,
    flavour: Flavour,
}

impl Object {
    pub fn empty(ty: &Type, flavour: Flavour) -> Object {
        Object { memory: vec![0; size_and_align(ty).0.div_ceil(8)], ty: ty.clone(), flavour }
    }

    pub fn new(ty: &Type, flavour: Flavour, value: &Value) -> Object {
        let mut object = Object::empty(ty, flavour);
        let at = object.ptr_mut();
        // SAFETY: zeroed memory of that type is a valid empty message.
        unsafe { object.fill(&object.ty, value, at) };
        object
    }

    pub fn ptr(&self) -> *const u8 {
        self.memory.as_ptr().cast()
    }

    pub fn ptr_mut(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().cast()
    }

    pub fn value(&self) -> Value {
        // SAFETY: the memory is a message of that type.
        unsafe { self.read(&self.ty, self.ptr()) }
    }

    /// # Safety
    /// `at` is a valid empty value of that type.
    unsafe fn fill(&self, ty: &Type, value: &Value, at: *mut u8) {
        // SAFETY: the caller's promise, and that each field lies at its offset.
        unsafe {
            match (ty, value) {
                (Type::Primitive(width), Value::Primitive(bits)) => {
                    std::ptr::copy_nonoverlapping(bits.to_le_bytes().as_ptr(), at, *width)
                }
                (Type::Bool, Value::Bool(value)) => at.write(u8::from(*value)),
                (Type::String(_), Value::String(bytes)) => {
                    assign(at.cast(), &[bytes, &[0][..]].concat(), 1, bytes.len())
                }
                (Type::WString(_), Value::WString(units)) => {
                    let bytes: Vec<u8> = units.iter().chain(&[0]).flat_map(|unit| unit.to_le_bytes()).collect();
                    assign(at.cast(), &bytes, 2, units.len());
                }
                (Type::Message(fields), Value::Message(values)) => {
                    for (((ty, count), offset), values) in fields.iter().zip(offsets(fields)).zip(values) {
                        self.fill_field(ty, *count, values, at.add(offset));
                    }
                }
                other => panic!("value and type differ: {other:?}"),
            }
        }
    }

    /// # Safety
    /// `at` is a valid empty field of that type.
    unsafe fn fill_field(&self, ty: &Type, count: Count, values: &[Value], at: *mut u8) {
        let stride = size_and_align(ty).0;
        // SAFETY: the caller's promise; there are as many elements as values.
        unsafe {
            let first = match count {
                Count::One | Count::Array(_) => at,
                Count::Sequence(_) => {
                    grow(std::ptr::without_provenance(stride), at.cast(), values.len());
                    (*at.cast::<RawSequence>()).data.cast()
                }
            };
            for (i, value) in values.iter().enumerate() {
                self.fill(ty, value, first.add(i * stride));
                if matches!(ty, Type::Bool) && self.packs(count) {
                    *first.add(i * stride) |= 0x10;
                }
            }
        }
    }

    fn packs(&self, count: Count) -> bool {
        self.flavour == Flavour::Functions && matches!(count, Count::Sequence(_))
    }

    /// # Safety
    /// `at` is a valid value of that type.
    unsafe fn read(&self, ty: &Type, at: *const u8) -> Value {
        // SAFETY: the caller's promise, and that each field lies at its offset.
        unsafe {
            match ty {
                Type::Primitive(width) => {
                    let mut bits = [0; 8];
                    std::ptr::copy_nonoverlapping(at, bits.as_mut_ptr(), *width);
                    Value::Primitive(u64::from_le_bytes(bits))
                }
                Type::Bool => {
                    assert!(at.read() & 0xef <= 1, "a boolean of value {}", at.read());
                    Value::Bool(at.read() & 1 == 1)
                }
                Type::String(_) => Value::String(units::<u8>(at)),
                Type::WString(_) => Value::WString(units::<u16>(at)),
                Type::Message(fields) => {
                    let field = |((ty, count), offset): (&(Type, Count), usize)| {
                        let (first, n) = elements(*count, at.add(offset));
                        (0..n).map(|i| self.read(ty, first.add(i * size_and_align(ty).0))).collect()
                    };
                    Value::Message(fields.iter().zip(offsets(fields)).map(field).collect())
                }
            }
        }
    }

    /// # Safety
    /// `at` is a valid value of that type.
    unsafe fn free(&self, ty: &Type, at: *const u8) {
        // SAFETY: the caller's promise, and that each field lies at its offset.
        unsafe {
            match ty {
                Type::Primitive(_) | Type::Bool => {}
                Type::String(_) | Type::WString(_) => libc::free((*at.cast::<RawSequence>()).data),
                Type::Message(fields) => {
                    for ((ty, count), offset) in fields.iter().zip(offsets(fields)) {
                        let at = at.add(offset);
                        let (first, n) = elements(*count, at);
                        let sequence = matches!(count, Count::Sequence(_)).then(|| raw(at.cast()));
                        let n = sequence.map_or(n, |sequence| sequence.capacity);
                        (0..n).for_each(|i| self.free(ty, first.add(i * size_and_align(ty).0)));
                        if let Some(sequence) = sequence {
                            libc::free(sequence.data);
                        }
                    }
                }
            }
        }
    }
}

/// Measures a message with a plan of its type.
pub fn size(plan: &Plan, object: &Object) -> Result<usize, EncodeError> {
    // SAFETY: an object is a valid message of its type.
    unsafe { plan.size(object.ptr()) }
}

/// Encodes a message with a plan of its type.
pub fn encode(plan: &Plan, object: &Object, out: &mut [u8]) -> Result<usize, EncodeError> {
    // SAFETY: an object is a valid message of its type.
    unsafe { plan.encode(object.ptr(), out) }
}

/// Decodes with a plan of the object's type, from memory of exactly that length: a tool that watches memory sees one
/// byte too many.
pub fn decode(plan: &Plan, encapsulation: [u8; 4], body: &[u8], into: &mut Object) -> Result<(), DecodeError> {
    let body: Box<[u8]> = body.into();
    // SAFETY: an object is a valid message of its type.
    unsafe { plan.decode(encapsulation, body.as_ptr(), body.len(), into.ptr_mut()) }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the memory is a message of that type, not used again.
        unsafe { self.free(&self.ty, self.ptr()) }
    }
}

/// # Safety
/// `at` is a valid field of that count.
unsafe fn elements(count: Count, at: *const u8) -> (*const u8, usize) {
    match count {
        Count::One => (at, 1),
        Count::Array(n) => (at, n),
        Count::Sequence(_) => {
            // SAFETY: the caller's promise.
            let raw = unsafe { raw(at.cast()) };
            assert!(raw.size <= raw.capacity);
            (raw.data.cast_const().cast(), raw.size)
        }
    }
}

/// # Safety
/// `at` is a valid string of such units.
unsafe fn units<T: Copy + Default + PartialEq + std::fmt::Debug>(at: *const u8) -> Vec<T> {
    // SAFETY: the caller's promise.
    let raw = unsafe { raw(at.cast()) };
    if raw.data.is_null() {
        assert_eq!(raw.size, 0);
        return Vec::new();
    }
    let data = raw.data.cast::<T>();
    assert!(raw.capacity > raw.size, "no room for the terminator");
    // SAFETY: the capacity covers the units and the terminator.
    let all: Vec<T> = (0..=raw.size).map(|i| unsafe { data.add(i).read() }).collect();
    assert_eq!(all[raw.size], T::default(), "no terminator");
    all[..raw.size].to_vec()
}
