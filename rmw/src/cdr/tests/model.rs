//! A message type, a value and their wire form, each told a second time in the plainest way: what the plans are compared with.

use std::ffi::c_void;
use std::sync::Arc;

use proptest::prelude::*;

use crate::cdr::{
    BoolVectorFunctions, DecodeError, EncodeError, Extent, Field, Kind, Layout, Plan, RawSequence, Resize,
    SequenceAccess, Span, StringAccess, StringFunctions,
};

/// A type, without its memory.
#[derive(Clone, Debug)]
pub enum Type {
    Primitive(usize),
    Bool,
    String(Option<usize>),
    WString(Option<usize>),
    Message(Vec<(Type, Count)>),
}

#[derive(Clone, Copy, Debug)]
pub enum Count {
    One,
    Array(usize),
    Sequence(Option<usize>),
}

/// A value; a message has the elements of each field.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Primitive(u64),
    Bool(bool),
    String(Vec<u8>),
    WString(Vec<u16>),
    Message(Vec<Vec<Value>>),
}

/// Containers as C structures, or behind functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Flavour {
    Structs,
    Functions,
}

const CONTAINER: usize = size_of::<RawSequence>();

pub fn size_and_align(ty: &Type) -> (usize, usize) {
    match ty {
        Type::Primitive(width) => (*width, *width),
        Type::Bool => (1, 1),
        Type::String(_) | Type::WString(_) => (CONTAINER, 8),
        Type::Message(fields) => {
            let (mut end, mut most) = (0usize, 1);
            for (ty, count) in fields {
                let (size, align) = field_size_and_align(ty, *count);
                end = end.next_multiple_of(align) + size;
                most = most.max(align);
            }
            (end.next_multiple_of(most), most)
        }
    }
}

fn field_size_and_align(ty: &Type, count: Count) -> (usize, usize) {
    let (size, align) = size_and_align(ty);
    match count {
        Count::One => (size, align),
        Count::Array(n) => (size * n, align),
        Count::Sequence(_) => (CONTAINER, 8),
    }
}

/// Offsets of the fields by the rules of C.
pub fn offsets(fields: &[(Type, Count)]) -> Vec<usize> {
    let mut end = 0usize;
    let place = |(ty, count): &(Type, Count)| {
        let (size, align) = field_size_and_align(ty, *count);
        let at = end.next_multiple_of(align);
        end = at + size;
        at
    };
    fields.iter().map(place).collect()
}

pub fn layout(ty: &Type, flavour: Flavour) -> Layout {
    let Type::Message(fields) = ty else { panic!("only a message has a layout") };
    let field = |(i, ((ty, count), offset)): (usize, (&(Type, Count), usize))| Field {
        name: format!("f{i}"),
        offset,
        kind: kind(ty, flavour),
        extent: extent(ty, *count, flavour),
    };
    let fields = fields.iter().zip(offsets(fields)).enumerate().map(field).collect();
    Layout { name: "model/msg/Type".to_owned(), size_of: size_and_align(ty).0, fields }
}

fn kind(ty: &Type, flavour: Flavour) -> Kind {
    let access = |functions| match flavour {
        Flavour::Structs => StringAccess::Struct,
        Flavour::Functions => StringAccess::Functions(functions),
    };
    match ty {
        Type::Primitive(width) => Kind::Primitive { width: *width },
        Type::Bool => Kind::Bool,
        Type::String(bound) => Kind::String { bound: *bound, access: access(&BYTES) },
        Type::WString(bound) => Kind::WString { bound: *bound, access: access(&UNITS) },
        Type::Message(_) => Kind::Message(Arc::new(layout(ty, flavour))),
    }
}

fn extent(ty: &Type, count: Count, flavour: Flavour) -> Extent {
    match (count, flavour) {
        (Count::One, _) => Extent::One,
        (Count::Array(n), _) => Extent::Array(n),
        (Count::Sequence(bound), Flavour::Structs) => {
            Extent::Sequence { bound, access: SequenceAccess::Struct { resize: resize_of(ty) } }
        }
        (Count::Sequence(bound), Flavour::Functions) if matches!(ty, Type::Bool) => {
            Extent::BoolVector { bound, functions: &BOOLS }
        }
        (Count::Sequence(bound), Flavour::Functions) => {
            let access = SequenceAccess::Functions { size: len, get_const, get, resize: resize_of(ty) };
            Extent::Sequence { bound, access }
        }
    }
}

fn resize_of(ty: &Type) -> Resize {
    Resize { call: grow, function: std::ptr::without_provenance(size_and_align(ty).0) }
}

/// Keeps old elements and zeroes new ones: a zeroed element of any type here is a valid empty one.
///
/// # Safety
/// `container` is a sequence of elements of `function` bytes.
unsafe fn grow(function: *const (), container: *mut c_void, len: usize) -> bool {
    let (raw, stride) = (container.cast::<RawSequence>(), function.addr());
    REQUESTED.with(|most| most.set(most.get().max(len)));
    // SAFETY: the caller's promise; the data came from here.
    unsafe {
        if len > (*raw).capacity {
            let new = libc::calloc(len, stride);
            assert!(!new.is_null());
            if !(*raw).data.is_null() {
                std::ptr::copy_nonoverlapping((*raw).data.cast::<u8>(), new.cast::<u8>(), (*raw).capacity * stride);
                libc::free((*raw).data);
            }
            ((*raw).data, (*raw).capacity) = (new, len);
        }
        (*raw).size = len;
    }
    true
}

thread_local! {
    /// Most elements that a decode asked for.
    pub static REQUESTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A copy of the container at `at`.
///
/// # Safety
/// There is one.
unsafe fn raw(at: *const c_void) -> RawSequence {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<RawSequence>().read() }
}

unsafe extern "C" fn len(at: *const c_void) -> usize {
    // SAFETY: the runner passes containers only.
    unsafe { raw(at).size }
}

unsafe extern "C" fn get_const(at: *const c_void, index: usize) -> *const c_void {
    // SAFETY: the runner passes containers only.
    let raw = unsafe { raw(at) };
    assert!(index == 0 && raw.size > 0, "only the first element may be asked for, where there is one");
    raw.data
}

unsafe extern "C" fn get(at: *mut c_void, index: usize) -> *mut c_void {
    // SAFETY: as for `get_const`.
    unsafe { get_const(at, index).cast_mut() }
}

static BYTES: StringFunctions = StringFunctions { size_of: CONTAINER, view, resize: resize_string::<1> };
static UNITS: StringFunctions = StringFunctions { size_of: CONTAINER, view, resize: resize_string::<2> };

unsafe extern "C" fn view(at: *const c_void) -> Span {
    // SAFETY: the runner passes containers only.
    let raw = unsafe { raw(at) };
    Span { data: raw.data, len: raw.size }
}

unsafe extern "C" fn resize_string<const WIDTH: usize>(at: *mut c_void, len: usize) -> *mut c_void {
    let units: Vec<u8> = vec![0; (len + 1) * WIDTH];
    // SAFETY: the runner passes containers only.
    unsafe {
        assign(at.cast(), &units, WIDTH, len);
        raw(at).data
    }
}

/// Booleans behind functions are kept as 0x10 or 0x11, so that reading them in place would be noticed.
static BOOLS: BoolVectorFunctions = BoolVectorFunctions { len, read: read_bools, write: write_bools };

unsafe extern "C" fn read_bools(at: *const c_void, to: *mut u8, len: usize) {
    // SAFETY: the runner passes containers, and room for `len` bytes.
    unsafe {
        let raw = raw(at);
        assert_eq!(raw.size, len);
        (0..len).for_each(|i| to.add(i).write(raw.data.cast::<u8>().add(i).read() & 1));
    }
}

unsafe extern "C" fn write_bools(at: *mut c_void, from: *const u8, len: usize) -> bool {
    // SAFETY: the runner passes containers, and `len` readable bytes.
    unsafe {
        let bytes: Vec<u8> = (0..len).map(|i| 0x10 | from.add(i).read()).collect();
        assign(at.cast(), &bytes, 1, len);
    }
    true
}

/// Replaces the contents by `bytes`, in memory of exactly that length.
///
/// # Safety
/// `raw` is a container whose data came from `malloc`.
unsafe fn assign(raw: *mut RawSequence, bytes: &[u8], width: usize, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        libc::free((*raw).data);
        let data = libc::malloc(bytes.len().max(1));
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast::<u8>(), bytes.len());
        *raw = RawSequence { data, size, capacity: bytes.len() / width };
    }
}

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

/// The wire form, written as the standard tells it.
pub fn reference(ty: &Type, value: &Value, big_endian: bool) -> Vec<u8> {
    let mut out = Vec::new();
    Reference { out: &mut out, big_endian }.put(ty, value);
    out
}

struct Reference<'a> {
    out: &'a mut Vec<u8>,
    big_endian: bool,
}

impl Reference<'_> {
    fn number(&mut self, bits: u64, width: usize) {
        self.out.resize(self.out.len().next_multiple_of(width), 0);
        let mut bytes = bits.to_le_bytes()[..width].to_vec();
        if self.big_endian {
            bytes.reverse();
        }
        self.out.extend(bytes);
    }

    fn put(&mut self, ty: &Type, value: &Value) {
        match (ty, value) {
            (Type::Primitive(width), Value::Primitive(bits)) => self.number(*bits, *width),
            (Type::Bool, Value::Bool(value)) => self.out.push(u8::from(*value)),
            (Type::String(_), Value::String(bytes)) => {
                self.number(bytes.len() as u64 + 1, 4);
                self.out.extend(bytes);
                self.out.push(0);
            }
            (Type::WString(_), Value::WString(units)) => {
                self.number(units.len() as u64, 4);
                units.iter().for_each(|unit| self.number(u64::from(*unit), 4));
            }
            (Type::Message(fields), Value::Message(values)) => {
                for ((ty, count), values) in fields.iter().zip(values) {
                    if matches!(count, Count::Sequence(_)) {
                        self.number(values.len() as u64, 4);
                    }
                    values.iter().for_each(|value| self.put(ty, value));
                }
            }
            other => panic!("value and type differ: {other:?}"),
        }
    }
}

fn count() -> impl Strategy<Value = Count> {
    prop_oneof![
        4 => Just(Count::One),
        1 => (1usize..6).prop_map(Count::Array),
        1 => Just(Count::Array(20)),
        2 => Just(Count::Sequence(None)),
        1 => (1usize..5).prop_map(|bound| Count::Sequence(Some(bound))),
    ]
}

pub fn any_message() -> impl Strategy<Value = Type> {
    let bound = || prop_oneof![Just(None), (1usize..8).prop_map(Some)];
    let leaf = prop_oneof![
        5 => prop_oneof![Just(1usize), Just(2), Just(4), Just(8)].prop_map(Type::Primitive),
        1 => Just(Type::Bool),
        1 => bound().prop_map(Type::String),
        1 => bound().prop_map(Type::WString),
    ];
    let message = |inner| proptest::collection::vec((inner, count()), 1..6).prop_map(Type::Message);
    let any = leaf.prop_recursive(2, 12, 4, message);
    proptest::collection::vec((any, count()), 1..6).prop_map(Type::Message)
}

pub fn value_of(ty: &Type) -> BoxedStrategy<Value> {
    match ty {
        Type::Primitive(width) => {
            let mask = u64::MAX >> (64 - 8 * width);
            any::<u64>().prop_map(move |bits| Value::Primitive(bits & mask)).boxed()
        }
        Type::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Type::String(bound) => proptest::collection::vec(1u8.., 0..=bound.unwrap_or(9)).prop_map(Value::String).boxed(),
        Type::WString(bound) => {
            proptest::collection::vec(any::<u16>(), 0..=bound.unwrap_or(9)).prop_map(Value::WString).boxed()
        }
        Type::Message(fields) => {
            let field = |(ty, count): &(Type, Count)| {
                let n = match count {
                    Count::One => 1..=1,
                    Count::Array(n) => *n..=*n,
                    Count::Sequence(bound) => 0..=bound.unwrap_or(4),
                };
                proptest::collection::vec(value_of(ty), n)
            };
            fields.iter().map(field).collect::<Vec<_>>().prop_map(Value::Message).boxed()
        }
    }
}

/// Arrays of arrays of arrays are as slow as they are dull.
const MOST_MEMORY: usize = 8 << 10;

/// A type and two values of it.
pub fn case() -> impl Strategy<Value = (Type, Value, Value)> {
    any_message()
        .prop_filter("small enough to visit every byte", |ty| size_and_align(ty).0 <= MOST_MEMORY)
        .prop_flat_map(|ty| (Just(ty.clone()), value_of(&ty), value_of(&ty)))
}
