//! What the compiler is given: where the fields of a message lie in memory and what they are.

use std::sync::Arc;

use super::access::{BoolVectorFunctions, SequenceAccess, StringAccess};

/// The memory of one message type.
#[derive(Debug)]
pub struct Layout {
    /// Type name, for messages to the user: "geometry_msgs/msg/Point".
    pub name: String,
    /// Bytes the structure takes.
    pub size_of: usize,
    /// Fields in declaration order, which is the order on the wire.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Debug)]
pub struct Field {
    /// Field name.
    pub name: String,
    /// Bytes from the start of the structure.
    pub offset: usize,
    /// What one element is.
    pub kind: Kind,
    /// How many there are.
    pub extent: Extent,
}

/// What one element of a field is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// An integer, float or character of 1, 2, 4 or 8 bytes.
    Primitive {
        /// Bytes, in memory and on the wire.
        width: usize,
    },
    /// A boolean of one byte.
    Bool,
    /// A string of bytes.
    String {
        /// Most bytes allowed; `None` is unbounded.
        bound: Option<usize>,
        /// How it is reached.
        access: StringAccess,
    },
    /// A string of 16-bit units.
    WString {
        /// Most units allowed; `None` is unbounded.
        bound: Option<usize>,
        /// How it is reached.
        access: StringAccess,
    },
    /// A nested message.
    Message(Arc<Layout>),
}

/// How many elements a field has.
#[derive(Clone, Debug)]
pub enum Extent {
    /// One.
    One,
    /// So many, lying in the structure itself.
    Array(usize),
    /// A counted sequence.
    Sequence {
        /// Most elements allowed; `None` is unbounded.
        bound: Option<usize>,
        /// How it is reached.
        access: SequenceAccess,
    },
    /// A counted sequence of booleans that does not keep them one per byte; the kind is `Bool`.
    BoolVector {
        /// Most elements allowed; `None` is unbounded.
        bound: Option<usize>,
        /// How it is reached.
        functions: &'static BoolVectorFunctions,
    },
}
