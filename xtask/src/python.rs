//! The Python that a prefix of wheels is made with.

use crate::machine;
use crate::run::{self, Failure};
use std::path::Path;
use std::process::Command;

/// Oldest and newest minor version of Python 3 that the pinned wheels exist for.
const MINORS: std::ops::RangeInclusive<u32> = 10..=14;

/// A usable interpreter.
#[derive(Debug)]
pub struct Python {
    /// What to start it as.
    pub program: String,
    /// Its minor version: 11 for Python 3.11.
    pub minor: u32,
}

/// The first usable one of python3, python3.10 … python3.14, or a message that says what to install.
pub fn find() -> Result<Python, Failure> {
    let names = std::iter::once("python3".to_owned()).chain(MINORS.rev().map(|m| format!("python3.{m}")));
    let mut refused = Vec::new();
    for program in names {
        match version(&program) {
            Some((3, minor)) if MINORS.contains(&minor) => return Ok(Python { program, minor }),
            Some((major, minor)) => refused.push(format!("{program} is {major}.{minor}")),
            None => {}
        }
    }
    let seen = if refused.is_empty() { "none was found".to_owned() } else { refused.join(", ") };
    Err(Failure::Advice(format!(
        "the ROS 2 wheels need Python 3.{} to 3.{} ({seen}): install one (Debian, Ubuntu: apt-get install python3 python3-venv)",
        MINORS.start(),
        MINORS.end()
    )))
}

fn version(program: &str) -> Option<(u32, u32)> {
    let code = "import sys; print(*sys.version_info[:2])";
    let text = run::output(Command::new(program).env_remove("LD_PRELOAD").args(["-c", code]))?;
    let (major, minor) = text.split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Makes a virtual environment with pip in it. Debian's python3 lacks `ensurepip` without python3-venv: that is
/// installed as root, and `virtualenv` from PyPI stands in elsewhere.
pub fn make_venv(python: &Python, dir: &Path) -> Result<(), Failure> {
    if try_venv(python, dir) {
        return Ok(());
    }
    if machine::can_install() {
        let versioned = format!("python3.{}-venv", python.minor);
        if (machine::install(&["python3-venv"]).is_ok() && try_venv(python, dir))
            || (machine::install(&[&versioned]).is_ok() && try_venv(python, dir))
        {
            return Ok(());
        }
    }
    virtualenv(python, dir).map_err(|e| {
        Failure::Advice(format!(
            "{} cannot make a virtual environment ({e}): install its venv module (Debian, Ubuntu: apt-get install python3-venv)",
            python.program
        ))
    })
}

fn try_venv(python: &Python, dir: &Path) -> bool {
    let mut c = Command::new(&python.program);
    c.env_remove("LD_PRELOAD").args(["-m", "venv", "--clear"]).arg(dir);
    run::run(&mut c).is_ok() && dir.join("bin/pip").exists()
}

fn virtualenv(python: &Python, dir: &Path) -> Result<(), Failure> {
    let tools = dir.with_extension("virtualenv");
    let mut pip = Command::new(&python.program);
    pip.env_remove("LD_PRELOAD").args(["-m", "pip", "install", "--quiet", "--target"]).arg(&tools).arg("virtualenv");
    run::run(&mut pip)?;
    let mut make = Command::new(&python.program);
    make.env_remove("LD_PRELOAD").env("PYTHONPATH", &tools).args(["-m", "virtualenv", "--clear"]).arg(dir);
    let made = run::run(&mut make);
    let _ = std::fs::remove_dir_all(&tools);
    made
}
