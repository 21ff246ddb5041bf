//! libclang, which generates the bindings: the machine's own, or the wheel from PyPI.

use crate::run::{self, at, Failure};
use crate::{paths, python};
use std::path::{Path, PathBuf};
use std::process::Command;

const WHEEL: &str = "libclang==18.1.1";

/// The folder to hand to bindgen as LIBCLANG_PATH, or None where it finds the machine's own libclang by itself.
pub fn find_or_fetch() -> Result<Option<PathBuf>, Failure> {
    if let Some(dir) = std::env::var_os("LIBCLANG_PATH") {
        return Ok(Some(dir.into()));
    }
    if machine_has_one() {
        return Ok(None);
    }
    let home = paths::ros_home().join("libclang");
    if !home.join("libclang.so").exists() {
        fetch(&home)?;
    }
    Ok(Some(home))
}

fn fetch(home: &Path) -> Result<(), Failure> {
    eprintln!("xtask: this machine has no libclang: fetching {WHEEL} from PyPI into {}", home.display());
    at(home, std::fs::create_dir_all(home))?;
    let tools = home.join("wheel-tools");
    let unpacked = home.join("unpacked");
    python::make_venv(&python::find()?, &tools)?;
    let mut pip = Command::new(tools.join("bin/python"));
    pip.env_remove("LD_PRELOAD").args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--target",
    ]);
    run::run(pip.arg(&unpacked).arg(WHEEL))?;
    let lib = unpacked.join("clang/native/libclang.so");
    at(&lib, std::fs::rename(&lib, home.join("libclang.so")))?;
    at(&unpacked, std::fs::remove_dir_all(&unpacked))?;
    at(&tools, std::fs::remove_dir_all(&tools))
}

/// The places that bindgen's loader looks in by itself.
fn machine_has_one() -> bool {
    let mut dirs: Vec<PathBuf> = [
        "/usr/lib",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/local/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
    ]
    .iter()
    .map(PathBuf::from)
    .collect();
    if let Ok(entries) = std::fs::read_dir("/usr/lib") {
        let llvm = entries.flatten().filter(|e| e.file_name().to_string_lossy().starts_with("llvm"));
        dirs.extend(llvm.map(|e| e.path().join("lib")));
    }
    dirs.iter().any(|dir| holds_libclang(dir))
}

fn holds_libclang(dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else { return false };
    entries.flatten().any(|e| {
        let name = e.file_name().to_string_lossy().into_owned();
        is_libclang(&name) && e.path().exists()
    })
}

fn is_libclang(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("libclang") else { return false };
    let rest = match rest.strip_prefix('-') {
        Some(version) => version.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'),
        None => rest,
    };
    rest.starts_with(".so") || rest.starts_with("so")
}

#[cfg(test)]
mod tests {
    use super::is_libclang;

    #[test]
    fn knows_libclang_from_its_neighbours() {
        for yes in ["libclang.so", "libclang.so.1", "libclang-14.so.1", "libclang-14.0.6.so"] {
            assert!(is_libclang(yes), "{yes}");
        }
        for no in ["libclang-cpp.so.14", "libclang.a", "libclangAST.so", "libclang_rt.so"] {
            assert!(!is_libclang(no), "{no}");
        }
    }
}
