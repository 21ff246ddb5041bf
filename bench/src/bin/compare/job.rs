//! What a process of a measurement is told: one JSON argument.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::ros::Keep;

/// What to do in one process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The library of the RMW.
    pub rmw: PathBuf,
    /// `ROS_DOMAIN_ID`.
    pub domain: usize,
    /// Bytes of a payload.
    pub size: usize,
    /// How long to measure, in seconds.
    pub seconds: f64,
    /// Messages a second; 0: as fast as it goes.
    pub rate: f64,
    /// Messages, where a number of them is the work.
    pub count: usize,
    /// Peers to wait for before the work begins.
    pub peers: usize,
    /// Which of several like it this process is.
    pub index: usize,
    /// KEEP_ALL instead of KEEP_LAST.
    pub keep_all: bool,
    /// Depth of KEEP_LAST.
    pub depth: usize,
    /// Shared file of the floors.
    pub file: PathBuf,
}

impl Job {
    /// The history that is asked for.
    pub fn keep(&self) -> Keep {
        Keep { all: self.keep_all, depth: self.depth, latched: false }
    }
}
