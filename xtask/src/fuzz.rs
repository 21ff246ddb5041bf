//! `cargo xtask fuzz`: the targets of tests/fuzz, guided by libFuzzer with the address sanitizer where a nightly compiler is
//! installed, else on mutations from a seed.

use crate::paths;
use crate::run::{self, at, Failure};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

const TARGETS: [&str; 6] = ["ring", "cdr", "filter", "graph", "talk", "files"];

/// What cargo-fuzz gives the compiler, too: coverage counters for libFuzzer, and the address sanitizer.
const GUIDED_FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Zsanitizer=address -Ccodegen-units=1";

/// What to fuzz, and how long.
#[derive(clap::Args)]
pub struct Choice {
    /// Minutes for each target
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// One target: ring, cdr, filter, graph, talk or files (default: all)
    #[arg(long)]
    target: Option<String>,
    /// Which mutations: the same seed gives the same (of libFuzzer, with the same corpus)
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Use the engine that needs no nightly compiler
    #[arg(long)]
    seeded: bool,
}

/// The program that runs a target.
enum Engine {
    Guided(PathBuf),
    Seeded(PathBuf),
}

/// How a target ended.
struct Outcome {
    runs: u64,
    seconds: f64,
    /// Coverage and corpus, where the engine has them.
    reach: String,
    /// The input that found something.
    found: Option<PathBuf>,
}

pub fn run(choice: &Choice) -> Result<(), Failure> {
    let chosen: Vec<_> =
        TARGETS.into_iter().filter(|name| choice.target.as_deref().is_none_or(|t| t == *name)).collect();
    if chosen.is_empty() {
        let asked = choice.target.as_deref().unwrap_or_default();
        return Err(Failure::Advice(format!("no target '{asked}': there are {}", TARGETS.join(", "))));
    }
    let engine = engine(choice.seeded)?;
    println!("{}", engine.described());
    let (mut runs, mut found) = (0, Vec::new());
    for target in chosen {
        let outcome = engine.fuzz(target, choice)?;
        let rate = outcome.runs as f64 / outcome.seconds.max(0.001);
        let verdict = if outcome.found.is_some() { "1 crash" } else { "0 crashes" };
        println!("{target:8} {:>12} runs {rate:>10.0}/s  {}  {verdict}", outcome.runs, outcome.reach);
        runs += outcome.runs;
        found.extend(outcome.found.map(|input| (target, input)));
    }
    println!("{:8} {runs:>12} runs", "all");
    match found.first() {
        None => Ok(()),
        Some((target, input)) => Err(Failure::Advice(format!(
            "{target} has found something: {} (what it says is in the log beside it). Copy the input to \
             tests/fuzz/regressions/{target}/<what it is>, where the normal tests run it, too, and mend the cause",
            input.display()
        ))),
    }
}

/// Builds the best engine that this machine can.
fn engine(seeded: bool) -> Result<Engine, Failure> {
    if !seeded {
        match build_guided() {
            Ok(program) => return Ok(Engine::Guided(program)),
            Err(why) => {
                println!("no libFuzzer here ({why}); `rustup toolchain install nightly` and g++ make it possible")
            }
        }
    }
    let mut cargo = run::cargo();
    build(&mut cargo, "seeded", &[])?;
    Ok(Engine::Seeded(home().join("release").join("seeded")))
}

fn build_guided() -> Result<PathBuf, Failure> {
    let version = run::output(Command::new("rustup").args(["run", "nightly", "rustc", "-vV"]));
    let host = version.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("host: ")));
    let host = host.ok_or_else(|| Failure::Advice("no nightly compiler".into()))?;
    let mut cargo = Command::new("rustup");
    cargo.args(["run", "nightly", "cargo"]).current_dir(paths::workspace()).env_remove("LD_PRELOAD");
    // The calling cargo says which toolchain it is of.
    cargo.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env("RUSTFLAGS", GUIDED_FLAGS);
    build(&mut cargo, "guided", &["--features", "libfuzzer", "--target", host])?;
    Ok(home().join(host).join("release").join("guided"))
}

/// Optimized, but with the checks of a debug build: an overflow is a panic.
fn build(cargo: &mut Command, program: &str, more: &[&str]) -> Result<(), Failure> {
    cargo.args(["build", "--release", "--package", "shoal-fuzz", "--bin", program, "--target-dir"]).arg(home());
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true").env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true");
    run::run(cargo.args(more))
}

fn home() -> PathBuf {
    paths::target().join("fuzz")
}

impl Engine {
    fn described(&self) -> &'static str {
        match self {
            Engine::Guided(_) => "engine: libFuzzer, guided by coverage, with the address sanitizer",
            Engine::Seeded(_) => "engine: mutations from a seed, with debug assertions and overflow checks",
        }
    }

    fn fuzz(&self, target: &str, choice: &Choice) -> Result<Outcome, Failure> {
        let dir = home().join("work").join(target);
        at(&dir, std::fs::create_dir_all(dir.join("corpus")))?;
        let log = dir.join("log");
        let seconds = (choice.minutes * 60.0).ceil().max(1.0) as u64;
        let (mut command, last) = match self {
            Engine::Guided(program) => (guided(program, target, &dir, seconds, choice.seed), None),
            Engine::Seeded(program) => (seeded(program, target, &dir, seconds, choice.seed), Some(dir.join("last"))),
        };
        let begun = Instant::now();
        let status = logged(&mut command, &log)?;
        let said = at(&log, std::fs::read(&log))?;
        let said = String::from_utf8_lossy(&said);
        let found = if status.success() { None } else { Some(last.or_else(|| artifact(&said)).unwrap_or(log)) };
        let runs = runs(&said).unwrap_or(0);
        Ok(Outcome { runs, seconds: begun.elapsed().as_secs_f64(), reach: reach(&said), found })
    }
}

fn guided(program: &Path, target: &str, dir: &Path, seconds: u64, seed: u64) -> Command {
    let mut command = Command::new(program);
    command.env("SHOAL_FUZZ_TARGET", target).env("SHOAL_FUZZ_SEEDS", dir.join("corpus"));
    // What is kept for the whole process (images, tables) is no leak.
    command.env("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1");
    command.arg(dir.join("corpus")).arg(format!("-artifact_prefix={}/", dir.display()));
    command.arg(format!("-max_total_time={seconds}")).arg(format!("-seed={seed}"));
    command.args(["-max_len=512", "-timeout=300", "-rss_limit_mb=4096", "-print_final_stats=1"]);
    command
}

fn seeded(program: &Path, target: &str, dir: &Path, seconds: u64, seed: u64) -> Command {
    let mut command = Command::new(program);
    command.args([target, "--seconds", &seconds.to_string(), "--seed", &seed.to_string()]);
    command.arg("--last").arg(dir.join("last"));
    command
}

/// Runs a command with all that it says in a file.
fn logged(command: &mut Command, log: &Path) -> Result<ExitStatus, Failure> {
    let file = at(log, File::create(log))?;
    let copy = at(log, file.try_clone())?;
    // A program that the calling shell preloads is none of ours.
    let status = command.env_remove("LD_PRELOAD").stdin(Stdio::null()).stdout(file).stderr(copy).status();
    status.map_err(|source| Failure::Start { what: run::shown(command), source })
}

/// The number of runs, as either engine says it last.
fn runs(said: &str) -> Option<u64> {
    let of_line = |line: &str| {
        let by_libfuzzer = line.strip_prefix("stat::number_of_executed_units:");
        by_libfuzzer.or_else(|| line.strip_suffix(" runs"))?.trim().parse().ok()
    };
    said.lines().rev().find_map(of_line)
}

/// `cov: 1021 ft: 4711 corp: 353/20Kb` of libFuzzer's last line with one.
fn reach(said: &str) -> String {
    let words = said.lines().rev().find_map(|line| line.split_once(" cov: ").map(|(_, rest)| rest.split(' ')));
    let mut words = words.into_iter().flatten().filter(|word| !word.is_empty());
    let mut next = || words.next().unwrap_or("-");
    match (next(), next(), next(), next(), next()) {
        (edges, "ft:", _, "corp:", corpus) => format!("{edges:>5} edges, corpus {corpus:>12}"),
        _ => String::from("no coverage"),
    }
}

/// The input that libFuzzer wrote before it died.
fn artifact(said: &str) -> Option<PathBuf> {
    said.lines().rev().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "#4096\tpulse  cov: 1021 ft: 4711 corp: 353/20Kb lim: 43 exec/s: 2048 rss: 51Mb\n\
        artifact_prefix='/w/'; Test unit written to /w/crash-0a\nstat::number_of_executed_units: 5012\n";

    #[test]
    fn reads_what_the_engines_say() {
        assert_eq!((runs(SAID), runs("12 runs\n"), runs("nothing")), (Some(5012), Some(12), None));
        assert_eq!(reach(SAID), " 1021 edges, corpus     353/20Kb");
        assert_eq!(reach("12 runs"), "no coverage");
        assert_eq!(artifact(SAID), Some("/w/crash-0a".into()));
    }
}
