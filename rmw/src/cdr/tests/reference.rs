//! The wire form, written as the standard tells it.

use super::model::{Count, Type, Value};

/// The body of a value.
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
