//! Where the targets make their files.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A directory in shared memory for this process, removed at its end, also by a panic.
pub(super) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = PathBuf::from(format!("/dev/shm/shoal-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&root).expect("shared memory can be written");
        std::env::set_var("SHOAL_DIR", &root);
        // SAFETY: the handler is a plain function that runs once, at the end of the process.
        unsafe { libc::atexit(remove_root) };
        root
    })
}

extern "C" fn remove_root() {
    let _ = std::fs::remove_dir_all(root());
}
