//! The directory of a domain: `<root>/shoal-<euid>/<domain>`, verified once, then used by descriptor.

use super::error::{DirError, OpenError};
use super::level::{self, enter, not_opened, verify};
use super::sys;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Who may join a domain.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// Processes of the same effective user: directory 0700, files 0600.
    Owner,
    /// Members of this group id: directory 2770, files 0660.
    Group(u32),
}

impl Access {
    /// The directory below the root that holds their domains.
    pub fn directory_name(self) -> String {
        match self {
            Access::Owner => format!("shoal-{}", sys::effective_uid()),
            Access::Group(gid) => format!("shoal-g{gid}"),
        }
    }

    pub(super) fn directory_mode(self) -> u32 {
        match self {
            Access::Owner => 0o700,
            Access::Group(_) => 0o2770,
        }
    }

    fn file_mode(self, shared: Sharing) -> u32 {
        match (self, shared) {
            (Access::Owner, Sharing::Written) => 0o600,
            (Access::Group(_), Sharing::Written) => 0o660,
            (Access::Owner, Sharing::Read) => 0o400,
            (Access::Group(_), Sharing::Read) => 0o440,
        }
    }

    /// The owner found and the owner expected, where they differ.
    pub(super) fn stranger(self, found: &Metadata) -> Option<(String, String)> {
        let (kind, owner, me) = match self {
            Access::Owner => ("uid", found.uid(), sys::effective_uid()),
            Access::Group(gid) => ("gid", found.gid(), gid),
        };
        (owner != me).then(|| (format!("{kind} {owner}"), format!("{kind} {me}")))
    }
}

/// What others of a domain do with a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Sharing {
    /// They read it. Then not even its owner can open it for writing a second time (but root can).
    Read,
    /// They write it, too.
    Written,
}

/// An opened, verified domain directory. Everything in it is reached through its descriptor, so a later rename or
/// replacement of the path changes nothing for us.
#[derive(Debug)]
pub struct DomainDir {
    root: File,
    parent: File,
    dir: File,
    parent_name: String,
    domain: String,
    path: PathBuf,
    access: Access,
}

/// Directories are removed by whoever leaves last, so a creator may have to start again; but not for ever.
pub(super) const ATTEMPTS: usize = 1000;

impl DomainDir {
    /// Opens `<root>/shoal-<euid>/<domain>` (with [`Access::Group`]: `<root>/shoal-g<gid>/<domain>`), creating the two
    /// lower levels where they are missing. `root` itself must exist and may be a symlink.
    ///
    /// Each level appears under its name only when its owner and mode are right, so creators may race, die, or run
    /// under any umask without leaving a directory that keeps others out.
    ///
    /// # Errors
    /// A name that cannot be a directory, a symlink or a stranger's directory in the way, wrong permission bits, or the
    /// system's refusal.
    pub fn open_or_create(root: &Path, access: Access, domain: &str) -> Result<DomainDir, DirError> {
        check_name(domain)?;
        let io_error = |what, path: &Path, source| DirError::Io { what, path: path.to_owned(), source };
        let root_dir = open_root(root)?;
        let parent_name = access.directory_name();
        let parent_path = root.join(&parent_name);
        let path = parent_path.join(domain);
        for _ in 0..ATTEMPTS {
            let parent = enter(&root_dir, &parent_name, &parent_path, access)?;
            match enter(&parent, domain, &path, access) {
                // The parent was removed between the two steps.
                Err(DirError::Io { source, .. } | DirError::Create { source, .. })
                    if source.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
                Ok(dir) => {
                    let domain = domain.to_owned();
                    return Ok(DomainDir { root: root_dir, parent, dir, parent_name, domain, path, access });
                }
            }
        }
        Err(io_error("keep", &path, io::Error::other("it is removed again and again")))
    }

    /// Opens what [`open_or_create`](Self::open_or_create) made, and creates nothing: for who only looks.
    ///
    /// # Errors
    /// As there, and [`DirError::Io`] with `NotFound` where nobody has made it.
    pub fn open(root: &Path, access: Access, domain: &str) -> Result<DomainDir, DirError> {
        check_name(domain)?;
        let parent_name = access.directory_name();
        let parent_path = root.join(&parent_name);
        let path = parent_path.join(domain);
        let root_dir = open_root(root)?;
        let level = |base: &File, name: &str, path: &Path| {
            let opened = sys::open_at(base, name, libc::O_RDONLY | libc::O_DIRECTORY, 0);
            verify(opened.map_err(|error| not_opened(base, name, path, access, error))?, path, access)
        };
        let parent = level(&root_dir, &parent_name, &parent_path)?;
        let dir = level(&parent, domain, &path)?;
        Ok(DomainDir { root: root_dir, parent, dir, parent_name, domain: domain.to_owned(), path, access })
    }

    /// Where the directory is; for messages only.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who may join.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Whether the path still names the directory held here. It no longer does once someone has removed it
    /// ([`remove_self`](Self::remove_self)); then creating a file fails with `NotFound` and the caller starts again.
    pub fn is_current(&self) -> bool {
        let (Ok(named), Ok(held)) = (std::fs::symlink_metadata(&self.path), self.dir.metadata()) else { return false };
        named.dev() == held.dev() && named.ino() == held.ino()
    }

    /// Removes a file.
    ///
    /// # Errors
    /// The system's, e.g. `NotFound`.
    pub fn unlink(&self, name: &str) -> io::Result<()> {
        sys::unlink_at(&self.dir, name, 0)
    }

    /// The names of the files in the directory.
    ///
    /// # Errors
    /// The system's.
    pub fn names(&self) -> io::Result<Vec<String>> {
        sys::names(&self.dir)
    }

    /// Removes the directory, and the user's directory above it, where they are empty; else does nothing. Takes along what
    /// creators that died left unfinished beside them.
    pub fn remove_self(&self) {
        level::remove_unfinished(&self.parent, |_| true);
        if sys::unlink_at(&self.parent, &self.domain, libc::AT_REMOVEDIR).is_ok() {
            level::remove_unfinished(&self.root, |name| name == self.parent_name);
            // Other domains may live in the parent: then this fails, as it should.
            let _ = sys::unlink_at(&self.root, &self.parent_name, libc::AT_REMOVEDIR);
        }
    }

    /// The path of a file in here; for messages only.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Creates a file that must not exist yet, readable and writable for us, with the domain's mode whatever the umask.
    pub(crate) fn create_file(&self, name: &str, shared: Sharing) -> io::Result<File> {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        let mode = self.access.file_mode(shared);
        let file = sys::open_at(&self.dir, name, flags, mode)?;
        match file.set_permissions(Permissions::from_mode(mode)) {
            Ok(()) => Ok(file),
            Err(error) => {
                let _ = self.unlink(name);
                Err(error)
            }
        }
    }

    /// Opens a file for reading and writing, creating it whole (owner, mode) where it is missing.
    pub(crate) fn open_or_create_file(&self, name: &str) -> io::Result<File> {
        for _ in 0..ATTEMPTS {
            match sys::open_at(&self.dir, name, libc::O_RDWR | libc::O_NONBLOCK, 0) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                other => return other,
            }
            let temporary = sys::temporary_name(name)?;
            let file = self.create_file(&temporary, Sharing::Written)?;
            match sys::rename_new(&self.dir, &temporary, name) {
                Ok(()) => return Ok(file),
                Err(error) => {
                    let _ = self.unlink(&temporary);
                    if error.kind() != io::ErrorKind::AlreadyExists {
                        return Err(error);
                    }
                }
            }
        }
        Err(io::Error::other(format!("{} is created and removed again and again", self.path_of(name).display())))
    }

    /// Opens an existing file and checks what it is and whose it is. O_NONBLOCK: a FIFO in its place must not block us.
    pub(crate) fn open_file(&self, name: &str, flags: libc::c_int) -> Result<(File, Metadata), OpenError> {
        let path = self.path_of(name);
        let file = sys::open_at(&self.dir, name, flags | libc::O_NONBLOCK, 0).map_err(|source| {
            match source.raw_os_error() {
                Some(libc::ENOENT) => OpenError::Missing { path: path.clone() },
                Some(libc::ELOOP) => OpenError::Symlink { path: path.clone() },
                Some(libc::EISDIR | libc::ENXIO) => OpenError::NotRegular { path: path.clone() },
                _ => OpenError::Io { what: "open", path: path.clone(), source },
            }
        })?;
        let found = self.verify_file(&file, name)?;
        Ok((file, found))
    }

    /// Checks that an opened file is a regular one and belongs to who may join.
    pub(crate) fn verify_file(&self, file: &File, name: &str) -> Result<Metadata, OpenError> {
        let path = self.path_of(name);
        let found = file.metadata().map_err(|source| OpenError::Io { what: "examine", path: path.clone(), source })?;
        if !found.file_type().is_file() {
            return Err(OpenError::NotRegular { path });
        }
        match self.access.stranger(&found) {
            Some((owner, me)) => Err(OpenError::NotOwner { path, owner, me }),
            None => Ok(found),
        }
    }

    /// The device and inode a name stands for now.
    pub(crate) fn identity_of(&self, name: &str) -> io::Result<(u64, u64)> {
        let found = sys::open_at(&self.dir, name, libc::O_PATH, 0)?.metadata()?;
        Ok((found.dev(), found.ino()))
    }
}

fn open_root(root: &Path) -> Result<File, DirError> {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(root);
    opened.map_err(|source| DirError::NoRoot { path: root.to_owned(), source })
}

fn check_name(name: &str) -> Result<(), DirError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if name.is_empty() || name.len() > 200 || name.starts_with('.') || !name.chars().all(allowed) {
        return Err(DirError::BadName { name: name.to_owned() });
    }
    Ok(())
}
