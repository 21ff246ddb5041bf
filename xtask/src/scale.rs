//! `cargo xtask scale`: the program `scale` of the bench crate on the built plugin.

use crate::prefix::{self, Prefix};
use crate::run::{self, at, Failure};
use crate::{env, paths, plugin};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// Builds what is needed and runs it with our plugin first; more RMWs are given with `--rmw PATH`.
pub fn run(options: &[OsString]) -> Result<(), Failure> {
    let prefix = prefix::find_or_make(None)?;
    let lib = plugin::build(&prefix)?;
    let programs = build(&prefix)?;
    // A directory of its own: the nodes of this run meet no others.
    let dir = PathBuf::from(format!("/dev/shm/shoal-scale-{}", std::process::id()));
    at(&dir, std::fs::create_dir_all(&dir))?;
    let mut scale = Command::new(programs.join("scale"));
    scale.env("LD_LIBRARY_PATH", prefix.library_path()).env("SHOAL_DIR", &dir).env_remove("SHOAL_GROUP");
    scale.envs(env::variables(&prefix, None)).env_remove("LD_PRELOAD");
    scale.arg("--rmw").arg(lib).arg("--out").arg(paths::target().join("scale")).args(options);
    let result = run::run_as_is(&mut scale);
    let _ = std::fs::remove_dir_all(&dir);
    result
}

/// Builds the bench crate's programs; the folder that they lie in.
pub fn build(prefix: &Prefix) -> Result<PathBuf, Failure> {
    let mut cargo = run::cargo();
    cargo.args(["build", "--release", "--package", "shoal-bench", "--bins"]);
    plugin::with_prefix(&mut cargo, prefix)?;
    run::run(&mut cargo)?;
    Ok(paths::target().join("release"))
}
