//! `cargo xtask bench`: the benchmark of record (bench/src/bin/compare), built and run.

use crate::prefix::{self, Prefix};
use crate::run::{self, Failure};
use crate::{paths, plugin};
use std::path::PathBuf;
use std::process::Command;

/// What to measure.
#[derive(clap::Args)]
pub struct Choice {
    /// RMW libraries to compare the plugin with (default: the prefix's librmw_fastrtps_cpp.so)
    #[arg(long)]
    rmw: Vec<PathBuf>,
    /// Rows whose names contain one of these words, separated by commas (default: all)
    #[arg(long, default_value = "")]
    only: String,
    /// Rounds; in each, every RMW does every row in turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Short measurements
    #[arg(long)]
    quick: bool,
}

/// Builds the plugin and the benchmark, and runs it; the results are in target/bench.
pub fn run(choice: &Choice) -> Result<(), Failure> {
    let prefix = prefix::find_or_make(None)?;
    let own = plugin::build(&prefix)?;
    let mut cargo = run::cargo();
    cargo.args(["build", "--release", "--package", "shoal-bench", "--bin", "compare"]);
    plugin::with_prefix(&mut cargo, &prefix)?;
    run::run(&mut cargo)?;
    let mut c = Command::new(paths::target().join("release").join("compare"));
    c.env_remove("LD_PRELOAD").env("LD_LIBRARY_PATH", prefix.library_path()).arg("run").arg("--rmw").arg(own);
    for peer in peers(choice, &prefix) {
        c.arg("--rmw").arg(peer);
    }
    c.arg("--rounds").arg(choice.rounds.to_string()).arg("--out").arg(paths::target().join("bench"));
    for word in choice.only.split(',').filter(|word| !word.is_empty()) {
        c.arg("--only").arg(word);
    }
    if choice.quick {
        c.arg("--quick");
    }
    run::run_as_is(&mut c)
}

fn peers(choice: &Choice, prefix: &Prefix) -> Vec<PathBuf> {
    if !choice.rmw.is_empty() {
        return choice.rmw.clone();
    }
    Some(prefix.root.join("lib/librmw_fastrtps_cpp.so")).filter(|path| path.exists()).into_iter().collect()
}
