//! Expressions by hand: what they mean, and where they are wrong.

use std::collections::BTreeMap;

use crate::filter::{Fault, Fields, Filter, FilterError, Path, Schema, Type, Unresolved, Value};

/// A message that is a table of its fields.
#[derive(Default)]
pub(super) struct Row(pub BTreeMap<String, (Type, Option<Value<'static>>)>);

impl Row {
    pub fn with(mut self, name: &str, found: Type, value: Option<Value<'static>>) -> Row {
        self.0.insert(name.into(), (found, value));
        self
    }
}

impl Schema for Row {
    type Field = String;

    fn resolve(&self, path: &Path) -> Result<(String, Type), Unresolved> {
        let part = |segment: &crate::filter::Segment| match segment.index {
            Some(index) => format!("{}[{index}]", segment.name),
            None => segment.name.clone(),
        };
        let name = path.0.iter().map(part).collect::<Vec<_>>().join(".");
        let (found, _) =
            self.0.get(&name).ok_or_else(|| Unresolved { segment: path.0.len() - 1, why: "unknown".into() })?;
        Ok((name, *found))
    }
}

impl Fields<String> for Row {
    fn value(&self, field: &String) -> Option<Value<'_>> {
        self.0[field].1.clone()
    }
}

fn text(text: &'static str) -> Option<Value<'static>> {
    Some(Value::Text(text.as_bytes().into()))
}

fn row() -> Row {
    Row::default()
        .with("i", Type::Integer, Some(Value::Integer(-5)))
        .with("u", Type::Integer, Some(Value::Integer(u64::MAX.into())))
        .with("c", Type::Character(255), Some(Value::Integer(65)))
        .with("b", Type::Bool, Some(Value::Bool(true)))
        .with("f", Type::Float32, Some(Value::Float32(3.3)))
        .with("d", Type::Float64, Some(Value::Float64(0.1)))
        .with("nan", Type::Float64, Some(Value::Float64(f64::NAN)))
        .with("s", Type::Text, text("it's 7 µm"))
        .with("empty", Type::Text, text(""))
        .with("gone[9]", Type::Integer, None)
        .with("pose.position.x", Type::Float64, Some(Value::Float64(2.0)))
        .with("ranges[3]", Type::Float32, Some(Value::Float32(1.5)))
}

fn holds(expression: &str, parameters: &[&str]) -> bool {
    let row = row();
    Filter::compile(expression, parameters, &row).unwrap_or_else(|e| panic!("{expression}: {e}")).accepts(&row)
}

#[test]
fn predicates_hold_or_not() {
    let cases = [
        ("i = -5", "i = 5"),
        ("i <> 5", "i <> -5"),
        ("i != 5", "i != -5"),
        ("i < -4", "i < -5"),
        ("i <= -5", "i <= -6"),
        ("i > -6", "i > -5"),
        ("i >= -5", "i >= -4"),
        ("-5=i", "5 = i"),
        ("-4 > i", "-5 > i"),
        ("u = 18446744073709551615", "u = 18446744073709551614"),
        ("u = 0xFFFFFFFFFFFFFFFF", "u = 0xfffffffffffffffe"),
        ("i = -0x5", "i = 0x5"),
        ("u > i", "u <= i"),
        ("u < 1.8446744073709552e19", "u = 1.8446744073709552e19"),
        ("i < -4.5", "i < -5.5"),
        ("b = TRUE", "b = false"),
        ("b = 1", "b = 0"),
        ("c = 'A'", "c = 'B'"),
        ("c = 65", "c = 66"),
        ("c BETWEEN 'A' AND 'Z'", "c NOT BETWEEN 'A' AND 'Z'"),
        ("f = 3.3", "f = 3.4"),
        ("3.3 = f", "3.3 < f"),
        ("f IN (3.3, 3)", "f IN (3, 4)"),
        ("d = 0.1", "d = 0.10000001"),
        ("d = .1", "d = +1.e-1 and d = 1"),
        ("nan <> 1", "nan = 1"),
        ("NOT nan < 1", "nan > 1"),
        ("s = 'it''s 7 µm'", "s = 'its 7 µm'"),
        ("s > 'it'", "s < 'it'"),
        ("s = `it''s 7 µm'", "s <> 'it''s 7 µm'"),
        ("empty = ''", "empty <> ''"),
        ("i BETWEEN -5 AND 3", "i BETWEEN -4 AND 3"),
        ("i between -5 and -5", "i not between -5 and -5"),
        ("i NOT BETWEEN 0 AND 3", "i BETWEEN 3 AND -6"),
        ("i IN (1, -5)", "i NOT IN (1, -5)"),
        ("pose.position.x >= 2", "pose.position.x > d AND FALSE = b"),
        ("ranges[3] = 1.5", "ranges[3] <> 1.5"),
        ("pose.position.x > d", "pose.position.x < d"),
    ];
    for (yes, no) in cases {
        assert!(holds(yes, &[]), "{yes}");
        assert!(!holds(no, &[]), "{no}");
    }
}

#[test]
fn an_element_that_is_not_there_makes_its_predicate_false() {
    for predicate in
        ["gone[9] = 1", "gone[9] <> 1", "gone[9] NOT BETWEEN 1 AND 2", "gone[9] NOT IN (1)", "i <> gone[9]"]
    {
        assert!(!holds(predicate, &[]), "{predicate}");
        assert!(holds(&format!("NOT {predicate}"), &[]), "NOT {predicate}");
    }
}

#[test]
fn like_matches_the_whole_text() {
    let matches = ["it''s 7 µm", "%", "*", "it%", "%µm", "%7%", "it_s ? _m", "%_m", "%%i*t%", "_________", "%'%"];
    let misses = ["", "it", "%7", "7%", "________", "__________", "it.s%", "IT%"];
    for pattern in matches {
        let quoted = format!("'{}'", pattern.replace("''", "'").replace('\'', "''"));
        assert!(holds(&format!("s LIKE {quoted}"), &[]), "{pattern}");
        assert!(!holds("s NOT LIKE %0", &[&quoted]), "{pattern}");
    }
    for pattern in misses {
        assert!(!holds(&format!("s like '{pattern}'"), &[]), "{pattern}");
        assert!(holds(&format!("s not like '{pattern}'"), &[]), "{pattern}");
    }
    assert!(holds("empty LIKE '%' AND empty LIKE ''", &[]));
    assert!(!holds("empty LIKE '_'", &[]));
}

#[test]
fn not_binds_closer_than_and_and_closer_than_or() {
    let (yes, no) = ("b = TRUE", "b = FALSE");
    for bits in 0..8 {
        let value = |bit: u32| bits >> bit & 1 == 1;
        let [a, b, c] = [0, 1, 2].map(value);
        let [x, y, z] = [a, b, c].map(|value| if value { yes } else { no });
        let table = [
            (format!("{x} OR {y} AND {z}"), a || b && c),
            (format!("{x} AND {y} OR {z}"), a && b || c),
            (format!("({x} OR {y}) AND {z}"), (a || b) && c),
            (format!("NOT {x} AND {y} OR {z}"), !a && b || c),
            (format!("NOT ({x} AND {y} OR {z})"), !(a && b || c)),
            (format!("NOT NOT {x} OR NOT {y} AND NOT {z}"), a || !b && !c),
            (format!("{x} AND {y} AND {z}"), a && b && c),
            (format!("{x} or ( {y} or ({z}))"), a || b || c),
        ];
        for (expression, expected) in table {
            assert_eq!(holds(&expression, &[]), expected, "{expression}");
        }
    }
}

#[test]
fn parameters_stand_for_literals() {
    assert!(holds(
        "i = %0 AND f=%1 AND s = %12 AND b = %3",
        &["-5", " 3.3 ", "", "true", "", "", "", "", "", "", "", "", "'it''s 7 µm'"]
    ));
    assert!(holds("i BETWEEN %1 AND %0 OR i IN (%0, %1)", &["0xF", "-9"]));
    let many = vec!["1"; 100];
    assert!(holds("i < %99", &many));
}

fn error(expression: &str, parameters: &[&str]) -> FilterError {
    match Filter::compile(expression, parameters, &row()) {
        Ok(_) => panic!("{expression} is no error"),
        Err(error) => error,
    }
}

#[test]
fn errors_name_their_place() {
    // What is wrong stands between « and »; nothing between them is the end.
    let cases = [
        "i = «»",
        "«»",
        "«=» 1",
        "i «5»",
        "i = 1 «i» = 2",
        "i = 1 AND «»",
        "(i = 1«»",
        "(i = 1 «u»",
        "i = 1«)»",
        "i NOT «=» 1",
        "i BETWEEN 1 «OR» 2",
        "i BETWEEN 1 AND «»",
        "i IN «1»",
        "i IN («)»",
        "i IN (1 «2»)",
        "i = «'open»",
        "i = «12abc»",
        "i = «1.2.3»",
        "i = «0xg»",
        "i = «99999999999999999999»",
        "i = «#»1",
        "s = «\"»x\"",
        "i = «%100»",
        "i = «%x»",
        "i = «%»",
        "i = «%1»",
        "i = «%0»",
        "«unknown» = 1",
        "pose.«orientation» = 1",
        "pose«.5» = 1",
        "ranges[«-1»] = 1",
        "ranges[«3.»",
        "i = «'text'»",
        "s = «1»",
        "b = «1.5»",
        "«1» = 1",
        "i BETWEEN «'a'» AND 2",
        "«1» BETWEEN i AND 2",
        "i IN (1, «'a'»)",
        "i «LIKE» 'a'",
        "s LIKE «5»",
        "s LIKE «s»",
        "c = «'AB'»",
        "c = «'µµ'»",
        "'x' = «i»",
        "«µ»",
    ];
    for case in cases {
        let expression = case.replace(['«', '»'], "");
        let error = error(&expression, &["not a literal"]);
        let (before, rest) = case.split_once('«').expect("a place");
        let (token, _) = rest.split_once('»').expect("an end");
        assert_eq!(error.column, before.chars().count() + 1, "{case}: {error}");
        assert_eq!(error.token.0.unwrap_or_default(), token, "{case}");
    }
    assert_eq!(
        error("", &[]).to_string(),
        "content filter, column 1, at the end: expected a field, a literal or a parameter"
    );
    let missing = error("i = %3", &["1"]);
    assert_eq!(missing.fault, Fault::ParameterMissing { given: 1 });
    assert!(missing.to_string().contains("column 5, at \"%3\""), "{missing}");
    let value = error("s = %0", &["unquoted"]);
    assert_eq!(value.fault, Fault::ParameterValue("unquoted".into()));
    assert_eq!(error("i = 1", &vec!["1"; 101]).fault, Fault::TooManyParameters(101));
    assert_eq!(error("s = 5", &[]).fault, Fault::Types(Type::Text, Type::Integer));
}

#[test]
fn nesting_is_bounded_and_chains_are_not() {
    let nested = |levels: usize| format!("{}i = -5{}", "(".repeat(levels), ")".repeat(levels));
    assert!(holds(&nested(60), &[]));
    assert!(matches!(error(&nested(70), &[]).fault, Fault::TooDeep(_)));
    assert!(matches!(error(&"NOT ".repeat(100_000), &[]).fault, Fault::TooDeep(_)));
    assert!(!holds(&vec!["i = 1"; 20_000].join(" OR "), &[]));
    assert!(!holds(&vec!["i = -5"; 20_000].join(" AND ").replacen("i = -5", "i = 1", 1), &[]));
}

#[test]
fn a_long_pattern_of_stars_ends_soon() {
    let text = "a".repeat(20_000);
    let pattern = super::super::pattern::Pattern::new(&"%a".repeat(2_000));
    assert!(pattern.matches(text.as_bytes()));
    let never = super::super::pattern::Pattern::new(&format!("{}b", "%a".repeat(1_000)));
    assert!(!never.matches(text.as_bytes()));
}
