//! Running other programs, and the one error type of every task.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Why a task did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A program could not be started at all.
    #[error("cannot start `{what}`: {source}")]
    Start { what: String, source: std::io::Error },
    /// A program ran and failed.
    #[error("`{what}` failed ({status})")]
    Status { what: String, status: std::process::ExitStatus },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    /// Something is missing or wrong; the text says what to do.
    #[error("{0}")]
    Advice(String),
}

/// Attaches a path to an I/O error.
pub fn at<T>(path: impl Into<PathBuf>, r: std::io::Result<T>) -> Result<T, Failure> {
    r.map_err(|source| Failure::File { path: path.into(), source })
}

/// The command line as a person would type it.
pub fn shown(c: &Command) -> String {
    let words = std::iter::once(c.get_program()).chain(c.get_args());
    words.map(|w| w.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Runs a command with its output on our stderr, so that stdout stays ours, and fails when it fails.
pub fn run(c: &mut Command) -> Result<(), Failure> {
    c.stdin(Stdio::null()).stdout(std::io::stderr());
    run_as_is(c)
}

/// Runs a command with our own standard streams and fails when it fails.
pub fn run_as_is(c: &mut Command) -> Result<(), Failure> {
    let status = c.status().map_err(|source| Failure::Start { what: shown(c), source })?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::Status { what: shown(c), status })
}

/// What a command prints, or None when it cannot be started or fails.
pub fn output(c: &mut Command) -> Option<String> {
    let out = c.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

/// A cargo of the same toolchain, free of a plugin that the calling shell preloads.
pub fn cargo() -> Command {
    let mut c = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    c.current_dir(crate::paths::workspace()).env_remove("LD_PRELOAD");
    c
}
