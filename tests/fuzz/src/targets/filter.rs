//! Any text as a content filter, on any values.

use std::borrow::Cow;

use shoal_rmw::filter::{Fields, Filter, Path, Schema, Type, Unresolved, Value};

use crate::input::Input;

/// What a text is made of where it is to be almost an expression.
const PIECES: [&str; 40] = [
    "b",
    "i",
    "c",
    "f",
    "d",
    "t",
    "p.x",
    "s[3]",
    "gone[9]",
    "nothing",
    "%0",
    "%1",
    "%99",
    "%100",
    " AND ",
    " OR ",
    "NOT ",
    " NOT ",
    " BETWEEN ",
    " LIKE ",
    " IN ",
    "(",
    ")",
    ",",
    "=",
    "<>",
    "<=",
    ">",
    "'",
    "''",
    "'a%_'",
    "'ab'",
    "TRUE",
    "-5",
    "0x7f",
    "1e308",
    "18446744073709551615",
    ".5",
    " ",
    "µ",
];

const FIELDS: [(&str, Type); 9] = [
    ("b", Type::Bool),
    ("i", Type::Integer),
    ("c", Type::Character(255)),
    ("f", Type::Float32),
    ("d", Type::Float64),
    ("t", Type::Text),
    ("p.x", Type::Float64),
    ("s[3]", Type::Text),
    ("gone[9]", Type::Integer),
];

/// A message: a value for each field, `None` for an element that is not there.
struct Row<'a>(Vec<Option<Value<'a>>>);

impl<'a> Row<'a> {
    fn of(input: &mut Input<'a>) -> Row<'a> {
        Row(FIELDS.iter().map(|(name, ty)| (*name != "gone[9]").then(|| value(input, *ty))).collect())
    }
}

fn value<'a>(input: &mut Input<'a>, ty: Type) -> Value<'a> {
    match ty {
        Type::Bool => Value::Bool(input.byte() % 2 == 1),
        Type::Integer => Value::Integer((input.changed(0) as i64).into()),
        Type::Character(most) => Value::Integer((input.word() as u32 % (most + 1)).into()),
        Type::Float32 => Value::Float32(f32::from_bits(input.changed(0) as u32)),
        Type::Float64 => Value::Float64(f64::from_bits(input.changed(0))),
        Type::Text => {
            let len = input.below(40);
            Value::Text(Cow::Borrowed(input.bytes(len)))
        }
    }
}

impl Schema for Row<'_> {
    type Field = usize;

    fn resolve(&self, path: &Path) -> Result<(usize, Type), Unresolved> {
        let part = |segment: &shoal_rmw::filter::Segment| match segment.index {
            Some(index) => format!("{}[{index}]", segment.name),
            None => segment.name.clone(),
        };
        let name = path.0.iter().map(part).collect::<Vec<_>>().join(".");
        let at = FIELDS.iter().position(|(known, _)| *known == name);
        // Any segment, also one that is not there: the compiler must not trust it.
        let at = at.ok_or(Unresolved { segment: name.len(), why: name })?;
        Ok((at, FIELDS[at].1))
    }
}

impl Fields<usize> for Row<'_> {
    fn value(&self, field: &usize) -> Option<Value<'_>> {
        self.0[*field].clone()
    }
}

fn text(input: &mut Input<'_>) -> String {
    let len = input.below(60);
    if input.byte() % 4 == 0 {
        return String::from_utf8_lossy(input.bytes(len)).into_owned();
    }
    input.bytes(len).iter().map(|byte| PIECES[usize::from(*byte) % PIECES.len()]).collect()
}

pub(super) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let expression = text(&mut input);
    let parameters: Vec<String> = (0..input.below(4)).map(|_| text(&mut input)).collect();
    let row = Row::of(&mut input);
    match Filter::compile(&expression, &parameters, &row) {
        Ok(filter) => {
            let opposite = Filter::compile(&format!("NOT ({expression})"), &parameters, &row);
            for row in [row, Row::of(&mut input)] {
                let accepts = filter.accepts(&row);
                if let Ok(opposite) = &opposite {
                    assert_ne!(opposite.accepts(&row), accepts, "{expression}");
                }
            }
        }
        Err(error) => {
            let said = error.to_string();
            assert!(error.column >= 1 && said.len() < 40 * (expression.len() + 100 + bytes.len()), "{said}");
        }
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let piece = |text: &&str| PIECES.iter().position(|piece| piece == text).expect("a piece") as u8;
    let expression = |pieces: &[&str]| -> Vec<u8> {
        [pieces.len() as u8, 1].into_iter().chain(pieces.iter().map(piece)).chain(1..60).collect()
    };
    vec![
        expression(&["i", "=", "-5", " AND ", "t", " LIKE ", "'a%_'"]),
        expression(&["(", "f", "<=", "1e308", " OR ", "NOT ", "b", "=", "TRUE", ")", " AND ", "gone[9]", ">", "i"]),
        expression(&[
            "p.x",
            " NOT ",
            " BETWEEN ",
            ".5",
            " AND ",
            "%0",
            " OR ",
            "c",
            " IN ",
            "(",
            "0x7f",
            ",",
            "-5",
            ")",
        ]),
        expression(&["s[3]", "<>", "t", " OR ", "18446744073709551615", ">", "i"]),
        [&b"\x30\x04i = %0 AND t LIKE '%\xc2\xb5_*' AND s[3] <> 'it''s' -- \x01\x03\x04'x'"[..], &[7; 40]].concat(),
    ]
}
