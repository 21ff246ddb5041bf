//! Generates the bindings of the installed ROS headers and links the plugin against the same installation.
//!
//! The layouts and signatures of an RMW plugin must be those of the ROS it is loaded into, so nothing of them is
//! checked in: bindgen reads the headers of the prefix, and the libraries recorded as needed come from that prefix.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

/// Headers the plugin implements or calls.
const HEADERS: &[&str] = &[
    "rcutils/allocator.h",
    "rcutils/error_handling.h",
    "rcutils/logging.h",
    "rcutils/strdup.h",
    "rcutils/types.h",
    "rmw/allocators.h",
    "rmw/discovery_options.h",
    "rmw/error_handling.h",
    "rmw/event.h",
    "rmw/features.h",
    "rmw/get_network_flow_endpoints.h",
    "rmw/get_node_info_and_types.h",
    "rmw/get_service_names_and_types.h",
    "rmw/get_topic_endpoint_info.h",
    "rmw/get_topic_names_and_types.h",
    "rmw/init.h",
    "rmw/init_options.h",
    "rmw/message_sequence.h",
    "rmw/names_and_types.h",
    "rmw/qos_profiles.h",
    "rmw/rmw.h",
    "rmw/security_options.h",
    "rmw/topic_endpoint_info_array.h",
    "rmw/validate_full_topic_name.h",
    "rmw/validate_namespace.h",
    "rmw/validate_node_name.h",
    "rosidl_runtime_c/message_type_support_struct.h",
    "rosidl_runtime_c/primitives_sequence.h",
    "rosidl_runtime_c/primitives_sequence_functions.h",
    "rosidl_runtime_c/service_type_support_struct.h",
    "rosidl_runtime_c/string_functions.h",
    "rosidl_runtime_c/type_hash.h",
    "rosidl_runtime_c/u16string_functions.h",
    "rosidl_typesupport_introspection_c/field_types.h",
    "rosidl_typesupport_introspection_c/identifier.h",
    "rosidl_typesupport_introspection_c/message_introspection.h",
    "rosidl_typesupport_introspection_c/service_introspection.h",
    "shoal.h",
];

/// Our own headers.
const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include");

/// Libraries whose functions the plugin calls.
const LIBRARIES: &[&str] = &["rmw", "rcutils", "rosidl_runtime_c"];

fn main() {
    if let Err(message) = run() {
        println!("cargo::error={message}");
        exit(1);
    }
}

fn run() -> Result<(), String> {
    for name in ["ROS_PREFIX", "AMENT_PREFIX_PATH", "ROS_DISTRO", "LIBCLANG_PATH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let manifest = PathBuf::from(var("CARGO_MANIFEST_DIR")?);
    let workspace = manifest.parent().unwrap_or(&manifest);
    let out = PathBuf::from(var("OUT_DIR")?);
    let prefix = find_prefix(workspace)?;
    tell_the_code(&prefix);
    select_libclang(workspace);
    generate(&prefix, &out)?;
    compile_bridge(&prefix)?;
    link(&prefix, &out)
}

fn var(name: &str) -> Result<String, String> {
    env::var(name).map_err(|e| format!("{name}: {e}; build this crate with cargo"))
}

/// The ROS to build against: the one asked for, the one sourced, the one installed, the one `cargo xtask ros` laid.
fn find_prefix(workspace: &Path) -> Result<PathBuf, String> {
    if let Some(asked) = env::var_os("ROS_PREFIX").map(PathBuf::from) {
        return match has_rmw(&asked) {
            true => Ok(asked),
            false => Err(format!("ROS_PREFIX={} has no include/rmw; name a ROS 2 prefix there", asked.display())),
        };
    }
    let distro = env::var("ROS_DISTRO").unwrap_or_else(|_| "jazzy".into());
    let sourced = env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let laid = workspace.join("target/ros").join(&distro);
    let mut candidates: Vec<PathBuf> = env::split_paths(&sourced).collect();
    candidates.extend([Path::new("/opt/ros").join(&distro), laid.clone()]);
    candidates.into_iter().find(|p| has_rmw(p)).ok_or_else(|| {
        format!(
            "no ROS 2 found: looked at ROS_PREFIX, AMENT_PREFIX_PATH, /opt/ros/{distro} and {}; \
             run `cargo xtask ros {distro}` to lay one there, or source your ROS setup file",
            laid.display()
        )
    })
}

fn has_rmw(prefix: &Path) -> bool {
    rmw_include(prefix).is_some()
}

/// ROS installs headers as include/<pkg>/<pkg>/x.h; merged or old layouts have include/<pkg>/x.h.
fn rmw_include(prefix: &Path) -> Option<PathBuf> {
    ["include/rmw", "include"].map(|d| prefix.join(d)).into_iter().find(|d| d.join("rmw/rmw.h").is_file())
}

/// `cfg(rmw_up_to_jazzy)`: the rmw of Jazzy is the last one that has localhost.h.
fn tell_the_code(prefix: &Path) {
    println!("cargo::rustc-check-cfg=cfg(rmw_up_to_jazzy)");
    if rmw_include(prefix).is_some_and(|dir| dir.join("rmw/localhost.h").is_file()) {
        println!("cargo::rustc-cfg=rmw_up_to_jazzy");
    }
}

/// Bindgen loads libclang when it runs; take the one `cargo xtask ros` laid unless the user names another.
fn select_libclang(workspace: &Path) {
    let laid = workspace.join("target/ros/libclang");
    if env::var_os("LIBCLANG_PATH").is_none() && laid.join("libclang.so").is_file() {
        env::set_var("LIBCLANG_PATH", laid);
    }
}

fn generate(prefix: &Path, out: &Path) -> Result<(), String> {
    let mut builder = bindgen::Builder::default()
        .header_contents("shoal_ros.h", &umbrella())
        .clang_args(clang_args(prefix)?)
        .default_enum_style(bindgen::EnumVariation::Consts)
        .prepend_enum_name(false)
        .generate_comments(false)
        .derive_default(false)
        .blocklist_var("rmw_qos_profile_.*")
        .parse_callbacks(Box::new(ReturnCodes))
        .rust_target(bindgen::RustTarget::stable(85, 0).map_err(|e| e.to_string())?);
    for family in ["rmw", "rcutils", "rosidl", "shoal", "RMW", "RCUTILS", "ROSIDL", "SHOAL"] {
        let pattern = format!("{family}_.*");
        builder = builder.allowlist_function(&pattern).allowlist_type(&pattern).allowlist_var(&pattern);
    }
    let bindings = builder
        .generate()
        .map_err(|e| format!("bindgen failed on the headers of {}: {e}; see the lines above", prefix.display()))?;
    bindings.write_to_file(out.join("ros.rs")).map_err(|e| format!("{}/ros.rs: {e}", out.display()))
}

/// Gives the RMW_RET_* macros the type of `rmw_ret_t`.
#[derive(Debug)]
struct ReturnCodes;

impl bindgen::callbacks::ParseCallbacks for ReturnCodes {
    fn int_macro(&self, name: &str, _value: i64) -> Option<bindgen::callbacks::IntKind> {
        name.starts_with("RMW_RET_").then_some(bindgen::callbacks::IntKind::I32)
    }
}

fn umbrella() -> String {
    let mut text = String::new();
    for header in HEADERS {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "#include \"{header}\"");
    }
    text
}

fn clang_args(prefix: &Path) -> Result<Vec<String>, String> {
    println!("cargo::rerun-if-changed={}", prefix.join("include").display());
    let dirs = include_dirs(prefix)?;
    let joined = env::join_paths(&dirs).map_err(|e| e.to_string())?;
    println!("cargo::rustc-env=SHOAL_ROS_INCLUDES={}", joined.to_string_lossy());
    println!("cargo::rerun-if-changed={INCLUDE}");
    let mut args: Vec<String> = dirs.iter().map(|dir| format!("-I{}", dir.display())).collect();
    args.push(format!("-I{INCLUDE}"));
    // A libclang from a wheel comes without the compiler's own headers (stddef.h and the like).
    args.extend(compiler_headers().map(|dir| format!("-isystem{dir}")));
    Ok(args)
}

fn include_dirs(prefix: &Path) -> Result<Vec<PathBuf>, String> {
    let include = prefix.join("include");
    let entries = include.read_dir().map_err(|e| format!("{}: {e}", include.display()))?;
    let packages: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
    Ok([vec![include], packages].concat())
}

/// The C++ side of the type supports: what the containers of C++ messages need. Also where the C++ introspection
/// structures are checked against the C ones that the bindings have.
fn compile_bridge(prefix: &Path) -> Result<(), String> {
    for file in ["bridge.cc", "bridge.h"] {
        println!("cargo::rerun-if-changed=src/typesupport/{file}");
    }
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").warnings(true).extra_warnings(true).flag("-fvisibility=hidden");
    build.file("src/typesupport/bridge.cc");
    for dir in include_dirs(prefix)? {
        build.flag(format!("-isystem{}", dir.display()));
    }
    build.try_compile("shoal_bridge").map_err(|e| format!("src/typesupport/bridge.cc: {e}"))
}

fn compiler_headers() -> Option<String> {
    let cc = env::var("CC").unwrap_or_else(|_| "gcc".into());
    let output = Command::new(cc).arg("-print-file-name=include").output().ok()?;
    let dir = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    Path::new(&dir).is_absolute().then_some(dir)
}

/// Cargo gives tests the search paths that lie in its target folder as LD_LIBRARY_PATH; a link there to the prefix's
/// libraries makes `cargo test` find them without an environment of its own.
fn link(prefix: &Path, out: &Path) -> Result<(), String> {
    let libraries = prefix.join("lib");
    let local = out.join("ros-lib");
    if local.is_symlink() {
        std::fs::remove_file(&local).map_err(|e| format!("{}: {e}", local.display()))?;
    }
    let target = libraries.canonicalize().map_err(|e| format!("{}: {e}", libraries.display()))?;
    std::os::unix::fs::symlink(target, &local).map_err(|e| format!("{}: {e}", local.display()))?;
    println!("cargo::rustc-link-search=native={}", local.display());
    // For tests that compile C; only what names the variable contains the path.
    println!("cargo::rustc-env=SHOAL_ROS_LIB={}", local.display());
    for library in LIBRARIES {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
    // The plugin's handler of SIGBUS, and those of forks, must not outlive its code: dlclose leaves it loaded.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    Ok(())
}
