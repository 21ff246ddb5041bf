//! Random types and values against the model, and bodies that were cut, forged or changed.

use proptest::prelude::*;

use super::containers::REQUESTED;
use super::model::{layout, Flavour, Type, Value};
use super::object::{decode, encode, size, Object};
use super::reference::reference;
use super::strategy::case;
use crate::cdr::{DecodeError, Plan, ENCAPSULATION};

/// Bodies up to this length are cut and forged at every byte.
const MOST_BYTES: usize = 400;
const BIG_ENDIAN: [u8; 4] = [0, 0, 0, 0];

fn round_trip(ty: &Type, value: &Value, other: &Value, flavour: Flavour) {
    let plan = Plan::compile(&layout(ty, flavour)).expect("a model layout compiles");
    let expected = reference(ty, value, false);
    let object = Object::new(ty, flavour, value);
    assert_eq!(size(&plan, &object), Ok(expected.len()));
    assert!(plan.fixed_size().is_none_or(|size| size == expected.len()));
    let mut body = vec![0xa5; expected.len()];
    assert_eq!(encode(&plan, &object, &mut body), Ok(expected.len()));
    assert_eq!(body, expected);
    if plan.memory_is_cdr() {
        // SAFETY: the structure is as long as its body.
        assert_eq!(unsafe { std::slice::from_raw_parts(object.ptr(), body.len()) }, body);
    }
    if plan.lies_as_cdr() {
        // SAFETY: the structure is as long as its body.
        let memory = unsafe { std::slice::from_raw_parts(object.ptr(), body.len()) };
        let mut into = Object::new(ty, flavour, other);
        // SAFETY: as above, and another object; what lies as CDR is nothing but numbers and booleans.
        unsafe { into.ptr_mut().copy_from(body.as_ptr(), body.len()) };
        assert_eq!(into.value(), *value);
        assert_eq!(decode(&plan, ENCAPSULATION, memory, &mut into), Ok(()));
        assert_eq!(into.value(), *value);
    }
    for (encapsulation, body) in [(ENCAPSULATION, body), (BIG_ENDIAN, reference(ty, value, true))] {
        for mut into in [Object::empty(ty, flavour), Object::new(ty, flavour, other)] {
            assert_eq!(decode(&plan, encapsulation, &body, &mut into), Ok(()));
            assert_eq!(into.value(), *value);
        }
    }
}

/// Every prefix is refused, as is a buffer one byte too short for encoding.
fn truncated(ty: &Type, value: &Value, flavour: Flavour) {
    let plan = Plan::compile(&layout(ty, flavour)).expect("a model layout compiles");
    let object = Object::new(ty, flavour, value);
    let body = reference(ty, value, false);
    for len in 0..body.len() {
        let mut into = Object::empty(ty, flavour);
        let outcome = decode(&plan, ENCAPSULATION, &body[..len], &mut into);
        assert!(matches!(outcome, Err(DecodeError::Truncated { .. })), "{len} of {}: {outcome:?}", body.len());
        into.value();
        assert!(encode(&plan, &object, &mut vec![0; len]).is_err());
    }
}

/// Whatever stands in the body: an error or a value, never more elements than bytes, and the message stays valid.
fn forged(ty: &Type, value: &Value, flavour: Flavour, noise: u8) {
    let plan = Plan::compile(&layout(ty, flavour)).expect("a model layout compiles");
    let body = reference(ty, value, false);
    let forge = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut body = body.clone();
        change(&mut body);
        for encapsulation in [ENCAPSULATION, BIG_ENDIAN] {
            let mut into = Object::empty(ty, flavour);
            REQUESTED.with(|most| most.set(0));
            let _ = decode(&plan, encapsulation, &body, &mut into);
            assert!(REQUESTED.with(|most| most.get()) <= body.len());
            into.value();
        }
    };
    for at in 0..body.len() {
        forge(&|body| body[at] ^= noise);
        forge(&|body| body[at] = 0xff);
        forge(&|body| {
            let end = body.len().min(at + 4);
            body[at..end].copy_from_slice(&0xffff_ff00_u32.to_le_bytes()[..end - at]);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn plans_agree_with_the_model((ty, value, other) in case()) {
        round_trip(&ty, &value, &other, Flavour::Structs);
        round_trip(&ty, &value, &other, Flavour::Functions);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_body_cut_anywhere_is_refused((ty, value, _) in case()) {
        prop_assume!(reference(&ty, &value, false).len() <= MOST_BYTES);
        truncated(&ty, &value, Flavour::Structs);
        truncated(&ty, &value, Flavour::Functions);
    }

    #[test]
    fn a_forged_body_costs_nothing_and_breaks_nothing((ty, value, _) in case(), noise in 1u8..) {
        prop_assume!(reference(&ty, &value, false).len() <= MOST_BYTES);
        forged(&ty, &value, Flavour::Structs, noise);
        forged(&ty, &value, Flavour::Functions, noise);
    }
}
