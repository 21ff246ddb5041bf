//! The ROS that this crate was built against, and a process that can load its libraries.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const INNER: &str = "SHOAL_TEST_INNER";

/// Libraries of the prefix, as `build.rs` found it.
pub fn libraries() -> PathBuf {
    let link = Path::new(env!("OUT_DIR")).join("ros-lib");
    link.canonicalize().unwrap_or_else(|e| panic!("{}: {e}; the ROS this was built against is gone", link.display()))
}

/// Runs a test in a process of its own that finds the libraries, also those that wheels keep beside their packages: the
/// loader reads its search path only when a process starts.
pub fn inside(test: &str, body: impl FnOnce()) {
    if env::var_os(INNER).is_some() {
        return body();
    }
    let status = Command::new(env::current_exe().expect("own path"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(INNER, "1")
        .env("LD_LIBRARY_PATH", env::join_paths(search_path()).expect("paths without colons"))
        .status()
        .expect("starts");
    assert!(status.success(), "{test}: {status}");
}

fn search_path() -> Vec<PathBuf> {
    let libraries = libraries();
    let mut paths = vec![libraries.clone()];
    for python in subdirectories(&libraries, |name| name.starts_with("python3")) {
        paths.extend(subdirectories(&python.join("site-packages"), |name| {
            name.starts_with("ros_") && name.ends_with(".libs")
        }));
    }
    paths
}

fn subdirectories(of: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = of.read_dir().into_iter().flatten().flatten();
    entries.filter(|e| wanted(&e.file_name().to_string_lossy())).map(|e| e.path()).collect()
}
