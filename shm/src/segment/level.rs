//! One level of the directories of a domain: opened, verified, made where it is missing.

use super::dir::{Access, ATTEMPTS};
use super::error::DirError;
use super::sys;
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{fchown, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Opens a directory level and verifies it, creating it where it is missing.
pub(super) fn enter(base: &File, name: &str, path: &Path, access: Access) -> Result<File, DirError> {
    for _ in 0..ATTEMPTS {
        match sys::open_at(base, name, libc::O_RDONLY | libc::O_DIRECTORY, 0) {
            Ok(dir) => return verify(dir, path, access),
            Err(error) if error.kind() == io::ErrorKind::NotFound => create_level(base, name, path, access)?,
            Err(error) => return Err(not_opened(base, name, path, access, error)),
        }
    }
    Err(DirError::Io { what: "keep", path: path.to_owned(), source: io::Error::other("it is removed again and again") })
}

pub(super) fn verify(dir: File, path: &Path, access: Access) -> Result<File, DirError> {
    let path = path.to_owned();
    let found = match dir.metadata() {
        Ok(found) => found,
        Err(source) => return Err(DirError::Io { what: "examine", path, source }),
    };
    if let Some((owner, me)) = access.stranger(&found) {
        return Err(DirError::NotOwner { path, owner, me });
    }
    let (mode, wanted) = (found.mode() & 0o7777, access.directory_mode());
    // A setgid bit inherited from the root is harmless where the group has no permission.
    if mode != wanted && (access != Access::Owner || mode & 0o777 != wanted) {
        return Err(DirError::Mode { path, mode, wanted });
    }
    Ok(dir)
}

/// Why a directory cannot be opened: looks at what stands there.
pub(super) fn not_opened(base: &File, name: &str, path: &Path, access: Access, source: io::Error) -> DirError {
    let path = path.to_owned();
    let found = sys::open_at(base, name, libc::O_PATH, 0).and_then(|there| there.metadata());
    match found {
        Ok(found) if found.file_type().is_symlink() => DirError::Symlink { path },
        Ok(found) if !found.is_dir() => DirError::NotDirectory { path },
        Ok(found) => match access.stranger(&found) {
            Some((owner, me)) => DirError::NotOwner { path, owner, me },
            None => not_member(path, access, source).unwrap_or_else(|(path, source)| cannot_open(path, source)),
        },
        Err(_) => cannot_open(path, source),
    }
}

fn cannot_open(path: PathBuf, source: io::Error) -> DirError {
    DirError::Io { what: "open", path, source }
}

/// What the system refuses to who is not in the domain's group: to enter its directory, to make one for it.
fn not_member(path: PathBuf, access: Access, source: io::Error) -> Result<DirError, (PathBuf, io::Error)> {
    match (access, source.kind()) {
        (Access::Group(gid), io::ErrorKind::PermissionDenied) => Ok(DirError::NotMember { path, gid, source }),
        _ => Err((path, source)),
    }
}

/// Makes a directory under a temporary name and gives it its name when it is finished; that somebody else was faster
/// is fine. Dying in between leaves an empty directory that nobody looks at until [`remove_unfinished`].
fn create_level(base: &File, name: &str, path: &Path, access: Access) -> Result<(), DirError> {
    let fail = |source| DirError::Create { path: path.to_owned(), source };
    let temporary = sys::temporary_name(name).map_err(fail)?;
    sys::mkdir_at(base, &temporary).map_err(fail)?;
    crate::crash_point!("dir.made");
    let finished = finish_level(base, &temporary, access).and_then(|()| sys::rename_new(base, &temporary, name));
    finished.or_else(|source| {
        let _ = sys::unlink_at(base, &temporary, libc::AT_REMOVEDIR);
        match source.kind() {
            // The latter: somebody took ours for a dead one's; the caller looks again.
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound => Ok(()),
            _ => Err(not_member(path.to_owned(), access, source)
                .unwrap_or_else(|(path, source)| DirError::Create { path, source })),
        }
    })
}

fn finish_level(base: &File, temporary: &str, access: Access) -> io::Result<()> {
    // First for ourselves: the umask may have taken away our own right to open it.
    sys::chmod_at(base, temporary, 0o700)?;
    let dir = sys::open_at(base, temporary, libc::O_RDONLY | libc::O_DIRECTORY, 0)?;
    if let Access::Group(gid) = access {
        fchown(&dir, None, Some(gid))?;
    }
    dir.set_permissions(Permissions::from_mode(access.directory_mode()))
}

/// Removes the unfinished directories of names that `is_ours` picks. One of a creator that lives may be among them: it then
/// starts again.
pub(super) fn remove_unfinished(base: &File, is_ours: impl Fn(&str) -> bool) {
    for name in sys::names(base).unwrap_or_default() {
        if sys::finished_name(&name).is_some_and(&is_ours) {
            // Only an empty directory goes; another's is none of ours.
            let _ = sys::unlink_at(base, &name, libc::AT_REMOVEDIR);
        }
    }
}
