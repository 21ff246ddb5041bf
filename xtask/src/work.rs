//! `cargo xtask work`.

use crate::run::{self, Failure};
use std::ffi::OsString;

/// Shares items among consumers that are killed; fails when one is lost or acknowledged twice.
pub fn run(options: &[OsString]) -> Result<(), Failure> {
    let mut cargo = run::cargo();
    cargo.args(["run", "--release", "--quiet", "--package", "shoal-tests", "--bin", "work", "--"]).args(options);
    run::run_as_is(&mut cargo)
}
