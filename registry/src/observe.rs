//! Looking at a domain without joining it: no entry, no lock, no store. The domain cannot tell that somebody looks.

use crate::context::life_byte;
use crate::find::{Detail, Usage};
use crate::layout::{ContextState, Header, HotCell, Identity, Map, FILE, HEADER_LEN, LAYOUT_VERSION, MAX_CONTEXTS};
use crate::presence::{LOCK, PRESENCE};
use shoal_shm::doorbell::Doorbell;
use shoal_shm::lock::LockFile;
use shoal_shm::segment::{Access, DirError, DomainDir, OpenError, View};
use shoal_shm::sync::Ordering;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The layout that this build reads and writes.
pub fn layout_version() -> u64 {
    LAYOUT_VERSION
}

/// Why a domain cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// Nobody has used the domain since the last process left it.
    #[error("nobody is in {path}")]
    Nobody {
        /// The domain directory.
        path: PathBuf,
    },
    /// The directory is not what it should be.
    #[error(transparent)]
    Dir(DirError),
    /// The registry file cannot be read.
    #[error(transparent)]
    Open(OpenError),
    /// Its nodes run on another version of rmw_shoal.
    #[error(
        "{path} has the shared-memory layout {theirs}, but this program reads layout {ours}; {alive} of its contexts are \
         alive. Use the program of the same release as those nodes"
    )]
    Version {
        /// The registry file.
        path: PathBuf,
        /// Its layout version.
        theirs: u64,
        /// Ours.
        ours: u64,
        /// How many contexts live there: that can be told of every layout.
        alive: usize,
    },
    /// The header holds values that no version writes, or is not finished.
    #[error("{path} is unfinished or damaged: whoever made it may have died; the next node that starts makes it anew")]
    Damaged {
        /// The registry file.
        path: PathBuf,
    },
    /// A system call failed.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

/// Where a context is in its life.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ContextLife {
    /// Its process lives and takes part.
    Alive,
    /// Its process lives, but has shut it down; somebody may still read what it wrote.
    Left,
    /// Nobody holds its lock: its process ended without leaving, or its last samples are still wanted.
    Dead,
}

/// A context as it is at this moment.
#[derive(Clone, Debug)]
pub struct ContextView {
    /// Its place in the table.
    pub index: u16,
    /// Its random id; its files are `<id as 16 hex digits>.<n>`.
    pub id: u64,
    /// By the kernel, not by the table.
    pub life: ContextLife,
    /// As its own PID namespace numbers it.
    pub pid: u32,
    /// As its own user namespace numbers it.
    pub uid: u32,
    /// Its enclave.
    pub enclave: String,
    /// How often somebody had to wake it (wraps at 2^30).
    pub rings: u32,
    /// Whether a thread of it sleeps, waiting to be woken.
    pub parked: bool,
}

/// A read-only look at one domain.
pub struct Observer {
    map: Map,
    lock: LockFile,
    dir: Arc<DomainDir>,
}

impl Observer {
    /// Looks into the domain `root/shoal-<uid>/domain` (or the group's).
    ///
    /// # Errors
    /// See [`ObserveError`]; that nobody is there is one of them.
    pub fn open(root: &Path, access: Access, domain: &str) -> Result<Observer, ObserveError> {
        let dir = match DomainDir::open(root, access, domain) {
            Err(DirError::Io { source, path, .. } | DirError::NoRoot { source, path })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                return Err(ObserveError::Nobody { path })
            }
            other => other.map_err(ObserveError::Dir)?,
        };
        let lock = match LockFile::open_to_look(&dir, LOCK) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(nobody(&dir)),
            other => other.map_err(|source| ObserveError::Io { path: dir.path_of(LOCK), source })?,
        };
        let view = match View::open(&dir, FILE) {
            Err(OpenError::Missing { .. }) => return Err(nobody(&dir)),
            other => other.map_err(ObserveError::Open)?,
        };
        let path = dir.path_of(FILE);
        match view.words(0, HEADER_LEN / 8).and_then(Header::of).map(|header| header.identity()) {
            Some(Identity::OtherVersion(theirs)) => {
                let alive = (0..MAX_CONTEXTS).filter(|&i| is_held(&lock, i)).count();
                return Err(ObserveError::Version { path, theirs, ours: LAYOUT_VERSION, alive });
            }
            Some(Identity::Ours) => {}
            _ => return Err(ObserveError::Damaged { path }),
        }
        let map = Map::read_only(view).ok_or(ObserveError::Damaged { path })?;
        Ok(Observer { map, lock, dir: Arc::new(dir) })
    }

    /// The domain's directory.
    pub fn dir(&self) -> &Arc<DomainDir> {
        &self.dir
    }

    /// Whether anybody lives in the domain.
    pub fn is_inhabited(&self) -> bool {
        self.lock.is_held_by_another(PRESENCE).unwrap_or(true)
    }

    /// Whether the path still leads here: the last one out removes the domain, and the next one in makes another.
    pub fn is_current(&self) -> bool {
        self.lock.still_named(&self.dir, LOCK)
    }

    /// Every context entry that is in use. One system call each.
    pub fn contexts(&self) -> Vec<ContextView> {
        (0..self.map.header().contexts_high()).filter_map(|index| self.context(index)).collect()
    }

    fn context(&self, index: usize) -> Option<ContextView> {
        let entry = self.map.context(index)?;
        let word = entry.word();
        let life = match word.state()? {
            ContextState::Free | ContextState::Claimed => return None,
            ContextState::Live if is_held(&self.lock, index) => ContextLife::Alive,
            ContextState::Left if is_held(&self.lock, index) => ContextLife::Left,
            ContextState::Live | ContextState::Left | ContextState::Dead => ContextLife::Dead,
        };
        let (pid, uid) = entry.process();
        let bell = entry.bell().map(Doorbell)?;
        let view = ContextView {
            index: index as u16,
            id: entry.id(),
            life,
            pid,
            uid,
            enclave: entry.enclave_of_any().unwrap_or_default(),
            rings: bell.rings(),
            parked: bell.is_parked(),
        };
        // Another tenant may have moved in while we read.
        (entry.word() == word).then_some(view)
    }

    /// What every node and endpoint says, whoever owns it and whether or not that lives.
    pub fn slots(&self) -> Vec<Detail> {
        self.map.details().collect()
    }

    /// The hot cell of a slot, to read: storing into it faults.
    pub fn hot(&self, index: u32) -> Option<&HotCell> {
        self.map.hot(index)
    }

    /// How full the domain is.
    pub fn usage(&self) -> Usage {
        self.map.usage()
    }

    /// Moves with every change of the graph.
    pub fn graph_generation(&self) -> u64 {
        self.map.header().graph_generation().load(Ordering::Acquire)
    }
}

/// Whether a context's sign of life is held. An error is no proof of death.
fn is_held(lock: &LockFile, index: usize) -> bool {
    lock.is_held_by_another(life_byte(index)).unwrap_or(true)
}

fn nobody(dir: &DomainDir) -> ObserveError {
    ObserveError::Nobody { path: dir.path().to_owned() }
}
