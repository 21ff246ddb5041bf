//! Bytes → message. The bytes may be written by another process while they are read: each is copied once, raw, and what
//! is checked is the copy. A count is compared with the bytes that are left before any memory is asked for.

use std::ffi::c_void;

use super::access::{BoolVectorFunctions, RawSequence, Resize, SequenceAccess, StringAccess};
use super::bulk;
use super::program::{Element, FieldId, Op, Program, Run};

/// Why the walk stopped, at which field.
pub(super) struct Stop {
    pub field: FieldId,
    pub why: Why,
}

pub(super) enum Why {
    Truncated { needed: usize, left: usize },
    OverBound { len: usize, bound: usize },
    NotTerminated,
    Value(u32),
    Allocation { len: usize },
}

type Outcome = Result<(), Stop>;

/// The body: a position that never passes the end.
struct Reader {
    body: *const u8,
    len: usize,
    at: usize,
}

impl Reader {
    fn left(&self) -> usize {
        self.len - self.at
    }

    /// Aligns, then takes `len` bytes: they are readable at the result.
    #[inline]
    fn take(&mut self, align: usize, len: usize, field: FieldId) -> Result<*const u8, Stop> {
        let start = self.at.next_multiple_of(align);
        match start.checked_add(len).filter(|end| *end <= self.len) {
            Some(end) => {
                self.at = end;
                Ok(self.body.wrapping_add(start))
            }
            None => {
                let needed = (start - self.at).saturating_add(len);
                Err(Stop { field, why: Why::Truncated { needed, left: self.left() } })
            }
        }
    }

    #[inline]
    fn number<const SWAP: bool>(&mut self, field: FieldId) -> Result<u32, Stop> {
        let from = self.take(4, 4, field)?;
        // SAFETY: `take` gave 4 readable bytes.
        let value = unsafe { from.cast::<u32>().read_unaligned() };
        Ok(if SWAP { value.swap_bytes() } else { value })
    }

    /// A count of elements that take at least `each` bytes, of which `bound` are allowed.
    #[inline]
    fn count<const SWAP: bool>(&mut self, each: usize, bound: usize, field: FieldId) -> Result<usize, Stop> {
        let len = self.number::<SWAP>(field)? as usize;
        let needed = len.saturating_mul(each);
        if needed > self.left() {
            return Err(Stop { field, why: Why::Truncated { needed, left: self.left() } });
        }
        within(len, bound, field)?;
        Ok(len)
    }
}

#[inline]
fn within(len: usize, bound: usize, field: FieldId) -> Outcome {
    if len > bound {
        return Err(Stop { field, why: Why::OverBound { len, bound } });
    }
    Ok(())
}

/// Reads a body. `SWAP` is for the other byte order and needs a program that
/// was compiled without joining.
///
/// # Safety
/// `body` is readable for `len` bytes; `msg` is a valid message of the program's type that nobody else uses meanwhile.
pub(super) unsafe fn decode<const SWAP: bool>(program: &Program, body: *const u8, len: usize, msg: *mut u8) -> Outcome {
    let mut reader = Reader { body, len, at: 0 };
    // SAFETY: the caller's promise.
    unsafe { walk::<SWAP>(program, &mut reader, msg) }
}

/// # Safety
/// `msg` is a valid structure of the program's type that nobody else uses meanwhile.
unsafe fn walk<const SWAP: bool>(program: &Program, reader: &mut Reader, msg: *mut u8) -> Outcome {
    for op in &program.ops {
        // SAFETY: the compiler checked that every operation lies inside the structure at `msg`, and that the field
        // there is of the kind the operation is for.
        unsafe {
            match op {
                Op::Run { mem, run, field } => copy::<SWAP>(reader, *run, run.align, msg.add(*mem), *field)?,
                Op::Bools { mem, count, field } => bools(reader, *count, msg.add(*mem), *field)?,
                Op::String { mem, access, bound, field } => {
                    string::<SWAP>(reader, *access, *bound, msg.add(*mem), *field)?
                }
                Op::WString { mem, access, bound, field } => {
                    wstring::<SWAP>(reader, *access, *bound, msg.add(*mem), *field)?
                }
                Op::Repeat { mem, count, stride, body } => {
                    for i in 0..*count {
                        walk::<SWAP>(body, reader, msg.add(*mem + i * stride))?;
                    }
                }
                Op::Sequence { mem, access, bound, element, field } => {
                    sequence::<SWAP>(reader, access, *bound, element, msg.add(*mem), *field)?
                }
                Op::BoolVector { mem, functions, bound, field } => {
                    bool_vector::<SWAP>(reader, functions, *bound, msg.add(*mem), *field)?
                }
            }
        }
    }
    Ok(())
}

/// # Safety
/// `to` is writable for `run.len` bytes.
#[inline]
unsafe fn copy<const SWAP: bool>(reader: &mut Reader, run: Run, width: usize, to: *mut u8, field: FieldId) -> Outcome {
    let from = reader.take(run.align, run.len, field)?;
    // SAFETY: both are good for `run.len` bytes; a body is never part of a message of this process.
    unsafe {
        bulk::copy(from, to, run.len);
        if SWAP && width > 1 {
            std::slice::from_raw_parts_mut(to, run.len).chunks_exact_mut(width).for_each(<[u8]>::reverse);
        }
    }
    Ok(())
}

/// # Safety
/// `to` is writable for `len` bytes, which are booleans.
unsafe fn bools(reader: &mut Reader, len: usize, to: *mut u8, field: FieldId) -> Outcome {
    let from = reader.take(1, len, field)?;
    for i in 0..len {
        // SAFETY: both are good for `len` bytes; only 0 and 1 are ever written where a boolean lies.
        unsafe {
            let value = from.add(i).read();
            if value > 1 {
                return Err(Stop { field, why: Why::Value(value.into()) });
            }
            to.add(i).write(value);
        }
    }
    Ok(())
}

/// # Safety
/// `at` is a valid vector object of the class of these functions.
unsafe fn bool_vector<const SWAP: bool>(
    reader: &mut Reader,
    functions: &BoolVectorFunctions,
    bound: usize,
    at: *mut u8,
    field: FieldId,
) -> Outcome {
    let len = reader.count::<SWAP>(1, bound, field)?;
    let from = reader.take(1, len, field)?;
    // SAFETY: `take` gave `len` readable bytes. A byte that changes after the check still becomes some valid boolean.
    unsafe {
        for i in 0..len {
            let value = from.add(i).read();
            if value > 1 {
                return Err(Stop { field, why: Why::Value(value.into()) });
            }
        }
        if !(functions.write)(at.cast(), from, len) {
            return Err(Stop { field, why: Why::Allocation { len } });
        }
    }
    Ok(())
}

/// # Safety
/// `at` is a valid string object of that kind.
unsafe fn string<const SWAP: bool>(
    reader: &mut Reader,
    access: StringAccess,
    bound: usize,
    at: *mut u8,
    field: FieldId,
) -> Outcome {
    let len = reader.count::<SWAP>(1, usize::MAX, field)?;
    let from = reader.take(1, len, field)?;
    let len = match len.checked_sub(1) {
        // SAFETY: `take` gave len + 1 readable bytes.
        Some(len) if unsafe { from.add(len).read() } != 0 => return Err(Stop { field, why: Why::NotTerminated }),
        Some(len) => len,
        // No terminator at all is how some implementations write the empty string.
        None => 0,
    };
    within(len, bound, field)?;
    // SAFETY: `resize` gives room for `len` bytes and the body has them.
    unsafe {
        let to = resize_string(at, access, len, 1, field)?;
        bulk::copy(from, to, len);
    }
    Ok(())
}

/// # Safety
/// As for [`string`].
unsafe fn wstring<const SWAP: bool>(
    reader: &mut Reader,
    access: StringAccess,
    bound: usize,
    at: *mut u8,
    field: FieldId,
) -> Outcome {
    let len = reader.count::<SWAP>(4, bound, field)?;
    let from = reader.take(4, len * 4, field)?;
    // SAFETY: `resize` gives room for `len` units; the body has 4 bytes for each.
    unsafe {
        let to = resize_string(at, access, len, 2, field)?.cast::<u16>();
        for i in 0..len {
            let wide = from.add(4 * i).cast::<u32>().read_unaligned();
            let wide = if SWAP { wide.swap_bytes() } else { wide };
            let unit = u16::try_from(wide).map_err(|_| Stop { field, why: Why::Value(wide) })?;
            to.add(i).write_unaligned(unit);
        }
    }
    Ok(())
}

/// Gives a string a length in units of `width` bytes and its terminator; where to write the units.
///
/// # Safety
/// `at` is a valid string object of that kind.
unsafe fn resize_string(
    at: *mut u8,
    access: StringAccess,
    len: usize,
    width: usize,
    field: FieldId,
) -> Result<*mut u8, Stop> {
    let data = match access {
        // SAFETY: the caller says that this layout lies here.
        StringAccess::Struct => unsafe { resize_raw_string(at.cast(), len, width) },
        // SAFETY: the caller says that the object is of the class of these functions.
        StringAccess::Functions(functions) => unsafe { (functions.resize)(at.cast(), len).cast() },
    };
    if data.is_null() {
        return Err(Stop { field, why: Why::Allocation { len } });
    }
    Ok(data)
}

/// # Safety
/// `raw` is a valid C string object of units of `width` bytes, whose data came from `malloc`.
unsafe fn resize_raw_string(raw: *mut RawSequence, len: usize, width: usize) -> *mut u8 {
    // SAFETY: `realloc` gets what `malloc` gave, or NULL; `capacity` units are writable at `data`, more than `len`.
    // New memory is zeroed where the caller may stop early: a string never shows what was there before.
    unsafe {
        if (*raw).data.is_null() || (*raw).capacity <= len {
            let data = libc::realloc((*raw).data, (len + 1) * width);
            if data.is_null() {
                return std::ptr::null_mut();
            }
            std::ptr::write_bytes(data.cast::<u8>(), 0, (len + 1) * width);
            ((*raw).data, (*raw).capacity) = (data, len + 1);
        }
        (*raw).size = len;
        let data = (*raw).data.cast::<u8>();
        std::ptr::write_bytes(data.add(len * width), 0, width);
        data
    }
}

/// # Safety
/// `at` is a valid sequence object of that kind, with elements of that kind.
unsafe fn sequence<const SWAP: bool>(
    reader: &mut Reader,
    access: &SequenceAccess,
    bound: usize,
    element: &Element,
    at: *mut u8,
    field: FieldId,
) -> Outcome {
    let len = reader.count::<SWAP>(element.min_size(), bound, field)?;
    // SAFETY: the caller's promise.
    let data = unsafe { resize_sequence(at, access, len) };
    if len == 0 {
        return Ok(());
    }
    let data = data.ok_or(Stop { field, why: Why::Allocation { len } })?;
    // SAFETY: the container now has `len` initialised elements at `data`, each as large as `element` says. The
    // products cannot overflow: `len` elements of `min_size` fit the body.
    unsafe {
        match element {
            Element::Run(run) => {
                copy::<SWAP>(reader, Run { len: len * run.len, align: run.align }, run.align, data, field)
            }
            Element::Bools => bools(reader, len, data, field),
            Element::Program { stride, body } => {
                (0..len).try_for_each(|i| walk::<SWAP>(body, reader, data.add(i * stride)))
            }
        }
    }
}

/// Gives a sequence `len` elements, all initialised; where they are. `None` when memory is short, or there are none.
///
/// # Safety
/// `at` is a valid sequence object of that kind.
unsafe fn resize_sequence(at: *mut u8, access: &SequenceAccess, len: usize) -> Option<*mut u8> {
    let grow = |resize: &Resize| {
        // SAFETY: the binding's own function on its own container.
        unsafe { (resize.call)(resize.function, at.cast::<c_void>(), len) }
    };
    match access {
        SequenceAccess::Struct { resize } => {
            let raw = at.cast::<RawSequence>();
            // SAFETY: the caller says that this layout lies here. All elements up to the capacity are initialised.
            unsafe {
                if len <= (*raw).capacity {
                    (*raw).size = len;
                } else if !grow(resize) {
                    return None;
                }
                Some((*raw).data.cast::<u8>()).filter(|data| !data.is_null())
            }
        }
        // SAFETY: the caller says that the object is of the class of these functions; element 0 is asked for only where it is.
        SequenceAccess::Functions { size, get, resize, .. } => unsafe {
            if size(at.cast()) != len && !grow(resize) {
                return None;
            }
            (len > 0).then(|| get(at.cast(), 0).cast::<u8>()).filter(|data| !data.is_null())
        },
    }
}
