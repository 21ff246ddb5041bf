//! Where things lie in this work tree.

use std::path::{Path, PathBuf};

/// The folder of the workspace's Cargo.toml.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => workspace().join(dir),
        None => workspace().join("target"),
    }
}

/// Where ROS 2 prefixes and libclang are made. Always in the work tree's own target/, so that build scripts find it
/// without being told.
pub fn ros_home() -> PathBuf {
    workspace().join("target").join("ros")
}

/// The Python side of the demo and of the ROS client cases.
pub fn ros_scripts() -> PathBuf {
    workspace().join("tests").join("ros")
}

/// The C and C++ programs.
pub fn c_programs() -> PathBuf {
    workspace().join("tests/c/rmw")
}
