//! `cargo xtask stream`.

use crate::run::{self, Failure};
use std::ffi::OsString;

/// Sends bytes through a stream; fails when memory grows, something is lost, or somebody leaks.
pub fn run(options: &[OsString]) -> Result<(), Failure> {
    let mut cargo = run::cargo();
    cargo.args(["run", "--release", "--quiet", "--package", "shoal-tests", "--bin", "stream", "--"]).args(options);
    run::run_as_is(&mut cargo)
}
