//! `cargo xtask test`, `loom` and `probes`.

use crate::cases::{self, Counts};
use crate::prefix::{self, Distro, Prefix};
use crate::run::{self, Failure};
use crate::{capi, paths, plugin, storm};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// The Rust tests of the workspace, then the C and C++ programs and the ROS 2 client cases on jazzy, then a build, the
/// programs and the smoke cases on kilted. Prints the counts at the end.
pub fn test(ros_only: bool) -> Result<(), Failure> {
    let prefix = prefix::find_or_make(None)?;
    let mut counts = Counts::default();
    if !ros_only {
        counts += rust_tests(&prefix)?;
        counts += storm::tests()?;
    }
    let lib = plugin::build(&prefix)?;
    counts += capi::run_all(&prefix, &lib, "")?;
    counts += cases::run_all(&prefix, Some(&lib), "")?;
    if prefix.wheels {
        let other = prefix::find_or_make(Some(Distro::Kilted))?;
        println!("-- {}: build, C and C++ programs, smoke", other.distro);
        let lib = plugin::build(&other)?;
        counts += capi::run_all(&other, &lib, "")?;
        counts += cases::run_all(&other, Some(&lib), "smoke")?;
    }
    counts.close()
}

fn rust_tests(prefix: &Prefix) -> Result<Counts, Failure> {
    let mut cargo = run::cargo();
    cargo.args(["test", "--workspace", "--no-fail-fast"]);
    plugin::with_prefix(&mut cargo, prefix)?;
    counted(&mut cargo, Scope::Everything)
}

/// Runs a `cargo test`, showing its output, and adds up its result lines. A run that fails without a failed test
/// (it did not compile, a test process died) counts as one failure.
pub fn counted(cargo: &mut Command, scope: Scope) -> Result<Counts, Failure> {
    let start = |source| Failure::Start { what: "cargo test".into(), source };
    let mut child = cargo.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(start)?;
    let mut counts = Counts::default();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            println!("{line}");
            counts += result_line(&line, scope);
        }
    }
    let status = child.wait().map_err(start)?;
    if !status.success() && counts.failed == 0 {
        counts.failed = 1;
    }
    Ok(counts)
}

/// Whether a run of tests leaves some out by their names.
#[derive(Copy, Clone)]
pub enum Scope {
    Everything,
    Chosen,
}

/// The counts of a line like `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; …`.
///
/// In a run of everything, a line of a run that left some out is not ours: a test that starts itself again as another
/// process prints it.
fn result_line(line: &str, scope: Scope) -> Counts {
    let mut counts = Counts::default();
    let Some(rest) = line.strip_prefix("test result: ") else { return counts };
    if matches!(scope, Scope::Everything) && !rest.contains("; 0 filtered out") {
        return counts;
    }
    let words: Vec<&str> = rest.split([' ', ';']).filter(|w| !w.is_empty()).collect();
    for pair in words.windows(2) {
        let Ok(n) = pair[0].parse() else { continue };
        match pair[1] {
            "passed" => counts.passed = n,
            "failed" => counts.failed = n,
            "ignored" => counts.skipped = n,
            _ => {}
        }
    }
    counts
}

/// Clippy over every target of the workspace, with what the build script of the plugin needs.
pub fn clippy() -> Result<(), Failure> {
    let mut cargo = run::cargo();
    cargo.args(["clippy", "--workspace", "--all-targets"]);
    plugin::with_prefix(&mut cargo, &prefix::find_or_make(None)?)?;
    run::run_as_is(cargo.args(["--", "-D", "warnings"]))
}

/// Which of the shared probes to run.
#[derive(clap::Args)]
pub struct ProbeChoice {
    /// Case numbers, separated by commas: B01,B02 (default: all)
    #[arg(long, default_value = "")]
    only: String,
    /// The distribution (default: the installed one, or jazzy)
    #[arg(long)]
    distro: Option<Distro>,
    /// A factor on the number of rounds
    #[arg(long, default_value = "1.0")]
    scale: String,
    /// The folder of the probes
    #[arg(long, default_value = "../shared/probes")]
    dir: std::path::PathBuf,
}

/// Runs the black-box probes that lie beside this work tree in some places; says so where they do not.
pub fn probes(choice: &ProbeChoice) -> Result<(), Failure> {
    let script = paths::workspace().join(&choice.dir).join("run.py");
    if !script.exists() {
        let missing = script.display();
        return Err(Failure::Advice(format!("there is no {missing}: `cargo xtask cases` is this project's own suite")));
    }
    let prefix = prefix::find_or_make(choice.distro)?;
    let lib = plugin::build(&prefix)?;
    let mut c = Command::new("python3");
    c.env_remove("LD_PRELOAD").env("ROS_DISTRO", prefix.distro.name()).env("LD_LIBRARY_PATH", "");
    c.arg(script).arg("--ros").arg(&prefix.root).arg("--rmw").arg(lib);
    c.args(["--scale", &choice.scale, "--only", &choice.only]);
    run::run_as_is(&mut c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_the_result_lines_of_cargo_test() {
        let line = "test result: FAILED. 12 passed; 2 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.10s";
        assert_eq!(result_line(line, Scope::Chosen), Counts { passed: 12, failed: 2, skipped: 1 });
        assert_eq!(result_line(line, Scope::Everything), Counts::default());
        let whole = line.replace("4 filtered", "0 filtered");
        assert_eq!(result_line(&whole, Scope::Everything), Counts { passed: 12, failed: 2, skipped: 1 });
        assert_eq!(result_line("test crash::a_passed ... ok", Scope::Chosen), Counts::default());
    }
}
