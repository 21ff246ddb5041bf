//! Why a directory, a file or a mapping could not be had, in words for the user.

use std::io;
use std::path::PathBuf;

/// Why the directory of a domain cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirError {
    /// The domain's name cannot be a directory name.
    #[error("'{name}' cannot be the name of a domain directory: use letters, digits, '.', '-' and '_', at most 200 of them, and no leading '.'")]
    BadName {
        /// The refused name.
        name: String,
    },
    /// A symlink stands where a directory is expected; it is never followed.
    #[error("{path} is a symbolic link, which is never followed: remove it")]
    Symlink {
        /// Where it stands.
        path: PathBuf,
    },
    /// Something else than a directory stands there.
    #[error("{path} is not a directory: remove it")]
    NotDirectory {
        /// Where it stands.
        path: PathBuf,
    },
    /// The directory belongs to another user, or to another group than the one configured.
    #[error("{path} belongs to {owner}, but this process runs as {me}: run all nodes of a domain as one user, open the domain to a group (SHOAL_GROUP), or choose another SHOAL_DIR")]
    NotOwner {
        /// The directory.
        path: PathBuf,
        /// Who owns it ("uid 1000" or "gid 27").
        owner: String,
        /// Who we are, in the same terms.
        me: String,
    },
    /// The domain is open to a group that this process is not in.
    #[error("{path} is for group {gid} (SHOAL_GROUP), which this process is not in ({source}): add its user to the group and log in again")]
    NotMember {
        /// The directory.
        path: PathBuf,
        /// The group.
        gid: u32,
        /// The system's answer.
        source: io::Error,
    },
    /// The directory lets in more or fewer than it must.
    #[error(
        "{path} has mode {mode:o} but must have {wanted:o}: correct it with chmod, or remove it while no node runs"
    )]
    Mode {
        /// The directory.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
        /// The permission bits it must have.
        wanted: u32,
    },
    /// The directory of all domains is not there: it is the user's to create.
    #[error("cannot use the directory {path}: {source}: create it, or set SHOAL_DIR to one that is there")]
    NoRoot {
        /// The directory of all domains.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A directory below it cannot be made.
    #[error("cannot create {path}: {source}: set SHOAL_DIR to a directory that this process may write to")]
    Create {
        /// What was to be made.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A system call failed.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried ("open", "examine", …).
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

/// Why a segment could not be created or committed. No file is left behind by a failed creation.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The file system is full (or over quota, or shared memory is not to be had).
    #[error("no room for {needed} bytes of {what} in {path} ({source}): free space there, or make the file system larger (a container needs e.g. --shm-size=1g)")]
    NoSpace {
        /// Bytes that were asked for.
        needed: u64,
        /// What they were for.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The file exists but cannot be mapped: no address space left (RLIMIT_AS, vm.max_map_count).
    #[error(
        "cannot map {needed} bytes of {path}: {source}: raise the address-space limit (ulimit -v) or vm.max_map_count"
    )]
    AddressSpace {
        /// Bytes that were to be mapped.
        needed: u64,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A file of this name exists already.
    #[error("{path} exists already")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A system call failed for another reason.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

/// No offset in a ring or a chunk's word reaches farther into a segment: a longer file is none.
const LONGEST_SEGMENT: u64 = 1 << 37;

impl OpenError {
    /// Whether this process lacks files or memory to open it, which says nothing of the file: it may be tried again.
    pub fn is_refusal(&self) -> bool {
        match self {
            OpenError::AddressSpace { needed, .. } => *needed <= LONGEST_SEGMENT,
            OpenError::Io { source, .. } => {
                matches!(source.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM))
            }
            _ => false,
        }
    }
}

/// Why another's segment could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No such file: its owner has left, or has given this segment back.
    #[error("{path} does not exist (any more)")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A symlink, which is never followed.
    #[error("{path} is a symbolic link, which is never followed: remove it")]
    Symlink {
        /// The link.
        path: PathBuf,
    },
    /// Not a regular file.
    #[error("{path} is not a regular file: remove it")]
    NotRegular {
        /// Where it stands.
        path: PathBuf,
    },
    /// The file belongs to another user or group than its directory promises.
    #[error("{path} belongs to {owner}, but this process runs as {me}: it is not a file of this domain, remove it")]
    NotOwner {
        /// The file.
        path: PathBuf,
        /// Who owns it.
        owner: String,
        /// Who we are.
        me: String,
    },
    /// The file is shorter than its user needs.
    #[error("{path} has {len} bytes but must have at least {needed}: it was cut short, remove it while no node runs")]
    TooSmall {
        /// The file.
        path: PathBuf,
        /// Its length in bytes.
        len: u64,
        /// The bytes it must have.
        needed: u64,
    },
    /// No address space left for the mapping.
    #[error(
        "cannot map {needed} bytes of {path}: {source}: raise the address-space limit (ulimit -v) or vm.max_map_count"
    )]
    AddressSpace {
        /// Bytes that were to be mapped.
        needed: u64,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A system call failed for another reason.
    #[error("cannot {what} {path}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}
