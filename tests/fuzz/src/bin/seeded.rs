//! Runs one target on seeded mutations. `cargo xtask fuzz` starts it where libFuzzer cannot be built.
#![forbid(unsafe_code)]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use shoal_fuzz::seeded::Plan;
use shoal_fuzz::{Target, TARGETS};

#[derive(Parser)]
struct Choice {
    /// The target's name
    target: String,
    /// How long
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Which inputs: the same seed gives the same
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where to keep the input that is being run, for when the process dies of it
    #[arg(long)]
    last: Option<PathBuf>,
    /// Run this input alone, once
    #[arg(long)]
    input: Option<PathBuf>,
}

fn main() -> std::process::ExitCode {
    let choice = Choice::parse();
    let Some(target) = TARGETS.iter().find(|target| target.name == choice.target) else {
        let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("no target '{}': there are {}", choice.target, names.join(", "));
        return std::process::ExitCode::FAILURE;
    };
    match run(target, &choice) {
        Ok(runs) => println!("{runs} runs"),
        Err(error) => {
            eprintln!("{}: {error}", target.name);
            return std::process::ExitCode::FAILURE;
        }
    }
    std::process::ExitCode::SUCCESS
}

fn run(target: &Target, choice: &Choice) -> std::io::Result<u64> {
    if let Some(path) = &choice.input {
        target.execute(&std::fs::read(path)?);
        return Ok(1);
    }
    let last = choice.last.as_ref().map(File::create).transpose()?;
    let end = Some(Instant::now() + Duration::from_secs(choice.seconds));
    let plan = Plan { target, seed: choice.seed, end, most: u64::MAX };
    Ok(plan.run(&mut |input| {
        // Best effort: without it a death is still found again by its seed.
        let _ = last.as_ref().map(|last| last.set_len(input.len() as u64).and_then(|()| last.write_all_at(input, 0)));
    }))
}
