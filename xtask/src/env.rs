//! The environment in which a ROS 2 program runs on the plugin.

use crate::plugin;
use crate::prefix::{self, Distro, Prefix};
use crate::run::Failure;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Variables for running a program of this prefix on the plugin `lib`; without one, on the prefix's own RMW.
pub fn variables(prefix: &Prefix, lib: Option<&Path>) -> Vec<(&'static str, OsString)> {
    let mut vars: Vec<(&'static str, OsString)> = vec![
        ("ROS_PREFIX", prefix.root.clone().into()),
        ("ROS_DISTRO", prefix.distro.name().into()),
        ("ROS_VERSION", "2".into()),
    ];
    vars.push(("LD_LIBRARY_PATH", library_path(prefix, lib)));
    if prefix.wheels {
        // Without this the wheels' start-up hook runs the interpreter again with an LD_LIBRARY_PATH of its own.
        vars.push(("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "1".into()));
        vars.push(("AMENT_PREFIX_PATH", prefix.root.clone().into()));
        vars.push(("PATH", in_front(&prefix.root.join("bin"), "PATH")));
    }
    if let Some(lib) = lib {
        vars.push(("RMW_LIB", lib.into()));
        vars.push(("RMW_IMPLEMENTATION", "rmw_shoal".into()));
        if prefix.wheels {
            vars.push(("LD_PRELOAD", lib.into()));
        }
    }
    vars
}

fn library_path(prefix: &Prefix, lib: Option<&Path>) -> OsString {
    let mut dirs: Vec<_> = std::env::split_paths(&prefix.library_path()).collect();
    if let Some(dir) = lib.and_then(Path::parent).filter(|_| !prefix.wheels) {
        dirs.retain(|d| d != dir);
        dirs.insert(0, dir.to_owned());
    }
    std::env::join_paths(dirs).unwrap_or_default()
}

fn in_front(dir: &Path, variable: &str) -> OsString {
    let old = std::env::var_os(variable).unwrap_or_default();
    let rest = std::env::split_paths(&old).filter(|d| d != dir);
    std::env::join_paths(std::iter::once(dir.to_owned()).chain(rest)).unwrap_or(old)
}

/// Sets up and builds what is missing (all of that on stderr), then prints the exports.
pub fn print(distro: Option<Distro>) -> Result<(), Failure> {
    let prefix = prefix::find_or_make(distro)?;
    let lib = plugin::build(&prefix)?;
    for (name, value) in variables(&prefix, Some(&lib)) {
        println!("export {name}={}", quoted(&value));
    }
    Ok(())
}

fn quoted(value: &OsStr) -> String {
    format!("'{}'", value.to_string_lossy().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_for_a_shell() {
        assert_eq!(quoted(OsStr::new("/a b/c")), "'/a b/c'");
        assert_eq!(quoted(OsStr::new("it's")), r"'it'\''s'");
    }

    #[test]
    fn the_plugin_is_preloaded_for_wheels_only() {
        let lib = Path::new("/somewhere/librmw_shoal.so");
        let has = |p: &Prefix, lib, name| variables(p, lib).iter().any(|(n, _)| *n == name);
        let wheels = Prefix { distro: Distro::Jazzy, root: "/p".into(), wheels: true };
        let installed = Prefix { wheels: false, ..wheels.clone() };
        assert!(has(&wheels, Some(lib), "LD_PRELOAD") && !has(&installed, Some(lib), "LD_PRELOAD"));
        assert!(!has(&wheels, None, "LD_PRELOAD") && !has(&wheels, None, "RMW_IMPLEMENTATION"));
    }
}
