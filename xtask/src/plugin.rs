//! Building librmw_shoal.so.

use crate::prefix::Prefix;
use crate::run::{self, at, Failure};
use crate::{libclang, paths};
use std::path::PathBuf;
use std::process::Command;

/// Where the plugin built for this prefix's distribution lies.
pub fn library(prefix: &Prefix) -> PathBuf {
    paths::target().join("plugin").join(prefix.distro.name()).join("librmw_shoal.so")
}

/// Gives a cargo command what building against a prefix needs.
pub fn with_prefix(c: &mut Command, prefix: &Prefix) -> Result<(), Failure> {
    c.env("ROS_PREFIX", &prefix.root)
        .env("ROS_DISTRO", prefix.distro.name())
        .env("LD_LIBRARY_PATH", prefix.library_path());
    if let Some(dir) = libclang::find_or_fetch()? {
        c.env("LIBCLANG_PATH", dir);
    }
    Ok(())
}

/// Builds the plugin (release) and returns its path. Each distribution gets a copy of its own, put in place by a
/// rename, so that processes which run on the previous one are not disturbed.
pub fn build(prefix: &Prefix) -> Result<PathBuf, Failure> {
    let mut cargo = run::cargo();
    cargo.args(["build", "--release", "--package", "rmw_shoal", "--lib"]);
    with_prefix(&mut cargo, prefix)?;
    run::run(&mut cargo)?;
    let built = paths::target().join("release").join("librmw_shoal.so");
    let placed = library(prefix);
    let fresh = placed.with_extension("new");
    if let Some(dir) = placed.parent() {
        at(dir, std::fs::create_dir_all(dir))?;
    }
    at(&built, std::fs::copy(&built, &fresh))?;
    at(&placed, std::fs::rename(&fresh, &placed))?;
    Ok(placed)
}

/// Builds the program `shoal` (release) and returns its path. It needs no ROS.
pub fn build_cli() -> Result<PathBuf, Failure> {
    run::run(run::cargo().args(["build", "--release", "--package", "shoal-cli", "--bin", "shoal"]))?;
    Ok(paths::target().join("release").join("shoal"))
}
