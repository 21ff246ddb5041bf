//! What the shared object exports: the functions of the rmw headers and of shoal.h, and nothing else.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of the dynamic symbols that a shared object defines.
fn defined(library: &Path) -> Vec<String> {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library).output().expect("nm of binutils");
    assert!(output.status.success(), "{}: {}", library.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("symbols are ASCII");
    let mut names: Vec<_> = text.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect();
    names.sort();
    names
}

/// The plugin that was built together with this test.
fn plugin() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    test.parent().expect("its folder").join("librmw_shoal.so")
}

fn listed() -> Vec<String> {
    include_str!("exported_symbols.txt").lines().map(str::to_owned).collect()
}

#[test]
fn the_plugin_exports_the_rmw_api_its_own_and_nothing_else() {
    let mut expected = listed();
    expected.extend(common::of_shoal_h());
    expected.sort();
    assert_eq!(defined(&plugin()), expected);
}

#[test]
fn the_list_is_that_of_the_installed_implementation() {
    let Some(prefix) = std::env::var_os("ROS_PREFIX") else {
        eprintln!("skipped: ROS_PREFIX names no ROS to compare with");
        return;
    };
    let peer = Path::new(&prefix).join("lib/librmw_fastrtps_cpp.so");
    let theirs: Vec<_> = defined(&peer).into_iter().filter(|name| name.starts_with("rmw_")).collect();
    assert_eq!(listed(), theirs);
}

/// Functions that the installed rmw headers declare: names at the start of a line, before their arguments.
fn declared() -> BTreeSet<String> {
    let include = std::env::split_paths(env!("SHOAL_ROS_INCLUDES")).find(|dir| dir.join("rmw/rmw.h").is_file());
    let headers = include.expect("the folder of rmw/rmw.h").join("rmw").read_dir().expect("a folder");
    let mut names = BTreeSet::new();
    for path in headers.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(&path).expect("a header");
        let starts = text.lines().filter_map(|line| line.split_once('(')).map(|(name, _)| name);
        names.extend(starts.filter(|name| is_name(name)).map(str::to_owned));
    }
    names
}

fn is_name(text: &str) -> bool {
    text.starts_with("rmw_") && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[test]
fn what_the_headers_declare_is_exported_or_has_its_reason() {
    // librmw itself: zero-initialized structs, validation of names and the like.
    let common: BTreeSet<String> = defined(&Path::new(env!("SHOAL_ROS_LIB")).join("librmw.so")).into_iter().collect();
    let reasons = include_str!("not_exported.txt");
    let explained = |name: &str| reasons.lines().any(|line| line.starts_with(&format!("{name}: ")));
    let (declared, listed) = (declared(), listed());
    assert!(listed.iter().all(|name| declared.contains(name)), "every export stands in a header");
    let missing = declared.iter().filter(|name| !listed.contains(name) && !common.contains(*name) && !explained(name));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&String>::new(), "declared, but nobody's");
    for name in reasons.lines().filter_map(|line| line.split(':').next()) {
        assert!(!listed.iter().any(|export| export == name), "{name} is exported");
    }
}
