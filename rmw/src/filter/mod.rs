//! Content filters: the conditions of DDS 1.4 (Annex B, "filter expressions"), compiled for one message type.
//!
//! ```text
//! condition := condition OR condition | condition AND condition | NOT condition | ( condition ) | predicate
//! predicate := operand ( = | <> | != | < | <= | > | >= ) operand
//!            | field [NOT] BETWEEN operand AND operand
//!            | field [NOT] LIKE pattern          -- % or * stand for any text, _ or ? for one character
//!            | field [NOT] IN ( operand, .. )
//! operand   := field | literal | %n              -- n from 0 to 99
//! field     := name [ '[' index ']' ] { . name [ '[' index ']' ] }
//! literal   := TRUE | FALSE | 12 | -0x1f | 1.5e3 | 'text'
//! ```
//!
//! NOT binds closer than AND, AND closer than OR; keywords in any case. A quote within a text is doubled. Parameters are
//! literals: a text needs its quotes there too. LIKE patterns match the whole text.
//!
//! Names and types are settled when a filter is compiled, so that evaluating it cannot fail. Integers of all widths and
//! floats compare by value; a constant beside a float32 is rounded to a float32 first; a boolean counts as 0 or 1 beside
//! an integer; a text of one character stands for its code beside an 8-bit or character field. A predicate on an element
//! that a sequence does not have is false, negated or not.

mod ast;
mod compile;
mod error;
mod evaluate;
mod lexer;
mod parser;
mod pattern;
#[cfg(test)]
mod tests;
mod value;

use std::fmt::Debug;

pub use ast::{Path, Segment};
pub use error::{Fault, FilterError};
pub use value::{Type, Value};

use evaluate::Condition;

use crate::message::Incoming;

/// The fields of a message type, for compiling.
pub trait Schema {
    /// A field that was found, for reading it later.
    type Field;

    /// Finds a field that holds one value.
    ///
    /// # Errors
    /// There is none, or it is not one value.
    fn resolve(&self, path: &Path) -> Result<(Self::Field, Type), Unresolved>;
}

/// Why a path is not a field that holds one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unresolved {
    /// Index of the part of the path that is wrong.
    pub segment: usize,
    /// What is wrong with it, and what to write instead.
    pub why: String,
}

/// The values of one message, for evaluating.
pub trait Fields<F> {
    /// The value of a field; `None` when it is an element that the message does not have.
    fn value(&self, field: &F) -> Option<Value<'_>>;
}

/// A compiled filter.
#[derive(Debug)]
pub struct Filter<F>(Condition<F>);

impl<F> Filter<F> {
    /// Compiles an expression with the values of its parameters.
    ///
    /// # Errors
    /// The expression or a parameter is malformed, names a field that is not there, or compares what cannot be compared.
    pub fn compile<S, P>(expression: &str, parameters: &[P], schema: &S) -> Result<Self, FilterError>
    where
        S: Schema<Field = F>,
        P: AsRef<str>,
    {
        let parsed = parser::parse(expression)?;
        let parameters: Vec<&str> = parameters.iter().map(AsRef::as_ref).collect();
        compile::compile(&parsed, &parameters, schema).map(Filter)
    }

    /// Whether a message passes.
    pub fn accepts(&self, fields: &impl Fields<F>) -> bool {
        self.0.holds(fields)
    }
}

/// What a filtered subscription asks of each sample before anybody sees it.
pub trait SampleFilter: Debug + Send + Sync {
    /// Whether the sample passes. One that cannot be read must pass: its reader is then told.
    fn accepts(&self, sample: Incoming) -> bool;
}
