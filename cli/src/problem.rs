//! Why a command did not do what it was asked to.

use shoal_registry::{JoinError, ObserveError};
use std::process::ExitCode;

#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error(transparent)]
    Place(#[from] shoal_rmw::Error),
    #[error(transparent)]
    Observe(#[from] ObserveError),
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error("cannot write: {0}")]
    Write(#[from] std::io::Error),
    #[error("cannot read {path}: {source}")]
    Read { path: std::path::PathBuf, source: std::io::Error },
    /// What `doctor` found stands above it already.
    #[error("{0} found")]
    Unwell(String),
}

impl Problem {
    /// 1: something is wrong with the domain; 2: it cannot be looked at.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Problem::Unwell(_) => ExitCode::from(1),
            _ => ExitCode::from(2),
        }
    }
}
