//! Random expressions against a model that computes with plain Rust values while it writes them.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::cases::Row;
use crate::filter::{Filter, Type, Value};

const INTEGERS: [i64; 4] = [-2, -1, 0, 3];
const TEXTS: [&str; 4] = ["", "a", "ab", "b'a"];

/// An expression and what it is for the fields below.
#[derive(Clone, Debug)]
struct Known {
    text: String,
    holds: bool,
}

fn known(text: String, holds: bool) -> Known {
    Known { text, holds }
}

type Operator = (&'static str, fn(Ordering) -> bool);

fn comparison() -> impl Strategy<Value = Operator> {
    let operators: [Operator; 7] = [
        ("=", Ordering::is_eq),
        ("<>", Ordering::is_ne),
        ("!=", Ordering::is_ne),
        ("<", Ordering::is_lt),
        ("<=", Ordering::is_le),
        (">", Ordering::is_gt),
        (">=", Ordering::is_ge),
    ];
    (0..operators.len()).prop_map(move |at| operators[at])
}

fn integer() -> impl Strategy<Value = (usize, i64)> {
    (0..INTEGERS.len(), -3_i64..4)
}

fn predicate() -> impl Strategy<Value = Known> {
    let integers = (integer(), comparison())
        .prop_map(|((at, with), (sign, holds))| known(format!("i{at}{sign}{with}"), holds(INTEGERS[at].cmp(&with))));
    let turned = (integer(), comparison())
        .prop_map(|((at, with), (sign, holds))| known(format!("{with} {sign} i{at}"), holds(with.cmp(&INTEGERS[at]))));
    let halves = (integer(), comparison()).prop_map(|((at, with), (sign, holds))| {
        let half = with as f64 / 2.0;
        let order = (INTEGERS[at] as f64).total_cmp(&if half == 0.0 { 0.0 } else { half });
        known(format!("i{at} {sign} {half:?}"), holds(order))
    });
    let fields = (0..4_usize, 0..4_usize, comparison())
        .prop_map(|(a, b, (sign, holds))| known(format!("i{a} {sign} i{b}"), holds(INTEGERS[a].cmp(&INTEGERS[b]))));
    let texts = (0..4_usize, 0..4_usize, comparison()).prop_map(|(a, b, (sign, holds))| {
        known(format!("t{a} {sign} '{}'", TEXTS[b].replace('\'', "''")), holds(TEXTS[a].cmp(TEXTS[b])))
    });
    let between = (integer(), -3_i64..4, any::<bool>()).prop_map(|((at, low), high, not)| {
        let inside = low <= INTEGERS[at] && INTEGERS[at] <= high;
        known(format!("i{at} {}BETWEEN {low} AND {high}", if not { "NOT " } else { "" }), inside != not)
    });
    let list = (0..4_usize, prop::collection::vec(-3_i64..4, 1..4), any::<bool>()).prop_map(|(at, list, not)| {
        let members = list.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        known(format!("i{at} {}IN ({members})", if not { "NOT " } else { "" }), list.contains(&INTEGERS[at]) != not)
    });
    prop_oneof![integers, turned, halves, fields, texts, between, list]
}

fn expression() -> impl Strategy<Value = Known> {
    predicate().prop_recursive(5, 40, 3, |inner| {
        let chain = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.prop_map(|part| known(format!("NOT ({})", part.text), !part.holds)),
            (chain, any::<bool>()).prop_map(|(parts, all)| {
                let texts: Vec<String> = parts.iter().map(|part| format!("({})", part.text)).collect();
                let holds = if all { parts.iter().all(|p| p.holds) } else { parts.iter().any(|p| p.holds) };
                known(texts.join(if all { " AND " } else { " or " }), holds)
            }),
        ]
    })
}

fn row() -> Row {
    let mut row = Row::default();
    for at in 0..4 {
        row = row.with(&format!("i{at}"), Type::Integer, Some(Value::Integer(INTEGERS[at].into()))).with(
            &format!("t{at}"),
            Type::Text,
            Some(Value::Text(TEXTS[at].as_bytes().into())),
        );
    }
    row
}

/// LIKE by definition: all ways to split.
fn like(pattern: &[char], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('%' | '*', rest)) => (0..=text.len()).any(|from| like(rest, &text[from..])),
        Some(('_' | '?', rest)) => !text.is_empty() && like(rest, &text[1..]),
        Some((c, rest)) => text.first() == Some(c) && like(rest, &text[1..]),
    }
}

proptest! {
    #[test]
    fn expressions_mean_what_the_model_says(known in expression()) {
        let row = row();
        let filter = Filter::compile::<_, &str>(&known.text, &[], &row).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(filter.accepts(&row), known.holds, "{}", known.text);
    }

    #[test]
    fn like_means_what_its_definition_says(pattern in "[ab%*_?µ]{0,7}", text in "[abµ]{0,7}") {
        let row = Row::default().with("t", Type::Text, Some(Value::Text(text.clone().into_bytes().into())));
        let filter = Filter::compile("t LIKE %0", &[format!("'{pattern}'")], &row).expect("a pattern");
        let (p, t): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
        prop_assert_eq!(filter.accepts(&row), like(&p, &t), "{} LIKE {}", text, pattern);
    }

    #[test]
    fn no_text_makes_the_compiler_panic(expression in "(i0|t0|%0|=|<|NOT |AND |LIKE |BETWEEN |IN |\\(|\\)|,|'|[0-9]|\\.|\\[|\\]|-|µ| ){0,20}") {
        let _ = Filter::compile(&expression, &["1"], &row());
        let _ = Filter::compile("i0 = %0", &[expression], &row());
    }
}
