//! A peer's segment, mapped read-only.

use super::dir::DomainDir;
use super::error::OpenError;
use super::map::{Mapping, Protection};
use crate::sync::{words_at, AtomicU64};

/// A read-only mapping of another context's segment. What it shows may change at any time and may be nonsense: callers
/// check every value they take from it. It stays valid after its file was unlinked.
#[derive(Debug)]
pub struct View {
    map: Mapping,
}

impl View {
    /// Maps a file as long as it is now. The length is taken from the opened file, never from shared memory.
    ///
    /// # Errors
    /// The file is missing, a symlink, not regular, a stranger's or empty, or cannot be mapped.
    pub fn open(dir: &DomainDir, name: &str) -> Result<View, OpenError> {
        let (file, found) = dir.open_file(name, libc::O_RDONLY)?;
        let path = dir.path_of(name);
        if found.len() == 0 {
            return Err(OpenError::TooSmall { path, len: 0, needed: 1 });
        }
        let too_big = |path| OpenError::AddressSpace {
            needed: found.len(),
            path,
            source: std::io::Error::from_raw_os_error(libc::ENOMEM),
        };
        let len = usize::try_from(found.len()).map_err(|_| too_big(path.clone()))?;
        let map = Mapping::new(&file, len, Protection::Read).map_err(|source| OpenError::AddressSpace {
            needed: found.len(),
            path,
            source,
        })?;
        Ok(View { map })
    }

    /// `n` words from byte `off` on, if they are 8-aligned and inside. Loads only: a store would fault.
    pub fn words(&self, off: usize, n: usize) -> Option<&[AtomicU64]> {
        let at = self.bytes_ptr(off, n.checked_mul(8)?)?;
        // SAFETY: the range lies in the mapping, which lives as long as `self`; peers change it with atomics only, and
        // the documented contract is that callers only load.
        unsafe { words_at(at, n) }
    }

    /// The address of `len` bytes from `off` on, if they are inside. Peers may write them while they are read, unless a
    /// protocol (a hazard) says otherwise; so no reference is made to them here.
    pub fn bytes_ptr(&self, off: usize, len: usize) -> Option<*const u8> {
        if off.checked_add(len)? > self.map.len() {
            return None;
        }
        // SAFETY: `off` is at most the length of the mapping.
        Some(unsafe { self.map.start().add(off) })
    }

    /// Whether no page was found gone so far. One that is (the file was cut short) reads as zeros.
    pub fn is_whole(&self) -> bool {
        self.map.is_whole()
    }

    /// Mapped bytes.
    #[allow(clippy::len_without_is_empty, reason = "an empty file is refused by open")]
    pub fn len(&self) -> usize {
        self.map.len()
    }
}
