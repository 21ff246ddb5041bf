//! Where the shared files lie, and whom they are for.

use std::path::PathBuf;

use shoal_shm::segment::Access;

use crate::error::{Error, Result};

/// What `SHOAL_DIR` and `SHOAL_GROUP` say.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory of all domains.
    pub root: PathBuf,
    /// Who may join them.
    pub access: Access,
}

impl Place {
    /// `SHOAL_DIR` instead of `/dev/shm`; `SHOAL_GROUP` (a group's name or number) opens the domains to that group.
    ///
    /// # Errors
    /// There is no such group.
    pub fn from_environment() -> Result<Place> {
        let root = std::env::var_os("SHOAL_DIR").map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
        Ok(Place { root, access: access_from_environment()? })
    }
}

fn access_from_environment() -> Result<Access> {
    let Some(group) = std::env::var("SHOAL_GROUP").ok().filter(|group| !group.is_empty()) else {
        return Ok(Access::Owner);
    };
    if let Ok(gid) = group.parse::<u32>() {
        return Ok(Access::Group(gid));
    }
    match nix::unistd::Group::from_name(&group) {
        Ok(Some(found)) => Ok(Access::Group(found.gid.as_raw())),
        _ => Err(Error::InvalidArgument(format!(
            "SHOAL_GROUP='{group}' is not a group of this machine; give a name or number that `getent group` lists"
        ))),
    }
}
