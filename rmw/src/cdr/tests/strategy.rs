//! Random types, and values of them.

use proptest::prelude::*;

use super::model::{size_and_align, Count, Type, Value};

fn count() -> impl Strategy<Value = Count> {
    prop_oneof![
        4 => Just(Count::One),
        1 => (1usize..6).prop_map(Count::Array),
        1 => Just(Count::Array(20)),
        2 => Just(Count::Sequence(None)),
        1 => (1usize..5).prop_map(|bound| Count::Sequence(Some(bound))),
    ]
}

fn any_message() -> impl Strategy<Value = Type> {
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

fn value_of(ty: &Type) -> BoxedStrategy<Value> {
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
