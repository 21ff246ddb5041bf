//! `cargo xtask storm`, and the tests that kill at each crash point: built with the feature `crash-steps`.

use crate::cases::Counts;
use crate::checks::{counted, Scope};
use crate::run::{self, Failure};
use std::process::Command;

/// How many kills the tests make: each crash point gets some, in less than a minute.
const KILLS_IN_TESTS: u64 = 600;

/// How hard it storms.
#[derive(clap::Args)]
pub struct Choice {
    /// How many processes to kill
    #[arg(long, default_value_t = 10_000)]
    kills: u64,
    /// What the random numbers follow from (default: the time; it is printed)
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs a storm; fails when anybody noticed, or, with kills enough for that, when nobody was killed at some crash point.
pub fn run(choice: &Choice) -> Result<(), Failure> {
    let mut cargo = run::cargo();
    cargo.args(["run", "--quiet", "--package", "shoal-tests", "--features", "crash-steps", "--bin", "storm", "--"]);
    cargo.args(["--kills", &choice.kills.to_string()]);
    if let Some(seed) = choice.seed {
        cargo.args(["--seed", &seed.to_string()]);
    }
    run::run_as_is(&mut cargo)
}

/// The tests that need crash points, and a short storm.
pub fn tests() -> Result<Counts, Failure> {
    let features = "shoal-registry/crash-steps,shoal-rmw/crash-steps";
    let packages = ["--package", "shoal-registry", "--package", "shoal-rmw"];
    let mut counts =
        counted(test().args(packages).args(["--features", features, "--test", "crash_steps"]), Scope::Chosen)?;
    let own = ["--package", "shoal-shm", "--features", "crash-steps", "--lib", "crash::"];
    counts += counted(test().args(own), Scope::Chosen)?;
    println!("-- a storm of {KILLS_IN_TESTS} kills");
    match run(&Choice { kills: KILLS_IN_TESTS, seed: None }) {
        Ok(()) => counts.passed += 1,
        Err(error) => {
            eprintln!("{error}");
            counts.failed += 1;
        }
    }
    Ok(counts)
}

fn test() -> Command {
    let mut cargo = run::cargo();
    cargo.args(["test", "--no-fail-fast"]);
    cargo
}
