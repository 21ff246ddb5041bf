//! Compiled conditions.

use std::cmp::Ordering;

use super::ast::Comparison;
use super::pattern::Pattern;
use super::value::Value;
use super::Fields;

#[derive(Debug)]
pub(super) enum Condition<F> {
    Or(Vec<Condition<F>>),
    And(Vec<Condition<F>>),
    Not(Box<Condition<F>>),
    Predicate { left: Term<F>, negated: bool, test: Test<F> },
}

#[derive(Debug)]
pub(super) enum Term<F> {
    Field(F),
    Constant(Value<'static>),
}

#[derive(Debug)]
pub(super) enum Test<F> {
    Compare(Comparison, Term<F>),
    Between(Term<F>, Term<F>),
    Like(Pattern),
    In(Vec<Term<F>>),
}

impl<F> Condition<F> {
    pub fn holds(&self, fields: &impl Fields<F>) -> bool {
        match self {
            Self::Or(parts) => parts.iter().any(|part| part.holds(fields)),
            Self::And(parts) => parts.iter().all(|part| part.holds(fields)),
            Self::Not(part) => !part.holds(fields),
            Self::Predicate { left, negated, test } => {
                // An element that is not there makes its predicate false, negated or not.
                left.value(fields).and_then(|left| test.of(&left, fields)).is_some_and(|holds| holds != *negated)
            }
        }
    }
}

impl<F> Term<F> {
    fn value<'a>(&'a self, fields: &'a impl Fields<F>) -> Option<Value<'a>> {
        match self {
            Self::Field(field) => fields.value(field),
            Self::Constant(value) => Some(borrowed(value)),
        }
    }
}

fn borrowed<'a>(value: &'a Value<'static>) -> Value<'a> {
    match value {
        Value::Text(text) => Value::Text(text.as_ref().into()),
        other => other.clone(),
    }
}

impl<F> Test<F> {
    /// `None` when an element that it needs is not there.
    fn of(&self, left: &Value<'_>, fields: &impl Fields<F>) -> Option<bool> {
        match self {
            Self::Compare(comparison, right) => Some(comparison.holds(left.order(&right.value(fields)?))),
            Self::Between(low, high) => {
                let (low, high) = (low.value(fields)?, high.value(fields)?);
                let above = Comparison::GreaterOrEqual.holds(left.order(&low));
                Some(above && Comparison::LessOrEqual.holds(left.order(&high)))
            }
            Self::Like(pattern) => match left {
                Value::Text(text) => Some(pattern.matches(text)),
                _ => None,
            },
            Self::In(members) => {
                let mut found = false;
                for member in members {
                    found |= left.order(&member.value(fields)?) == Some(Ordering::Equal);
                }
                Some(found)
            }
        }
    }
}

impl Comparison {
    /// Without an order (a NaN) two values are different, and nothing else.
    fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => order.is_some_and(Ordering::is_le),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        }
    }
}
