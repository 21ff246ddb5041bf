//! C and C++ programs that are compiled against the installed headers and the built plugin.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of headers and of libraries that the build used.
const INCLUDES: &str = env!("SHOAL_ROS_INCLUDES");
pub const LIBRARIES: &str = env!("SHOAL_ROS_LIB");

const STRICT: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Runs a command that must succeed.
pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&text));
}

/// Where the plugin lies that was built together with this test.
pub fn plugin_folder() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    test.parent().expect("its folder").into()
}

/// A compiler that knows the headers of ROS and ours.
pub fn compiler(language: Language) -> Command {
    let (variable, default, standard) = match language {
        Language::C => ("CC", "gcc", "-std=c11"),
        Language::Cpp => ("CXX", "g++", "-std=c++17"),
    };
    let mut command = Command::new(std::env::var(variable).unwrap_or_else(|_| default.into()));
    command.arg(standard).args(STRICT).arg(concat!("-I", env!("CARGO_MANIFEST_DIR"), "/include"));
    command.args(std::env::split_paths(INCLUDES).map(|dir| format!("-isystem{}", dir.display())));
    command
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    C,
    Cpp,
}

/// Compiles one program of a source in tests/c.
pub fn compile(language: Language, source: &str, program: &Path) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join("tests/c");
    let mut command = compiler(language);
    command.arg("-D_GNU_SOURCE").arg(folder.join(source)).arg("-o").arg(program);
    command.arg(format!("-L{}", plugin_folder().display())).arg(format!("-L{LIBRARIES}"));
    command.args(["-lrmw_shoal", "-lrmw", "-lrcutils", "-lrosidl_runtime_c", "-pthread"]);
    command.args(["-lstd_msgs__rosidl_generator_c", "-lstd_msgs__rosidl_typesupport_c"]);
    command.arg("-Wl,--allow-shlib-undefined");
    run(&mut command);
}

/// The program with what it needs to find its libraries.
pub fn started(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", format!("{}:{LIBRARIES}", plugin_folder().display()));
    command
}
