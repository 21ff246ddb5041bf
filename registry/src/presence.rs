//! Entering and leaving a domain's directory.
//!
//! Byte 0 of the file `lock` is held shared by everyone who lives in the domain.
//! 1. Who gets it exclusively on the file *that the path still names* is alone: it may unlink everything else, and as
//!    its last act the lock file itself. Nobody else ever unlinks the lock file, so while any holder exists, the file
//!    stays named.
//! 2. The first one in wipes what the dead left, creates the registry and only then shares the lock.
//! 3. Who shares the lock but finds no finished registry met a maker that died: it lets go and starts again, and
//!    whoever then is alone makes a new one.
//! 4. The last one out unlinks the files, then the lock file, then tries to remove the directory; from the second step
//!    on a newcomer may already be building there, so only the directory itself, if empty, is touched.
//!
//! Death anywhere: the kernel drops the lock, and rule 2 covers every intermediate state.

use crate::error::JoinError;
use crate::layout::{Header, Identity, Map, FILE, HEADER_LEN, LAYOUT_VERSION, REGISTRY_LEN};
use crate::{holders, JoinOptions};
use shoal_shm::crash_point;
use shoal_shm::lock::LockFile;
use shoal_shm::segment::{DomainDir, OpenError, Segment};
use std::io;
use std::time::{Duration, Instant};

pub(crate) const LOCK: &str = "lock";
pub(crate) const PRESENCE: u64 = 0;
const PATIENCE: Duration = Duration::from_secs(5);

/// A foot in the door: the presence lock is held shared, the registry is mapped.
pub(crate) struct Entered {
    pub(crate) dir: DomainDir,
    pub(crate) lock: LockFile,
    pub(crate) map: Map,
}

/// Enters the domain; waits at most five seconds for others who are setting it up or removing it.
pub(crate) fn enter(o: &JoinOptions) -> Result<Entered, JoinError> {
    let start = Instant::now();
    // Different processes retry at different times.
    let mut pause = Duration::from_micros(200 + u64::from(std::process::id()) * 37 % 300);
    loop {
        let path = match try_enter(o)? {
            Attempt::In(entered) => return Ok(entered),
            Attempt::Again(path) => path,
        };
        if start.elapsed() >= PATIENCE {
            let path = path.join(LOCK);
            return Err(JoinError::Busy { waited: start.elapsed(), who: holders::describe(&path), path });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

enum Attempt {
    In(Entered),
    Again(std::path::PathBuf),
}

fn try_enter(o: &JoinOptions) -> Result<Attempt, JoinError> {
    let dir = DomainDir::open_or_create(&o.root, o.access, &o.domain)?;
    let fail = |what, source| JoinError::Io { what, path: dir.path().to_owned(), source };
    let again = || Ok(Attempt::Again(dir.path().to_owned()));
    let lock = match LockFile::open(&dir, LOCK) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return again(),
        other => other.map_err(|e| fail("open the lock file", e))?,
    };
    crash_point!("registry.join.opened");
    let alone = lock.try_exclusive(PRESENCE).map_err(|e| fail("lock", e))?;
    let inside = alone || lock.try_shared(PRESENCE).map_err(|e| fail("lock", e))?;
    if !inside || !lock.still_named(&dir, LOCK) {
        return again();
    }
    crash_point!("registry.join.inside");
    let found = if alone { settle(&dir, &lock).map(Some) } else { open(&dir, &lock) };
    match found {
        Ok(Some(map)) => Ok(Attempt::In(Entered { dir, lock, map })),
        Ok(None) => again(),
        Err(e) => {
            exit(&dir, &lock);
            Err(e)
        }
    }
}

/// Alone: wipes the leftovers of the dead, of whatever layout, and creates the registry.
fn settle(dir: &DomainDir, lock: &LockFile) -> Result<Map, JoinError> {
    wipe(dir);
    crash_point!("registry.join.wiped");
    let segment = Segment::create_sparse(dir, FILE, REGISTRY_LEN)?;
    let map = Map::new(segment).ok_or_else(|| JoinError::Damaged { path: dir.path().join(FILE) })?;
    map.commit_base()?;
    crash_point!("registry.join.committed");
    map.header().seal();
    crash_point!("registry.join.sealed");
    let fail = |source| JoinError::Io { what: "share the lock", path: dir.path().to_owned(), source };
    match lock.try_shared(PRESENCE).map_err(fail)? {
        true => Ok(map),
        false => Err(fail(io::Error::other("the exclusive lock was lost"))),
    }
}

/// Others live here: maps their registry; `None` when it is unfinished (rule 3).
fn open(dir: &DomainDir, lock: &LockFile) -> Result<Option<Map>, JoinError> {
    let path = || dir.path().join(FILE);
    let segment = match Segment::open_rw(dir, FILE, REGISTRY_LEN) {
        Ok(segment) => segment,
        Err(OpenError::Missing { .. }) => return Ok(None),
        Err(OpenError::TooSmall { .. }) => match Segment::open_rw(dir, FILE, HEADER_LEN) {
            Ok(head) => head,
            Err(OpenError::Missing { .. } | OpenError::TooSmall { .. }) => return Ok(None),
            Err(e) => return Err(e.into()),
        },
        Err(e) => return Err(e.into()),
    };
    let identity = segment.words(0, HEADER_LEN / 8).and_then(Header::of).map(|h| h.identity());
    match identity {
        None | Some(Identity::Unfinished) => Ok(None),
        Some(Identity::Ours) => Map::new(segment).map(Some).ok_or_else(|| JoinError::Damaged { path: path() }),
        Some(Identity::Damaged) => Err(JoinError::Damaged { path: path() }),
        // A leftover of the dead refuses nobody: only while others are here is the version theirs.
        Some(Identity::OtherVersion(_)) if !lock.is_held_by_another(PRESENCE).unwrap_or(true) => Ok(None),
        Some(Identity::OtherVersion(theirs)) => Err(JoinError::Version { path: path(), theirs, ours: LAYOUT_VERSION }),
    }
}

/// Gives up the presence; the last one out removes everything.
pub(crate) fn exit(dir: &DomainDir, lock: &LockFile) {
    // Let go first: of two that leave at once, the one that tries later finds itself alone.
    lock.unlock(PRESENCE);
    crash_point!("registry.leave.unlocked");
    if lock.try_exclusive(PRESENCE).unwrap_or(false) && lock.still_named(dir, LOCK) {
        wipe(dir);
        crash_point!("registry.leave.wiped");
        // Whether it succeeds or not, the next one in finds nobody here.
        let _ = dir.unlink(LOCK);
        dir.remove_self();
    }
    lock.unlock(PRESENCE);
}

/// Removes the domains beside `own` whose names start with `prefix` and in which nobody lives any more. Whoever is just
/// setting one up starts again, as after any last one out.
pub(crate) fn clear_deserted(o: &JoinOptions, own: &DomainDir, prefix: &str) {
    let siblings = own.path().parent().and_then(|parent| std::fs::read_dir(parent).ok());
    for entry in siblings.into_iter().flatten().flatten() {
        let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
        if !name.starts_with(prefix) || Some(entry.file_name().as_os_str()) == own.path().file_name() {
            continue;
        }
        let Ok(dir) = DomainDir::open_or_create(&o.root, o.access, &name) else { continue };
        if let Ok(lock) = LockFile::open(&dir, LOCK) {
            exit(&dir, &lock);
        }
    }
}

fn wipe(dir: &DomainDir) {
    for name in dir.names().unwrap_or_default() {
        if name != LOCK {
            // What cannot be removed and is in the way makes the creation fail, with its path in the message.
            let _ = dir.unlink(&name);
        }
    }
}
