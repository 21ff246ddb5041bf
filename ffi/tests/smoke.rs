//! A C program against the installed headers and the built plugin.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of headers and of libraries that the build used.
const INCLUDES: &str = env!("SHOAL_ROS_INCLUDES");
const LIBRARIES: &str = env!("SHOAL_ROS_LIB");

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&text));
}

fn compile(program: &Path, plugin_folder: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/smoke.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "gcc".into());
    let mut command = Command::new(compiler);
    command.args(["-std=c11", "-Wall", "-Wextra", "-Werror"]).arg(source).arg("-o").arg(program);
    command.args(std::env::split_paths(INCLUDES).map(|dir| format!("-isystem{}", dir.display())));
    command.arg(format!("-L{}", plugin_folder.display())).arg(format!("-L{LIBRARIES}"));
    command.args(["-lrmw_shoal", "-lrmw", "-lrcutils", "-lrosidl_runtime_c"]);
    command.args(["-lstd_msgs__rosidl_generator_c", "-lstd_msgs__rosidl_typesupport_c"]);
    command.arg("-Wl,--allow-shlib-undefined");
    run(&mut command);
}

#[test]
fn a_c_program_publishes_waits_and_takes() {
    common::watchdog();
    let test = std::env::current_exe().expect("the path of this test");
    let plugin_folder: PathBuf = test.parent().expect("its folder").into();
    let program = std::env::temp_dir().join(format!("shoal-smoke-{}", std::process::id()));
    compile(&program, &plugin_folder);
    let shared = PathBuf::from(format!("/dev/shm/shoal-smoke-{}", std::process::id()));
    std::fs::create_dir_all(&shared).expect("a directory in /dev/shm");
    let path = format!("{}:{LIBRARIES}", plugin_folder.display());
    run(Command::new(&program).env("SHOAL_DIR", &shared).env("LD_LIBRARY_PATH", path));
    std::fs::remove_file(&program).expect("the program is there");
    std::fs::remove_dir_all(&shared).expect("the directory is there");
}
