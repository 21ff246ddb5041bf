//! Compiling tests/c/rmw. What is not named for a language is compiled as both; the C++ compiler takes it as C++.

use super::coverage;
use crate::paths;
use crate::prefix::Prefix;
use crate::run::{self, at, Failure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Message packages whose libraries the programs are linked against.
const PACKAGES: [&str; 4] = ["builtin_interfaces", "std_msgs", "std_srvs", "test_msgs"];

/// One of the two programs.
pub struct Program {
    /// `c` or `cpp`, for people.
    pub language: &'static str,
    /// The program itself.
    pub path: PathBuf,
    /// Where it and its logs lie.
    pub folder: PathBuf,
}

/// The C and the C++ program for a prefix and its plugin.
pub fn both(prefix: &Prefix, lib: &Path) -> Result<[Program; 2], Failure> {
    let folder = paths::target().join("capi").join(prefix.distro.name());
    at(&folder, std::fs::create_dir_all(&folder))?;
    let counted = folder.join("counted.h");
    at(&counted, std::fs::write(&counted, coverage::header()))?;
    let sources = Sources::find()?;
    let program = |language: &'static str| Program { language, path: folder.join(language), folder: folder.clone() };
    let (c, cpp) = (program("c"), program("cpp"));
    let mut gcc = Command::new("gcc");
    gcc.arg("-std=gnu11").args(&sources.common).args(&sources.c);
    finish(
        gcc,
        prefix,
        lib,
        &c,
        &["rosidl_generator_c", "rosidl_typesupport_c", "rosidl_typesupport_introspection_c"],
    )?;
    let mut gxx = Command::new("g++");
    gxx.args(["-std=c++17", "-x", "c++"]).args(&sources.common).args(&sources.cpp).args(["-x", "none"]);
    finish(gxx, prefix, lib, &cpp, &["rosidl_typesupport_cpp", "rosidl_typesupport_introspection_cpp"])?;
    Ok([c, cpp])
}

/// The files of tests/c/rmw by language.
struct Sources {
    common: Vec<PathBuf>,
    c: Vec<PathBuf>,
    cpp: Vec<PathBuf>,
}

impl Sources {
    fn find() -> Result<Sources, Failure> {
        let folder = paths::c_programs();
        let entries = at(&folder, std::fs::read_dir(&folder))?;
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let ends = |file: &&PathBuf, end: &str| file.to_string_lossy().ends_with(end);
        let pick = |keep: &dyn Fn(&&PathBuf) -> bool| files.iter().filter(|file| keep(file)).cloned().collect();
        Ok(Sources {
            common: pick(&|file| ends(file, ".c") && !ends(file, "_c.c")),
            c: pick(&|file| ends(file, "_c.c")),
            cpp: pick(&|file| ends(file, ".cpp")),
        })
    }
}

/// Warnings are errors, but not those of the ROS headers.
fn finish(mut c: Command, prefix: &Prefix, lib: &Path, program: &Program, kinds: &[&str]) -> Result<(), Failure> {
    c.args(["-g", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program.path);
    c.arg(format!("-I{}", paths::c_programs().display())).arg(format!("-I{}", program.folder.display()));
    c.args(prefix.include_dirs()?.iter().map(|dir| format!("-isystem{}", dir.display())));
    c.arg(format!("-L{}", lib.parent().unwrap_or(Path::new(".")).display()));
    c.args(prefix.library_dirs().iter().map(|dir| format!("-L{}", dir.display())));
    c.args(["-lrmw_shoal", "-lrmw", "-lrcutils", "-lrosidl_runtime_c", "-lpthread", "-Wl,--allow-shlib-undefined"]);
    let libraries = PACKAGES.iter().flat_map(|package| kinds.iter().map(move |kind| format!("-l{package}__{kind}")));
    run::run(c.env_remove("LD_PRELOAD").args(libraries))
}
