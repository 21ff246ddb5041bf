//! The crash points, as they stand in the code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_path_buf()
}

/// The Rust files below a directory.
pub fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for path in std::fs::read_dir(dir).expect("a directory").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

/// The names of all `crash_point!` markers, sorted; those of `crash.rs` itself are examples.
pub fn crash_points() -> Vec<String> {
    let files = ["shm", "registry", "rmw", "ffi"].iter().flat_map(|part| sources(&root().join(part).join("src")));
    let mut names = BTreeSet::new();
    for file in files.filter(|file| !file.ends_with("src/crash.rs")) {
        let text = std::fs::read_to_string(&file).expect("a source file");
        let markers = text.split("crash_point!(\"").skip(1);
        names.extend(markers.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
    }
    names.into_iter().collect()
}
