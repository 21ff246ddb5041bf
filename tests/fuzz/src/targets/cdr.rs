//! Any bytes as a message of any type.

use crate::cdr::{Plan, ENCAPSULATION};
use crate::containers::REQUESTED;
use crate::input::Input;
use crate::model::{layout, size_and_align, Count, Flavour, Type};
use crate::object::{decode, encode, size, Object};

/// Larger messages are as slow as they are dull.
const MOST_MEMORY: usize = 8 << 10;
const BIG_ENDIAN: [u8; 4] = [0, 0, 0, 0];

fn bound(input: &mut Input<'_>) -> Option<usize> {
    Some(usize::from(input.byte())).filter(|bound| *bound > 0 && *bound < 16)
}

fn count(input: &mut Input<'_>) -> Count {
    match input.byte() % 8 {
        0..=3 => Count::One,
        4 => Count::Array(1 + input.below(20)),
        _ => Count::Sequence(bound(input)),
    }
}

fn kind(input: &mut Input<'_>, depth: usize) -> Type {
    match input.byte() % 9 {
        0 => Type::Primitive(1),
        1 => Type::Primitive(2),
        2 => Type::Primitive(4),
        3 => Type::Primitive(8),
        4 => Type::Bool,
        5 => Type::String(bound(input)),
        6 => Type::WString(bound(input)),
        _ if depth == 0 => Type::Primitive(8),
        _ => message(input, depth - 1),
    }
}

fn message(input: &mut Input<'_>, depth: usize) -> Type {
    let fields = 1 + input.below(5);
    Type::Message((0..fields).map(|_| (kind(input, depth), count(input))).collect())
}

pub(super) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let flavour = input.pick(&[Flavour::Structs, Flavour::Functions]);
    let ty = message(&mut input, 3);
    if size_and_align(&ty).0 > MOST_MEMORY {
        return;
    }
    let plan = Plan::compile(&layout(&ty, flavour)).expect("a layout by the rules of C compiles");
    let encapsulation = match input.byte() % 4 {
        0 => BIG_ENDIAN,
        1 => [input.byte(), input.byte(), input.byte(), 0],
        _ => ENCAPSULATION,
    };
    let mut object = Object::empty(&ty, flavour);
    // A second body finds what the first has left, as a reused message does.
    let first = input.below(256);
    for body in [input.bytes(first), input.0] {
        REQUESTED.with(|most| most.set(0));
        let decoded = decode(&plan, encapsulation, body, &mut object);
        assert!(REQUESTED.with(|most| most.get()) <= body.len(), "more elements asked for than there are bytes");
        let value = object.value();
        if decoded.is_err() {
            continue;
        }
        // A NUL within a string is all that can be decoded and not encoded.
        let Ok(len) = size(&plan, &object) else { panic!("a decoded message has a size") };
        let mut out = vec![0; len];
        if encode(&plan, &object, &mut out) == Ok(len) {
            let mut again = Object::empty(&ty, flavour);
            assert_eq!(decode(&plan, ENCAPSULATION, &out, &mut again), Ok(()));
            assert_eq!(again.value(), value);
        }
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let numbers = [0, 2, 3, 0, 1, 1, 0, 5, 2, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    let text =
        *b"\x01\x01\x05\x00\x00\x06\x00\x00\x02\x00\x04\x00\x00\x00abc\x00\x02\x00\x00\x00a\x00\x00\x00b\x00\x00\x00";
    let nested = [1, 0, 8, 1, 5, 4, 5, 0, 4, 5, 0, 5, 0, 2, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0];
    vec![
        numbers.to_vec(),
        text.to_vec(),
        nested.to_vec(),
        vec![0, 4, 4, 0, 5, 3, 0, 6, 3, 0, 4, 5, 0, 8, 0, 0, 2, 0, 0],
    ]
}
