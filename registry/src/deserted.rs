//! Domains in which nobody lives any more, but whose files are still there: all of their processes were killed.

use crate::observe::ObserveError;
use crate::presence::{exit, LOCK, PRESENCE};
use shoal_shm::lock::LockFile;
use shoal_shm::segment::{Access, DirError, DomainDir};
use std::io;
use std::path::Path;

/// A domain directory that nobody holds.
pub struct Deserted {
    dir: DomainDir,
}

impl Deserted {
    /// The domain's directory, if it is there and nobody lives in it, of whatever layout version. Changes nothing.
    ///
    /// # Errors
    /// The directory or its lock file cannot be examined.
    pub fn find(root: &Path, access: Access, domain: &str) -> Result<Option<Deserted>, ObserveError> {
        let dir = match DomainDir::open(root, access, domain) {
            Err(DirError::Io { source, .. } | DirError::NoRoot { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                return Ok(None)
            }
            other => other.map_err(ObserveError::Dir)?,
        };
        let fail = |source| ObserveError::Io { path: dir.path_of(LOCK), source };
        let held = match LockFile::open_to_look(&dir, LOCK) {
            // Its maker died before it had one, or is just at it; `remove` finds out.
            Err(e) if e.kind() == io::ErrorKind::NotFound => false,
            other => other.map_err(fail)?.is_held_by_another(PRESENCE).map_err(fail)?,
        };
        Ok((!held).then_some(Deserted { dir }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Removes it as the last one out would have done. False when somebody has moved in meanwhile.
    ///
    /// # Errors
    /// The lock file cannot be opened.
    pub fn remove(self) -> io::Result<bool> {
        let lock = LockFile::open(&self.dir, LOCK)?;
        exit(&self.dir, &lock);
        Ok(!self.dir.is_current())
    }
}
