//! Every run of three numbers after everything that can leave the wire position odd: where the compiler may join, and
//! where it must not.

use super::model::{layout, Count, Flavour, Type, Value};
use super::object::{encode, Object};
use super::reference::reference;
use crate::cdr::{Extent, Field, Kind, Layout, Plan};

const WIDTHS: [usize; 4] = [1, 2, 4, 8];

/// What stands before: fields and values of them.
fn befores() -> Vec<(Type, Count, Vec<Value>)> {
    let numbers = |n: usize| vec![Value::Primitive(0x5a); n];
    let mut all: Vec<_> =
        (0..4).map(|n| (Type::String(None), Count::One, vec![Value::String(vec![b'x'; n])])).collect();
    all.extend((0..3).map(|n| (Type::WString(None), Count::One, vec![Value::WString(vec![7; n])])));
    for n in 0..4 {
        all.extend(WIDTHS.map(|width| (Type::Primitive(width), Count::Sequence(None), numbers(n))));
        all.push((Type::Bool, Count::Sequence(None), vec![Value::Bool(true); n]));
        let element = Type::Message(vec![(Type::Primitive(4), Count::Array(3))]);
        all.push((element, Count::Sequence(None), vec![Value::Message(vec![numbers(3)]); n]));
        all.push((Type::Primitive(1), Count::Array(n + 1), numbers(n + 1)));
        // Six bytes on the wire and eight in memory, then booleans, which are no part of a copy but move its position.
        let short = (Type::Primitive(4), Count::One);
        let short = (Type::Message(vec![short, (Type::Primitive(2), Count::One)]), Count::One);
        let value = vec![Value::Message(vec![numbers(1), numbers(1)])];
        let bools = (Type::Bool, Count::Array(n + 1));
        let values = vec![value, vec![Value::Bool(true); n + 1]];
        all.push((Type::Message(vec![short, bools]), Count::One, vec![Value::Message(values)]));
    }
    all
}

#[test]
fn numbers_are_joined_only_where_the_wire_has_no_padding() {
    let triples = (0..64).map(|i| [WIDTHS[i % 4], WIDTHS[i / 4 % 4], WIDTHS[i / 16]]);
    let befores = befores();
    for (triple, (before, count, values)) in triples.flat_map(|t| befores.iter().map(move |b| (t, b))) {
        // Two of the first, so that the third can meet its alignment without padding in memory.
        let mut fields = vec![(before.clone(), *count)];
        fields.extend(triple.map(|width| (Type::Primitive(width), Count::Array(2))));
        let value = |width: usize| vec![Value::Primitive(0x0807_0605_0403_0201 & (u64::MAX >> (64 - 8 * width))); 2];
        let value = Value::Message([vec![values.clone()], triple.map(value).to_vec()].concat());
        let ty = Type::Message(fields);
        let plan = Plan::compile(&layout(&ty, Flavour::Structs)).expect("compiles");
        let expected = reference(&ty, &value, false);
        let mut body = vec![0xa5; expected.len()];
        let len = encode(&plan, &Object::new(&ty, Flavour::Structs, &value), &mut body);
        assert_eq!((len, body), (Ok(expected.len()), expected), "{ty:?}");
    }
}

#[test]
fn neighbours_without_padding_are_one_operation() {
    let operations = |fields: &[(Type, Count)]| {
        let plan = Plan::compile(&layout(&Type::Message(fields.to_vec()), Flavour::Structs)).expect("compiles");
        plan.native.ops.len()
    };
    let number = |width| (Type::Primitive(width), Count::One);
    let point = (Type::Message(vec![number(8); 3]), Count::One);
    assert_eq!(operations(&[point.clone(), (Type::Primitive(8), Count::Array(4)), point.clone()]), 1);
    assert_eq!(operations(&[number(4), number(2), number(1), number(1), number(8)]), 1);
    assert_eq!(operations(&[number(1), number(8), number(8), number(4), number(4)]), 2, "split at the padding only");
    assert_eq!(operations(&[(Type::String(None), Count::One), number(8), number(8), number(4)]), 2);
    assert_eq!(operations(&[(Type::Bool, Count::Array(2)), (Type::Bool, Count::One), number(1), number(4)]), 2);
}

#[test]
fn elements_that_memory_packs_closer_than_the_wire_are_no_single_copy() {
    let field = |name: &str, offset, kind, extent| Field { name: name.into(), offset, kind, extent };
    let number = |width| Kind::Primitive { width };
    let fields = vec![field("a", 0, number(8), Extent::One), field("b", 8, number(4), Extent::One)];
    let packed = Kind::Message(Layout { name: "a/msg/Packed".into(), size_of: 12, fields }.into());
    let fields = vec![field("twice", 0, packed, Extent::Array(2))];
    let plan = Plan::compile(&Layout { name: "a/msg/Outer".into(), size_of: 24, fields }).expect("compiles");
    assert_eq!((plan.fixed_size(), plan.memory_is_cdr()), (Some(28), false));
}
