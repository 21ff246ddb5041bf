//! Values of fields and constants, and the order between them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// What a field is, as far as filters tell fields apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// True or false.
    Bool,
    /// An integer of any width.
    Integer,
    /// An integer that may stand for a character: up to the code given.
    Character(u32),
    /// A float of 32 bits.
    Float32,
    /// A float of 64 bits.
    Float64,
    /// A string.
    Text,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "a boolean",
            Self::Integer => "an integer",
            Self::Character(_) => "a character",
            Self::Float32 | Self::Float64 => "a float",
            Self::Text => "a text",
        })
    }
}

impl Type {
    fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Character(_) | Self::Float32 | Self::Float64)
    }

    /// Whether values of the two have an order.
    pub(super) fn compares_with(self, other: Type) -> bool {
        match (self, other) {
            (Self::Text, Self::Text) | (Self::Bool, Self::Bool) => true,
            (Self::Bool, Self::Integer | Self::Character(_)) | (Self::Integer | Self::Character(_), Self::Bool) => true,
            _ => self.is_number() && other.is_number(),
        }
    }
}

/// The value of a field or constant. A character is the integer of its code.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// True or false.
    Bool(bool),
    /// Any 64-bit integer, signed or not.
    Integer(i128),
    /// A float of 32 bits.
    Float32(f32),
    /// A float of 64 bits.
    Float64(f64),
    /// Bytes that should be UTF-8.
    Text(Cow<'a, [u8]>),
}

enum Number {
    Integer(i128),
    Float(f64),
}

impl Value<'_> {
    fn number(&self) -> Option<Number> {
        match *self {
            Self::Bool(value) => Some(Number::Integer(i128::from(value))),
            Self::Integer(value) => Some(Number::Integer(value)),
            Self::Float32(value) => Some(Number::Float(value.into())),
            Self::Float64(value) => Some(Number::Float(value)),
            Self::Text(_) => None,
        }
    }

    /// How the two are ordered; `None` for a NaN, and for types that do not compare.
    pub(super) fn order(&self, other: &Value<'_>) -> Option<Ordering> {
        if let (Value::Text(left), Value::Text(right)) = (self, other) {
            return Some(left.cmp(right));
        }
        match (self.number()?, other.number()?) {
            (Number::Integer(left), Number::Integer(right)) => Some(left.cmp(&right)),
            (Number::Float(left), Number::Float(right)) => left.partial_cmp(&right),
            (Number::Integer(left), Number::Float(right)) => order_mixed(left, right),
            (Number::Float(left), Number::Integer(right)) => order_mixed(right, left).map(Ordering::reverse),
        }
    }
}

/// Without rounding the integer, which may be wider than the float's mantissa. Values of fields are within 65 bits, so
/// that a float which the cast saturates is beyond all of them.
fn order_mixed(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    let whole = float.trunc();
    Some(integer.cmp(&(whole as i128)).then(0.0_f64.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal)))
}
