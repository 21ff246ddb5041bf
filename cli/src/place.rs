//! Which domain is meant.

use crate::problem::Problem;
use shoal_registry::Observer;
use shoal_rmw::Place;
use std::path::PathBuf;

/// Options of every command.
#[derive(clap::Args)]
pub struct Options {
    /// The domain, as ROS_DOMAIN_ID names it
    #[arg(long, short, global = true, env = "ROS_DOMAIN_ID", default_value = "0")]
    domain: String,
    /// The directory of all domains (default: SHOAL_DIR, or /dev/shm)
    #[arg(long, global = true)]
    dir: Option<PathBuf>,
}

impl Options {
    /// The name of the domain's directory.
    pub fn domain(&self) -> &str {
        match self.domain.as_str() {
            "" => "0",
            domain => domain,
        }
    }

    /// Where domains lie, and whom they are for (`SHOAL_GROUP`).
    pub fn place(&self) -> Result<Place, Problem> {
        let mut place = Place::from_environment()?;
        place.root = self.dir.clone().unwrap_or(place.root);
        Ok(place)
    }

    /// A look into the domain.
    pub fn observe(&self) -> Result<Observer, Problem> {
        let Place { root, access } = self.place()?;
        Ok(Observer::open(&root, access, self.domain())?)
    }
}
