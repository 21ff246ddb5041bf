//! What a reader of the wire format would look up: single cases with their bytes.

use super::model::{layout, Count, Flavour, Type, Value};
use super::object::{self, Object};
use crate::cdr::{
    CompileError, DecodeError, EncodeError, Extent, Field, Kind, Layout, Plan, RawSequence, ENCAPSULATION,
};

use Count::{Array, One, Sequence};

fn message(fields: &[(Type, Count)]) -> Type {
    Type::Message(fields.to_vec())
}

fn plan(ty: &Type) -> Plan {
    Plan::compile(&layout(ty, Flavour::Structs)).expect("compiles")
}

fn encode(ty: &Type, object: &Object) -> Result<Vec<u8>, EncodeError> {
    let plan = plan(ty);
    let mut out = vec![0xa5; object::size(&plan, object)?];
    object::encode(&plan, object, &mut out).map(|len| out[..len].to_vec())
}

fn decode(ty: &Type, body: &[u8]) -> Result<Value, DecodeError> {
    let mut into = Object::empty(ty, Flavour::Structs);
    object::decode(&plan(ty), ENCAPSULATION, body, &mut into)?;
    Ok(into.value())
}

fn one(value: Value) -> Value {
    Value::Message(vec![vec![value]])
}

#[test]
fn padding_is_zero_even_where_memory_is_not() {
    let ty = message(&[(Type::Primitive(1), One), (Type::Primitive(8), One)]);
    let mut object = Object::empty(&ty, Flavour::Structs);
    // SAFETY: the structure has 16 bytes, all of them numbers or padding.
    unsafe { object.ptr_mut().write_bytes(0xff, 16) };
    let body = encode(&ty, &object).expect("encodes");
    assert_eq!(body, [0xff, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
}

#[test]
fn only_a_structure_without_padding_and_booleans_is_its_own_body() {
    let is = |fields: &[(Type, Count)]| plan(&message(fields)).memory_is_cdr();
    assert!(is(&[(Type::Primitive(4), One), (Type::Primitive(2), Array(2)), (Type::Primitive(8), Array(3))]));
    let point = message(&[(Type::Primitive(8), Array(3))]);
    assert!(is(&[(point.clone(), One), (point.clone(), Array(40))]));
    assert!(!is(&[(Type::Primitive(1), One), (Type::Primitive(8), One)]), "padding inside");
    assert!(!is(&[(Type::Primitive(8), One), (Type::Primitive(1), One)]), "padding at the end");
    assert!(!is(&[(Type::Bool, One)]));
    assert!(!is(&[(Type::Primitive(8), One), (Type::String(None), One)]));
}

#[test]
fn a_structure_whose_fields_lie_as_in_the_body_may_be_written_in_place_and_read_there_if_any_byte_is_valid() {
    let how = |fields: &[(Type, Count)]| {
        let plan = plan(&message(fields));
        (plan.lies_as_cdr(), plan.readable_in_place())
    };
    let number = |width| (Type::Primitive(width), One);
    assert_eq!(how(&[number(4), number(2), number(1), number(1), number(8)]), (true, true));
    assert_eq!(how(&[number(1), number(8)]), (true, true), "padding inside is there in both");
    assert_eq!(how(&[number(8), number(1)]), (false, false), "padding at the end is not");
    assert_eq!(how(&[(Type::Bool, One), number(1), number(4), number(8)]), (true, false));
    assert_eq!(how(&[number(8), (Type::String(None), One)]), (false, false));
    assert_eq!(how(&[number(8), (Type::Primitive(8), Sequence(None))]), (false, false));
    let flagged = message(&[number(4), (Type::Bool, Array(4))]);
    assert_eq!(how(&[(flagged.clone(), Array(3)), number(4)]), (true, false));
    assert_eq!(how(&[(flagged, Array(40)), number(8)]), (true, false));
    let padded = message(&[number(8), number(1)]);
    assert_eq!(
        how(&[(padded, Array(40)), number(8)]),
        (true, true),
        "what is between elements is between them in both"
    );
    let loose = message(&[number(4), number(1)]);
    assert_eq!(how(&[(loose, Array(2)), number(1), number(1), number(1), number(1)]), (false, false));
}

#[test]
fn structures_in_a_sequence_follow_each_other_by_their_alignment_not_their_stride() {
    // 9 bytes of content, 16 of memory: on the wire the next one starts after 7 bytes of padding, the last has none.
    let element = message(&[(Type::Primitive(8), One), (Type::Primitive(1), One)]);
    let ty = message(&[(element, Sequence(None))]);
    let item = Value::Message(vec![vec![Value::Primitive(7)], vec![Value::Primitive(9)]]);
    let object = Object::new(&ty, Flavour::Structs, &Value::Message(vec![vec![item.clone(), item]]));
    let body = encode(&ty, &object).expect("encodes");
    assert_eq!(body.len(), 8 + 16 + 9);
    assert_eq!((body[0], body[8], body[16], body[24], body[32]), (2, 7, 9, 7, 9));
}

#[test]
fn wide_strings_take_four_bytes_a_unit() {
    let ty = message(&[(Type::WString(None), One)]);
    let object = Object::new(&ty, Flavour::Structs, &one(Value::WString(vec![0x41, 0xd83d])));
    assert_eq!(encode(&ty, &object), Ok(vec![2, 0, 0, 0, 0x41, 0, 0, 0, 0x3d, 0xd8, 0, 0]));
    let too_wide = decode(&ty, &[1, 0, 0, 0, 0, 0, 1, 0]);
    assert_eq!(too_wide, Err(DecodeError::Value { field: "f0".into(), value: 0x1_0000 }));
}

#[test]
fn strings_end_with_nul_and_may_lack_even_that_when_empty() {
    let ty = message(&[(Type::String(None), One)]);
    let empty = Object::empty(&ty, Flavour::Structs);
    assert_eq!(encode(&ty, &empty), Ok(vec![1, 0, 0, 0, 0]));
    assert_eq!(decode(&ty, &[0, 0, 0, 0]), Ok(one(Value::String(vec![]))));
    assert_eq!(decode(&ty, &[2, 0, 0, 0, 0xff, 0]), Ok(one(Value::String(vec![0xff]))));
    assert_eq!(decode(&ty, &[2, 0, 0, 0, 0x61, 0x62]), Err(DecodeError::NotTerminated { field: "f0".into() }));
}

#[test]
fn a_string_that_c_code_left_broken_is_refused_by_name() {
    let ty = message(&[(Type::Primitive(4), One), (Type::String(None), One)]);
    let value = Value::Message(vec![vec![Value::Primitive(1)], vec![Value::String(b"a\0b".to_vec())]]);
    let object = Object::new(&ty, Flavour::Structs, &value);
    assert_eq!(encode(&ty, &object), Err(EncodeError::NulInString { field: "f1".into(), at: 1 }));
    let mut object = Object::empty(&ty, Flavour::Structs);
    // SAFETY: the string lies at offset 8.
    unsafe { (*object.ptr_mut().add(8).cast::<RawSequence>()).size = 3 };
    assert_eq!(encode(&ty, &object), Err(EncodeError::NullData { field: "f1".into(), size: 3 }));
}

#[test]
fn bounds_hold_in_both_directions() {
    let string = message(&[(Type::String(Some(2)), One)]);
    let object = Object::new(&string, Flavour::Structs, &one(Value::String(b"abc".to_vec())));
    assert_eq!(encode(&string, &object), Err(EncodeError::OverBound { field: "f0".into(), len: 3, bound: 2 }));
    assert_eq!(decode(&string, b"\x03\0\0\0ab\0"), Ok(one(Value::String(b"ab".to_vec()))));
    let over = decode(&string, b"\x04\0\0\0abc\0");
    assert_eq!(over, Err(DecodeError::OverBound { field: "f0".into(), len: 3, bound: 2 }));

    let numbers = message(&[(Type::Primitive(1), Sequence(Some(1)))]);
    let two = Value::Message(vec![vec![Value::Primitive(1), Value::Primitive(2)]]);
    let object = Object::new(&numbers, Flavour::Structs, &two);
    assert_eq!(encode(&numbers, &object), Err(EncodeError::OverBound { field: "f0".into(), len: 2, bound: 1 }));
    let over = decode(&numbers, &[2, 0, 0, 0, 1, 2]);
    assert_eq!(over, Err(DecodeError::OverBound { field: "f0".into(), len: 2, bound: 1 }));
}

#[test]
fn a_byte_that_is_no_boolean_is_refused_and_not_stored() {
    let ty = message(&[(Type::Bool, Array(2))]);
    let mut into = Object::empty(&ty, Flavour::Structs);
    let outcome = object::decode(&plan(&ty), ENCAPSULATION, &[1, 2], &mut into);
    assert_eq!(outcome, Err(DecodeError::Value { field: "f0".into(), value: 2 }));
    assert_eq!(into.value(), Value::Message(vec![vec![Value::Bool(true), Value::Bool(false)]]));
}

#[test]
fn only_plain_cdr_is_accepted() {
    let ty = message(&[(Type::Primitive(4), One)]);
    let mut into = Object::empty(&ty, Flavour::Structs);
    for kind in [[0, 2, 0, 0], [0, 3, 0, 0], [0, 6, 0, 0], [0, 7, 0, 0], [1, 1, 0, 0], [0xff; 4]] {
        let outcome = object::decode(&plan(&ty), kind, &[0; 4], &mut into);
        assert_eq!(outcome, Err(DecodeError::Encapsulation(kind)));
    }
    let outcome = object::decode(&plan(&ty), [0, 1, 9, 3], &[5, 0, 0, 0], &mut into);
    assert_eq!((outcome, into.value()), (Ok(()), one(Value::Primitive(5))));
}

#[test]
fn bytes_after_the_last_field_are_ignored() {
    let ty = message(&[(Type::Primitive(1), One)]);
    assert_eq!(decode(&ty, &[5, 0xff, 0xff, 0xff, 0xff, 0xff]), Ok(one(Value::Primitive(5))));
}

#[test]
fn a_sequence_keeps_its_memory_when_it_shrinks_and_grows_again() {
    let ty = message(&[(Type::String(None), Sequence(None))]);
    let texts = |n: usize| Value::Message(vec![vec![Value::String(b"text".to_vec()); n]]);
    let plan = plan(&ty);
    let mut into = Object::new(&ty, Flavour::Structs, &texts(3));
    // SAFETY: the sequence lies at offset 0.
    let data = |object: &Object| unsafe { (*object.ptr().cast::<RawSequence>()).data };
    let before = data(&into);
    for n in [1, 0, 3] {
        let body = encode(&ty, &Object::new(&ty, Flavour::Structs, &texts(n))).expect("encodes");
        object::decode(&plan, ENCAPSULATION, &body, &mut into).expect("decodes");
        assert_eq!((into.value(), data(&into)), (texts(n), before));
    }
}

#[test]
fn errors_name_the_path() {
    let inner = message(&[(Type::Primitive(4), One), (Type::String(None), One)]);
    let ty = message(&[(Type::Primitive(4), One), (inner, Sequence(None))]);
    // One element announced, its string cut off.
    let cut = decode(&ty, &[0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0]);
    assert_eq!(cut, Err(DecodeError::Truncated { field: "f1[].f1".into(), needed: 9, left: 0 }));
}

#[test]
fn layouts_that_contradict_themselves_do_not_compile() {
    let compile = |offset, kind, extent, size_of| {
        let fields = vec![Field { name: "x".into(), offset, kind, extent }];
        Plan::compile(&Layout { name: "a/msg/B".into(), size_of, fields }).map(|_| ())
    };
    let word = || Kind::Primitive { width: 4 };
    assert!(compile(0, word(), Extent::One, 4).is_ok());
    assert!(matches!(compile(0, word(), Extent::One, 3), Err(CompileError::Misplaced { .. })));
    assert!(matches!(compile(2, word(), Extent::One, 8), Err(CompileError::Misplaced { .. })));
    assert!(matches!(compile(0, word(), Extent::Array(usize::MAX), 8), Err(CompileError::Misplaced { .. })));
    let odd = compile(0, Kind::Primitive { width: 16 }, Extent::One, 16);
    assert!(matches!(odd, Err(CompileError::Width { width: 16, .. })));
    let empty = Plan::compile(&Layout { name: "a/msg/B".into(), size_of: 1, fields: vec![] });
    assert!(matches!(empty, Err(CompileError::Unusable { .. })));
}
