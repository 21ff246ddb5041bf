//! Expressions as they were written.

use super::error::{Fault, FilterError, Token};

/// A place in an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// In characters, from 1.
    pub column: usize,
    pub token: Token,
}

impl Place {
    pub fn fault(&self, fault: Fault) -> FilterError {
        FilterError { column: self.column, token: self.token.clone(), fault }
    }
}

/// A field as it is written: `pose.position.x`, `ranges[3]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Path(pub Vec<Segment>);

/// One part of a [`Path`].
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// The field's name.
    pub name: String,
    /// The element, from 0, where one is named.
    pub index: Option<usize>,
    pub(super) place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Bool(bool),
    Integer(i128),
    Float(f64),
    Text(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operand {
    Field(Path),
    Literal(Literal, Place),
    Parameter(usize, Place),
}

impl Operand {
    pub fn place(&self) -> Option<&Place> {
        match self {
            Self::Field(path) => path.0.first().map(|segment| &segment.place),
            Self::Literal(_, place) | Self::Parameter(_, place) => Some(place),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Compare(Comparison, Operand),
    Between(Operand, Operand),
    Like(Operand),
    In(Vec<Operand>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Predicate {
    pub left: Operand,
    pub negated: bool,
    pub test: Test,
    /// Of the operator.
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Or(Vec<Expression>),
    And(Vec<Expression>),
    Not(Box<Expression>),
    Predicate(Box<Predicate>),
}
