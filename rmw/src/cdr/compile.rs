//! Layout → program.
//!
//! The compiler tracks what is known about the wire position while it emits operations, so that it knows where CDR
//! inserts no padding; two neighbours in memory become one copy exactly there.

use super::error::CompileError;
use super::layout::{Extent, Field, Kind, Layout};
use super::program::{Element, FieldId, Op, Program, Run};

/// Deeper nesting than any real type has; keeps the recursion of the runners bounded.
const MAX_DEPTH: usize = 64;
/// Arrays of structures up to this many operations are unrolled.
const UNROLL: usize = 16;

/// What is known about the wire position: it is `rest` modulo `modulus` (1, 2, 4 or 8).
#[derive(Clone, Copy)]
struct Position {
    modulus: usize,
    rest: usize,
}

impl Position {
    const BODY_START: Position = Position { modulus: 8, rest: 0 };
    const UNKNOWN: Position = Position::multiple_of(1);

    const fn multiple_of(modulus: usize) -> Position {
        Position { modulus, rest: 0 }
    }

    fn is_aligned(self, to: usize) -> bool {
        self.modulus >= to && self.rest % to == 0
    }

    /// Passes the padding before something aligned to `to`.
    fn align(&mut self, to: usize) {
        if self.modulus < to {
            *self = Self::multiple_of(to);
        } else {
            self.rest = self.rest.next_multiple_of(to) % self.modulus;
        }
    }

    fn advance(&mut self, len: usize) {
        self.rest = (self.rest + len % self.modulus) % self.modulus;
    }
}

/// Compiles for one byte order. `merge` joins neighbours, which only the native order allows.
pub(super) fn compile(layout: &Layout, merge: bool, names: &mut Vec<Box<str>>) -> Result<Program, CompileError> {
    let mut compiler =
        Compiler { root: &layout.name, merge, names, ops: Vec::new(), at: Position::BODY_START, depth: 0 };
    compiler.structure(layout, 0, "")?;
    Ok(Program::new(compiler.ops))
}

struct Compiler<'a> {
    root: &'a str,
    merge: bool,
    names: &'a mut Vec<Box<str>>,
    ops: Vec<Op>,
    at: Position,
    depth: usize,
}

impl Compiler<'_> {
    /// Emits all fields of a structure that lies at `base`.
    fn structure(&mut self, layout: &Layout, base: usize, path: &str) -> Result<(), CompileError> {
        if layout.fields.is_empty() || layout.size_of == 0 || u32::try_from(layout.size_of).is_err() {
            let (size_of, fields) = (layout.size_of, layout.fields.len());
            return Err(CompileError::Unusable { message: layout.name.clone(), size_of, fields });
        }
        if self.depth > MAX_DEPTH {
            let (message, field) = (self.root.to_owned(), path.to_owned());
            return Err(CompileError::TooDeep { message, field, limit: MAX_DEPTH });
        }
        self.depth += 1;
        for field in &layout.fields {
            let path = if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) };
            self.check(layout, field, &path)?;
            self.field(field, base + field.offset, &path)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// The field lies inside its structure, and what is read in place is aligned there.
    fn check(&self, layout: &Layout, field: &Field, path: &str) -> Result<(), CompileError> {
        let element = self.size_of(&field.kind, path)?;
        let (len, align) = match &field.extent {
            Extent::One => (element, element),
            Extent::Array(count) => (element.saturating_mul(*count), element),
            Extent::Sequence { .. } | Extent::BoolVector { .. } => (size_of::<usize>(), size_of::<usize>()),
        };
        let align = if matches!(field.kind, Kind::Primitive { .. }) { align } else { 1 };
        let fits = field.offset.checked_add(len).is_some_and(|end| end <= layout.size_of);
        if fits && len > 0 && field.offset % align == 0 {
            return Ok(());
        }
        let (message, field_path) = (self.root.to_owned(), path.to_owned());
        Err(CompileError::Misplaced { message, field: field_path, offset: field.offset, len, size_of: layout.size_of })
    }

    /// Bytes of one element in memory.
    fn size_of(&self, kind: &Kind, path: &str) -> Result<usize, CompileError> {
        match kind {
            Kind::Primitive { width: width @ (1 | 2 | 4 | 8) } => Ok(*width),
            Kind::Primitive { width } => {
                let (message, field) = (self.root.to_owned(), path.to_owned());
                Err(CompileError::Width { message, field, width: *width })
            }
            Kind::Bool => Ok(1),
            Kind::String { access, .. } | Kind::WString { access, .. } => Ok(access.size_of()),
            Kind::Message(layout) => Ok(layout.size_of),
        }
    }

    fn field(&mut self, field: &Field, mem: usize, path: &str) -> Result<(), CompileError> {
        match &field.extent {
            Extent::One => self.one(&field.kind, mem, path),
            Extent::Array(count) => self.array(&field.kind, *count, mem, path),
            Extent::Sequence { bound, access } => {
                let element = self.element(&field.kind, path)?;
                let after = Self::after_sequence(&element);
                let (bound, field) = (bound.unwrap_or(usize::MAX), self.name(path));
                self.ops.push(Op::Sequence { mem, access: *access, bound, element, field });
                self.at = after;
                Ok(())
            }
            Extent::BoolVector { bound, functions } => {
                let (bound, field) = (bound.unwrap_or(usize::MAX), self.name(path));
                self.ops.push(Op::BoolVector { mem, functions, bound, field });
                self.at = Position::UNKNOWN;
                Ok(())
            }
        }
    }

    fn one(&mut self, kind: &Kind, mem: usize, path: &str) -> Result<(), CompileError> {
        match kind {
            Kind::Primitive { width } => self.run(mem, Run { len: *width, align: *width }, path),
            Kind::Bool => self.bools(mem, 1, path),
            Kind::String { bound, access } => {
                let (access, bound, field) = (*access, bound.unwrap_or(usize::MAX), self.name(path));
                self.ops.push(Op::String { mem, access, bound, field });
                self.at = Position::UNKNOWN;
            }
            Kind::WString { bound, access } => {
                let (access, bound, field) = (*access, bound.unwrap_or(usize::MAX), self.name(path));
                self.ops.push(Op::WString { mem, access, bound, field });
                self.at = Position::multiple_of(4);
            }
            Kind::Message(layout) => return self.structure(layout, mem, path),
        }
        Ok(())
    }

    fn array(&mut self, kind: &Kind, count: usize, mem: usize, path: &str) -> Result<(), CompileError> {
        match kind {
            Kind::Primitive { width } => {
                self.run(mem, Run { len: width * count, align: *width }, path);
                return Ok(());
            }
            Kind::Bool => {
                self.bools(mem, count, path);
                return Ok(());
            }
            _ => {}
        }
        let path = format!("{path}[]");
        let stride = self.size_of(kind, &path)?;
        let body = self.nested(kind, &path)?;
        if let Some(run) = body.as_repeated_run(stride).filter(|_| self.merge) {
            self.run(mem, Run { len: run.len * count, align: run.align }, &path);
        } else if body.ops.len().saturating_mul(count) <= UNROLL {
            (0..count).try_for_each(|i| self.one(kind, mem + i * stride, &path))?;
        } else {
            self.ops.push(Op::Repeat { mem, count, stride, body });
            self.at = Position::UNKNOWN;
        }
        Ok(())
    }

    fn element(&mut self, kind: &Kind, path: &str) -> Result<Element, CompileError> {
        let path = format!("{path}[]");
        let stride = self.size_of(kind, &path)?;
        match kind {
            Kind::Primitive { width } => return Ok(Element::Run(Run { len: *width, align: *width })),
            Kind::Bool => return Ok(Element::Bools),
            _ => {}
        }
        let body = self.nested(kind, &path)?;
        match body.as_repeated_run(stride).filter(|_| self.merge) {
            Some(run) => Ok(Element::Run(run)),
            None => Ok(Element::Program { stride, body }),
        }
    }

    /// A program for one element that may start anywhere.
    fn nested(&mut self, kind: &Kind, path: &str) -> Result<Program, CompileError> {
        let (root, merge, depth) = (self.root, self.merge, self.depth);
        let mut inner =
            Compiler { root, merge, names: self.names, ops: Vec::new(), at: Position::UNKNOWN, depth: depth + 1 };
        inner.one(kind, 0, path)?;
        Ok(Program::new(inner.ops))
    }

    /// Where a sequence may end: right after its count, or after elements.
    fn after_sequence(element: &Element) -> Position {
        match element {
            Element::Run(run) => Position::multiple_of(run.align.min(4)),
            Element::Bools | Element::Program { .. } => Position::UNKNOWN,
        }
    }

    fn run(&mut self, mem: usize, run: Run, path: &str) {
        let joins = self.merge && self.at.is_aligned(run.align);
        self.at.align(run.align);
        self.at.advance(run.len);
        match self.ops.last_mut() {
            Some(Op::Run { mem: start, run: last, .. }) if joins && *start + last.len == mem => last.len += run.len,
            _ => {
                let field = self.name(path);
                self.ops.push(Op::Run { mem, run, field });
            }
        }
    }

    /// Booleans are never part of a copy: a byte from another process need not be one.
    fn bools(&mut self, mem: usize, count: usize, path: &str) {
        let field = self.name(path);
        match self.ops.last_mut() {
            Some(Op::Bools { mem: start, count: last, .. }) if *start + *last == mem => *last += count,
            _ => self.ops.push(Op::Bools { mem, count, field }),
        }
        self.at.advance(count);
    }

    fn name(&mut self, path: &str) -> FieldId {
        if self.names.last().is_none_or(|last| **last != *path) {
            self.names.push(path.into());
        }
        (self.names.len() - 1) as FieldId
    }
}
