//! A message type and a value, each told a second time in the plainest way: what the plans are compared with.

use std::sync::Arc;

use super::containers::{get, get_const, grow, len, BOOLS, BYTES, CONTAINER, UNITS};
use crate::cdr::{Extent, Field, Kind, Layout, Resize, SequenceAccess, StringAccess};

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
