//! A segment of our own: read-write, on a file or on the heap.

use super::dir::{DomainDir, Sharing};
use super::error::{CreateError, OpenError};
use super::map::{Mapping, Protection};
use super::sys;
use crate::sync::{words_at, AtomicU64, HeapWords};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Memory this process may write: a mapped file, or zeroed heap memory for tests and models. Dropping it unmaps; the
/// file stays until it is unlinked.
pub struct Segment {
    memory: Memory,
    len: usize,
}

enum Memory {
    Mapped { map: Mapping, file: File, path: PathBuf },
    Heap(HeapWords),
}

impl Segment {
    /// Creates a file of `len` bytes, reserves all its pages and maps it. Others can only read it.
    ///
    /// # Errors
    /// The name is taken, the file system is full, or the system refuses. No file is left behind.
    pub fn create(dir: &DomainDir, name: &str, len: usize) -> Result<Segment, CreateError> {
        Segment::create_with(dir, name, len, len, Sharing::Read)
    }

    /// Creates a file of `len` bytes without reserving its pages: [`commit`](Self::commit) a range before touching it.
    /// Others may write it, too ([`open_rw`](Self::open_rw)).
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_sparse(dir: &DomainDir, name: &str, len: usize) -> Result<Segment, CreateError> {
        Segment::create_with(dir, name, len, 0, Sharing::Written)
    }

    fn create_with(
        dir: &DomainDir,
        name: &str,
        len: usize,
        committed: usize,
        shared: Sharing,
    ) -> Result<Segment, CreateError> {
        let path = dir.path_of(name);
        let file = dir.create_file(name, shared).map_err(|source| creation_failed("create", len, &path, source))?;
        crate::crash_point!("segment.created");
        Segment::fill(file, path, len, committed).inspect_err(|_| {
            let _ = dir.unlink(name);
        })
    }

    fn fill(file: File, path: PathBuf, len: usize, committed: usize) -> Result<Segment, CreateError> {
        file.set_len(len as u64).map_err(|source| creation_failed("set the length of", len, &path, source))?;
        sys::allocate(&file, 0, committed as u64)
            .map_err(|source| creation_failed("reserve the pages of", committed, &path, source))?;
        let map = Mapping::new(&file, len, Protection::ReadWrite).map_err(|source| CreateError::AddressSpace {
            needed: len as u64,
            path: path.clone(),
            source,
        })?;
        Ok(Segment { memory: Memory::Mapped { map, file, path }, len })
    }

    /// Maps the first `len` bytes of an existing file read-write (the registry, which all of a domain share).
    ///
    /// # Errors
    /// The file is missing, a symlink, not regular, a stranger's, shorter than `len`, or cannot be mapped.
    pub fn open_rw(dir: &DomainDir, name: &str, len: usize) -> Result<Segment, OpenError> {
        let (file, found) = dir.open_file(name, libc::O_RDWR)?;
        let path = dir.path_of(name);
        if found.len() < len as u64 {
            return Err(OpenError::TooSmall { path, len: found.len(), needed: len as u64 });
        }
        let map = Mapping::new(&file, len, Protection::ReadWrite).map_err(|source| OpenError::AddressSpace {
            needed: len as u64,
            path: path.clone(),
            source,
        })?;
        Ok(Segment { memory: Memory::Mapped { map, file, path }, len })
    }

    /// Zeroed heap memory of `len` bytes (rounded up to words), for tests and models.
    pub fn heap(len: usize) -> Segment {
        let words = len.div_ceil(8);
        Segment { memory: Memory::Heap(HeapWords::new(words)), len: words * 8 }
    }

    /// Reserves the pages under a byte range of the file; what is reserved already keeps its content.
    ///
    /// # Errors
    /// The range is outside, or the file system is full: then part of the range may have been reserved.
    pub fn commit(&self, off: usize, len: usize) -> Result<(), CreateError> {
        let Memory::Mapped { file, path, .. } = &self.memory else { return Ok(()) };
        if off.checked_add(len).is_none_or(|end| end > self.len) {
            let source = io::Error::from_raw_os_error(libc::EINVAL);
            return Err(CreateError::Io { what: "reserve pages beyond the end of", path: path.clone(), source });
        }
        sys::allocate(file, off as u64, len as u64)
            .map_err(|source| creation_failed("reserve pages of", len, path, source))
    }

    /// Gives the whole pages inside a byte range back to the file system and answers whether it took them. They read as
    /// zeros and must be committed again before use: on a full file system touching them would be SIGBUS.
    pub fn punch(&self, off: usize, len: usize) -> bool {
        let page = sys::page_size();
        let Some(end) = off.checked_add(len).filter(|&end| end <= self.len) else { return false };
        let (start, end) = (off.next_multiple_of(page), end / page * page);
        if start >= end {
            return false;
        }
        match &self.memory {
            Memory::Mapped { file, .. } => sys::punch(file, start as u64, (end - start) as u64).is_ok(),
            Memory::Heap(heap) => {
                let words = &heap.words()[start / 8..end / 8];
                words.iter().for_each(|word| word.store(0, crate::sync::Ordering::Relaxed));
                true
            }
        }
    }

    /// `n` words from byte `off` on, if they are 8-aligned and inside.
    pub fn words(&self, off: usize, n: usize) -> Option<&[AtomicU64]> {
        let bytes = n.checked_mul(8)?;
        match &self.memory {
            Memory::Heap(heap) if off % 8 == 0 => heap.words().get(off / 8..(off.checked_add(bytes)?) / 8),
            Memory::Heap(_) => None,
            Memory::Mapped { .. } => {
                let at = self.bytes_mut_ptr(off, bytes)?;
                // SAFETY: the range lies in the mapping, which lives as long as `self`; words are accessed atomically,
                // or by the protocol's single writer.
                unsafe { words_at(at, n) }
            }
        }
    }

    /// The address of `len` bytes from `off` on, if they are inside.
    pub fn bytes_mut_ptr(&self, off: usize, len: usize) -> Option<*mut u8> {
        if off.checked_add(len)? > self.len {
            return None;
        }
        let start = match &self.memory {
            Memory::Mapped { map, .. } => map.start(),
            Memory::Heap(heap) => heap.bytes(),
        };
        // SAFETY: `off` is at most the length of the memory.
        Some(unsafe { start.add(off) })
    }

    /// Whether no page was found gone so far: the file was cut short, or a page was touched that was not reserved and for
    /// which there is no room. Such a page reads as zeros, and what is stored there nobody else sees.
    pub fn is_whole(&self) -> bool {
        match &self.memory {
            Memory::Mapped { map, .. } => map.is_whole(),
            Memory::Heap(_) => true,
        }
    }

    /// Bytes, committed or not.
    #[allow(clippy::len_without_is_empty, reason = "a size in bytes, not a collection")]
    pub fn len(&self) -> usize {
        self.len
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place: &Path = match &self.memory {
            Memory::Mapped { path, .. } => path,
            Memory::Heap(_) => Path::new("heap"),
        };
        f.debug_struct("Segment").field("at", &place).field("len", &self.len).finish()
    }
}

fn creation_failed(what: &'static str, needed: usize, path: &Path, source: io::Error) -> CreateError {
    let path = path.to_owned();
    match source.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT | libc::ENOMEM) => {
            CreateError::NoSpace { needed: needed as u64, what: "shared memory", path, source }
        }
        Some(libc::EEXIST) => CreateError::Exists { path },
        _ => CreateError::Io { what, path, source },
    }
}
