//! What the shared object exports: the functions of the rmw headers and of shoal.h, and nothing else.

mod common;

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
