//! Message → bytes, and the same walk for counting them.

use std::ffi::c_void;

use super::access::{RawSequence, SequenceAccess, Span, StringAccess};
use super::bulk;
use super::program::{Element, FieldId, Op, Program, Run};

/// Why the walk stopped, at which field.
pub(super) struct Stop {
    pub field: FieldId,
    pub why: Why,
}

pub(super) enum Why {
    NoRoom { needed: usize, left: usize },
    NullData { size: usize },
    NulInString { at: usize },
    OverBound { len: usize, bound: usize },
    TooLong { len: usize },
}

type Outcome = Result<(), Stop>;

/// Where the bytes go: to memory, or only counted. Positions count from the start of the body.
trait Sink {
    /// Aligns, then makes room for `len` bytes. NULL when they are only counted.
    fn room(&mut self, align: usize, len: usize) -> Result<*mut u8, Why>;
}

struct Counter(usize);

impl Sink for Counter {
    #[inline]
    fn room(&mut self, align: usize, len: usize) -> Result<*mut u8, Why> {
        let end = self.0.checked_next_multiple_of(align).and_then(|at| at.checked_add(len));
        self.0 = end.ok_or(Why::TooLong { len })?;
        Ok(std::ptr::null_mut())
    }
}

struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Sink for Writer<'_> {
    #[inline]
    fn room(&mut self, align: usize, len: usize) -> Result<*mut u8, Why> {
        let start = self.at.next_multiple_of(align);
        let left = self.out.len() - self.at;
        let end = start.checked_add(len).filter(|end| *end <= self.out.len());
        let end = end.ok_or(Why::NoRoom { needed: (start - self.at).saturating_add(len), left })?;
        self.out[self.at..start].fill(0);
        self.at = end;
        Ok(self.out[start..end].as_mut_ptr())
    }
}

/// Bytes of the body.
///
/// # Safety
/// `msg` is a valid message of the program's type that nobody writes meanwhile.
pub(super) unsafe fn size(program: &Program, msg: *const u8) -> Result<usize, Stop> {
    let mut counter = Counter(0);
    // SAFETY: the caller's promise about `msg`.
    unsafe { walk(program, msg, &mut counter)? };
    Ok(counter.0)
}

/// Writes the body.
///
/// # Safety
/// As for [`size`].
pub(super) unsafe fn encode(program: &Program, msg: *const u8, out: &mut [u8]) -> Result<usize, Stop> {
    let mut writer = Writer { out, at: 0 };
    // SAFETY: the caller's promise about `msg`.
    unsafe { walk(program, msg, &mut writer)? };
    Ok(writer.at)
}

/// # Safety
/// `msg` is a valid structure of the program's type that nobody writes meanwhile.
unsafe fn walk<S: Sink>(program: &Program, msg: *const u8, sink: &mut S) -> Outcome {
    for op in &program.ops {
        // SAFETY: the compiler checked that every operation lies inside the structure at `msg`, and that the field
        // there is of the kind the operation is for.
        unsafe {
            match op {
                Op::Run { mem, run, field } => copy(msg.add(*mem), *run, *field, sink)?,
                Op::Bools { mem, count, field } => bools(msg.add(*mem), *count, *field, sink)?,
                Op::String { mem, access, bound, field } => string(msg.add(*mem), *access, *bound, *field, sink)?,
                Op::WString { mem, access, bound, field } => wstring(msg.add(*mem), *access, *bound, *field, sink)?,
                Op::Repeat { mem, count, stride, body } => {
                    for i in 0..*count {
                        walk(body, msg.add(*mem + i * stride), sink)?;
                    }
                }
                Op::Sequence { mem, access, bound, element, field } => {
                    sequence(msg.add(*mem), access, *bound, element, *field, sink)?
                }
                Op::BoolVector { mem, functions, bound, field } => {
                    let vector = msg.add(*mem).cast::<c_void>();
                    let len = (functions.len)(vector);
                    count(len, *bound, *field, sink)?;
                    let to = room(1, len, *field, sink)?;
                    if !to.is_null() {
                        (functions.read)(vector, to, len);
                    }
                }
            }
        }
    }
    Ok(())
}

#[inline]
fn room<S: Sink>(align: usize, len: usize, field: FieldId, sink: &mut S) -> Result<*mut u8, Stop> {
    sink.room(align, len).map_err(|why| Stop { field, why })
}

/// # Safety
/// `from` is readable for `run.len` bytes that nobody writes meanwhile.
#[inline]
unsafe fn copy<S: Sink>(from: *const u8, run: Run, field: FieldId, sink: &mut S) -> Outcome {
    let to = room(run.align, run.len, field, sink)?;
    if !to.is_null() {
        // SAFETY: `room` gave `run.len` bytes of the output, which cannot be part of a message; the caller answers for `from`.
        unsafe { bulk::copy(from, to, run.len) };
    }
    Ok(())
}

/// # Safety
/// As for [`copy`], with `len` bytes.
unsafe fn bools<S: Sink>(from: *const u8, len: usize, field: FieldId, sink: &mut S) -> Outcome {
    let to = room(1, len, field, sink)?;
    if !to.is_null() {
        for i in 0..len {
            // SAFETY: both have `len` bytes; read as bytes, because a message that was never initialised may hold any.
            unsafe { to.add(i).write(u8::from(from.add(i).read() != 0)) };
        }
    }
    Ok(())
}

/// Writes a 32-bit little-endian number.
fn number<S: Sink>(value: usize, len: usize, field: FieldId, sink: &mut S) -> Outcome {
    let value = u32::try_from(value).map_err(|_| Stop { field, why: Why::TooLong { len } })?;
    let to = room(4, 4, field, sink)?;
    if !to.is_null() {
        // SAFETY: `room` gave 4 bytes.
        unsafe { std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), to, 4) };
    }
    Ok(())
}

/// Checks and writes the count of a sequence.
fn count<S: Sink>(len: usize, bound: usize, field: FieldId, sink: &mut S) -> Outcome {
    if len > bound {
        return Err(Stop { field, why: Why::OverBound { len, bound } });
    }
    number(len, len, field, sink)
}

/// The characters of a string object, NULL only when there are none.
///
/// # Safety
/// `at` is a string object of that kind.
#[inline]
unsafe fn view(at: *const u8, access: StringAccess, bound: usize, field: FieldId) -> Result<Span, Stop> {
    let span = match access {
        // SAFETY: the caller says that this layout lies here.
        StringAccess::Struct => unsafe {
            let raw = at.cast::<RawSequence>();
            Span { data: (*raw).data, len: (*raw).size }
        },
        // SAFETY: the caller says that the object is of the class of these functions.
        StringAccess::Functions(functions) => unsafe { (functions.view)(at.cast()) },
    };
    if span.data.is_null() && span.len > 0 {
        return Err(Stop { field, why: Why::NullData { size: span.len } });
    }
    if span.len > bound {
        return Err(Stop { field, why: Why::OverBound { len: span.len, bound } });
    }
    Ok(span)
}

/// Length with the terminator, the bytes, the terminator. Bytes that are not UTF-8 pass unchanged.
///
/// # Safety
/// As for [`view`].
unsafe fn string<S: Sink>(at: *const u8, access: StringAccess, bound: usize, field: FieldId, sink: &mut S) -> Outcome {
    // SAFETY: the caller's promise.
    let span = unsafe { view(at, access, bound, field)? };
    number(span.len.saturating_add(1), span.len, field, sink)?;
    let to = room(1, span.len + 1, field, sink)?;
    if to.is_null() {
        return Ok(());
    }
    // SAFETY: `room` gave len + 1 bytes; the string holds `len` of them, and NULL stands only with 0, where nothing is read.
    let written = unsafe {
        if span.len > 0 {
            bulk::copy(span.data.cast::<u8>(), to, span.len);
        }
        to.add(span.len).write(0);
        std::slice::from_raw_parts(to, span.len)
    };
    match memchr(written) {
        Some(at) => Err(Stop { field, why: Why::NulInString { at } }),
        None => Ok(()),
    }
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    // SAFETY: the slice is readable for its length.
    let hit = unsafe { libc::memchr(bytes.as_ptr().cast(), 0, bytes.len()) };
    (!hit.is_null()).then(|| hit as usize - bytes.as_ptr() as usize)
}

/// Number of units, then each unit as 32 bits: what the DDS middlewares of ROS write.
///
/// # Safety
/// As for [`view`].
unsafe fn wstring<S: Sink>(at: *const u8, access: StringAccess, bound: usize, field: FieldId, sink: &mut S) -> Outcome {
    // SAFETY: the caller's promise.
    let span = unsafe { view(at, access, bound, field)? };
    number(span.len, span.len, field, sink)?;
    let bytes = span.len.checked_mul(4).ok_or(Stop { field, why: Why::TooLong { len: span.len } })?;
    let to = room(4, bytes, field, sink)?;
    if !to.is_null() {
        for i in 0..span.len {
            // SAFETY: the string holds `len` units and `room` gave 4 bytes for each.
            unsafe {
                let unit = u32::from(span.data.cast::<u16>().add(i).read_unaligned());
                to.add(4 * i).cast::<u32>().write_unaligned(unit.to_le());
            }
        }
    }
    Ok(())
}

/// # Safety
/// `at` is a sequence object of that kind, with elements of that kind.
unsafe fn sequence<S: Sink>(
    at: *const u8,
    access: &SequenceAccess,
    bound: usize,
    element: &Element,
    field: FieldId,
    sink: &mut S,
) -> Outcome {
    // SAFETY: the caller's promise.
    let (data, len) = unsafe { elements(at, access) };
    count(len, bound, field, sink)?;
    if len == 0 {
        return Ok(());
    }
    if data.is_null() {
        return Err(Stop { field, why: Why::NullData { size: len } });
    }
    let bytes = |each: usize| len.checked_mul(each).ok_or(Stop { field, why: Why::TooLong { len } });
    // SAFETY: `len` elements lie at `data`, each as large as `element` says.
    unsafe {
        match element {
            Element::Run(run) => copy(data, Run { len: bytes(run.len)?, align: run.align }, field, sink),
            Element::Bools => bools(data, len, field, sink),
            Element::Program { stride, body } => (0..len).try_for_each(|i| walk(body, data.add(i * stride), sink)),
        }
    }
}

/// First element (unspecified when there is none) and number of elements.
///
/// # Safety
/// `at` is a sequence object of that kind.
#[inline]
unsafe fn elements(at: *const u8, access: &SequenceAccess) -> (*const u8, usize) {
    match access {
        // SAFETY: the caller says that this layout lies here.
        SequenceAccess::Struct { .. } => unsafe {
            let raw = at.cast::<RawSequence>();
            ((*raw).data.cast_const().cast(), (*raw).size)
        },
        // SAFETY: the caller says that the object is of the class of these functions; element 0 is asked for only where it is.
        SequenceAccess::Functions { size, get_const, .. } => unsafe {
            match size(at.cast()) {
                0 => (std::ptr::null(), 0),
                len => (get_const(at.cast(), 0).cast(), len),
            }
        },
    }
}
