//! The compiled form: a flat list of operations, each at a fixed offset of the structure it works on.

use super::access::{BoolVectorFunctions, SequenceAccess, StringAccess};

/// Index of a field path among the plan's names.
pub(super) type FieldId = u32;

/// Operations on one structure.
#[derive(Debug)]
pub(super) struct Program {
    pub ops: Vec<Op>,
    /// Fewest bytes the wire form can take, at least 1: bounds how many elements a body can hold.
    pub min_size: usize,
}

/// A piece of memory whose bytes are the wire's bytes. In a program for the other byte order `align` is also the width
/// of each value in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Run {
    pub len: usize,
    /// Wire alignment of the first byte; 1, 2, 4 or 8.
    pub align: usize,
}

/// One operation. `mem` is the offset in the structure.
#[derive(Debug)]
pub(super) enum Op {
    /// Copy bytes.
    Run { mem: usize, run: Run, field: FieldId },
    /// Copy booleans, checking each.
    Bools { mem: usize, count: usize, field: FieldId },
    /// A string of bytes.
    String { mem: usize, access: StringAccess, bound: usize, field: FieldId },
    /// A string of 16-bit units, on the wire as 32-bit ones.
    WString { mem: usize, access: StringAccess, bound: usize, field: FieldId },
    /// The same structure several times in place.
    Repeat { mem: usize, count: usize, stride: usize, body: Program },
    /// A counted sequence.
    Sequence { mem: usize, access: SequenceAccess, bound: usize, element: Element, field: FieldId },
    /// A counted sequence of packed booleans.
    BoolVector { mem: usize, functions: &'static BoolVectorFunctions, bound: usize, field: FieldId },
}

/// The elements of a sequence.
#[derive(Debug)]
pub(super) enum Element {
    /// All of them are one copy; `len` is a multiple of `align`.
    Run(Run),
    /// Bytes that are booleans.
    Bools,
    /// One by one.
    Program { stride: usize, body: Program },
}

impl Element {
    /// Fewest bytes an element takes on the wire; at least 1.
    pub fn min_size(&self) -> usize {
        match self {
            Self::Run(run) => run.len,
            Self::Bools => 1,
            Self::Program { body, .. } => body.min_size,
        }
    }
}

impl Op {
    /// Fewest bytes on the wire. Saturating: a type of absurd size is then simply never decodable.
    fn min_size(&self) -> usize {
        match self {
            Self::Run { run, .. } => run.len,
            Self::Bools { count, .. } => *count,
            Self::Repeat { count, body, .. } => body.min_size.saturating_mul(*count),
            Self::String { .. } | Self::WString { .. } | Self::Sequence { .. } | Self::BoolVector { .. } => 4,
        }
    }

    /// Wire position after this operation from `at`, if it does not depend on the message.
    fn end_if_fixed(&self, at: usize) -> Option<usize> {
        match self {
            Self::Run { run, .. } => at.checked_next_multiple_of(run.align)?.checked_add(run.len),
            Self::Bools { count, .. } => at.checked_add(*count),
            Self::Repeat { count, body, .. } => (0..*count).try_fold(at, |at, _| body.end_if_fixed(at)),
            _ => None,
        }
    }
}

impl Program {
    pub fn new(ops: Vec<Op>) -> Program {
        let min_size = ops.iter().fold(0usize, |sum, op| sum.saturating_add(op.min_size())).max(1);
        Program { ops, min_size }
    }

    /// Wire position after the program from `at`, if it is the same for every message.
    pub fn end_if_fixed(&self, at: usize) -> Option<usize> {
        self.ops.iter().try_fold(at, |at, op| op.end_if_fixed(at))
    }

    /// The one copy that the whole structure of `size_of` bytes is, if it is one.
    pub fn as_run(&self, size_of: usize) -> Option<Run> {
        match self.ops[..] {
            [Op::Run { mem: 0, run, .. }] if run.len == size_of => Some(run),
            _ => None,
        }
    }

    /// Where the wire position `at` has come to after a structure at `base`, if all of it lies in memory where it lies on
    /// the wire, counted from the start of the message. Padding between fields does not matter: it is there in both.
    pub fn end_in_place(&self, base: usize, at: usize) -> Option<usize> {
        self.ops.iter().try_fold(at, |at, op| match op {
            Op::Run { mem, run, .. } => {
                let start = at.checked_next_multiple_of(run.align)?;
                (start == base + mem).then(|| start + run.len)
            }
            Op::Bools { mem, count, .. } => (at == base + mem).then(|| at + count),
            Op::Repeat { mem, count, stride, body } => {
                (0..*count).try_fold(at, |at, i| body.end_in_place(base + mem + i * stride, at))
            }
            _ => None,
        })
    }

    /// The most bytes that the last field may hold, if that is a counted sequence of bytes.
    pub fn byte_tail(&self) -> Option<usize> {
        match self.ops.last()? {
            Op::Sequence { element: Element::Run(Run { len: 1, .. }), bound, .. } => Some(*bound),
            _ => None,
        }
    }

    /// Whether some value in it is not valid whatever its bytes are.
    pub fn has_booleans(&self) -> bool {
        self.ops.iter().any(|op| match op {
            Op::Bools { .. } | Op::BoolVector { .. } => true,
            Op::Repeat { body, .. } | Op::Sequence { element: Element::Program { body, .. }, .. } => {
                body.has_booleans()
            }
            Op::Sequence { element, .. } => matches!(element, Element::Bools),
            Op::Run { .. } | Op::String { .. } | Op::WString { .. } => false,
        })
    }

    /// The same as [`as_run`](Self::as_run), if an array of such structures is one copy too.
    pub fn as_repeated_run(&self, size_of: usize) -> Option<Run> {
        self.as_run(size_of).filter(|run| run.len % run.align == 0)
    }
}
