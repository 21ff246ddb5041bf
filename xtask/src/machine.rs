//! What the machine has, and installing what it lacks where that is ours to do (root with apt).

use crate::run::{self, Failure};
use std::process::{Command, Stdio};

/// Whether `program` can be started at all.
pub fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

/// Whether packages can be installed here.
pub fn can_install() -> bool {
    nix::unistd::geteuid().is_root() && has("apt-get")
}

/// Installs Debian packages; the package lists are fetched only when they turn out to be missing or stale.
pub fn install(packages: &[&str]) -> Result<(), Failure> {
    eprintln!("xtask: apt-get install {}", packages.join(" "));
    if run::run(apt().args(["install", "-y", "--no-install-recommends"]).args(packages)).is_ok() {
        return Ok(());
    }
    run::run(apt().arg("update"))?;
    run::run(apt().args(["install", "-y", "--no-install-recommends"]).args(packages))
}

fn apt() -> Command {
    let mut c = Command::new("apt-get");
    c.arg("-q").env("DEBIAN_FRONTEND", "noninteractive").env_remove("LD_PRELOAD");
    c
}

/// The C and C++ compilers that the build needs: found, installed, or asked for.
pub fn ensure_compilers() -> Result<(), Failure> {
    if has("gcc") && has("g++") {
        return Ok(());
    }
    if can_install() {
        install(&["gcc", "g++", "libc6-dev"])?;
        if has("gcc") && has("g++") {
            return Ok(());
        }
    }
    Err(Failure::Advice(
        "gcc and g++ are needed to build the plugin: install them (Debian, Ubuntu: apt-get install gcc g++)".into(),
    ))
}
