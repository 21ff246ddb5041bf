//! What is wrong with a filter, and where.

use std::fmt;

use super::value::Type;

/// A filter that cannot be compiled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("content filter, column {column}, {token}: {fault}")]
pub struct FilterError {
    /// Character of the expression at which it is wrong, from 1.
    pub column: usize,
    /// What stands there.
    pub token: Token,
    /// What is wrong.
    pub fault: Fault,
}

/// A piece of an expression as it is shown to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token(pub Option<String>);

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(text) => write!(f, "at \"{text}\""),
            None => f.write_str("at the end"),
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// Something else has to stand here.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A character that begins nothing.
    #[error("this character has no meaning here; texts stand in single quotes")]
    Character,
    /// A text without an end.
    #[error("the text has no closing quote (')")]
    OpenText,
    /// Not a number, or too large a one.
    #[error("this is not a number that can be read")]
    Number,
    /// A parameter beyond %99.
    #[error("parameters go from %0 to %99")]
    ParameterName,
    /// A parameter without a value.
    #[error("the parameter has no value: {given} given, counted from %0")]
    ParameterMissing {
        /// Number of values given.
        given: usize,
    },
    /// A parameter whose value is no literal.
    #[error("the value of the parameter is \"{0}\", which is no literal; a text needs its own single quotes: '{0}'")]
    ParameterValue(String),
    /// More values than there can be parameters.
    #[error("{0} parameter values given, 100 are allowed")]
    TooManyParameters(usize),
    /// A name that the message type does not have, or that is not one value.
    #[error("{0}")]
    Field(String),
    /// Values that have no order between them.
    #[error("cannot compare {0} with {1}")]
    Types(Type, Type),
    /// A text longer than the character it is compared with.
    #[error("a character field is compared with a text of exactly one character, or with its code")]
    OneCharacter,
    /// LIKE on something that is no text.
    #[error("LIKE needs a field that is a text, not {0}")]
    LikeOf(Type),
    /// LIKE without a text to match.
    #[error("LIKE needs a pattern in single quotes, or a parameter that is one")]
    Pattern,
    /// A predicate without a field.
    #[error("no field here: BETWEEN and IN need one before them, a comparison on one side at least")]
    NoField,
    /// Parentheses or NOTs within each other.
    #[error("nested more than {0} deep")]
    TooDeep(usize),
}
