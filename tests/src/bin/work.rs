//! Shares items among consumers that are killed: `cargo xtask work`.

use clap::Parser;
use shoal_tests::work::{run, Options, MOST_ITEMS};
use std::path::PathBuf;

#[derive(Parser)]
#[command(about = "A work queue whose consumers are killed and stopped: each item is acknowledged once")]
struct Arguments {
    /// How many items
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=MOST_ITEMS as u64))]
    items: u64,
    /// How many consumers to kill
    #[arg(long, default_value_t = 50)]
    kills: u64,
    /// What the random numbers follow from (default: the time)
    #[arg(long)]
    seed: Option<u64>,
}

fn main() -> std::process::ExitCode {
    let Arguments { items, kills, seed } = Arguments::parse();
    let root = PathBuf::from(format!("/dev/shm/shoal-work-{}", std::process::id()));
    std::fs::create_dir_all(&root).expect("shared memory can be written");
    std::env::set_var("SHOAL_DIR", &root);
    let now = || {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |since| since.as_millis() as u64)
    };
    let seed = seed.unwrap_or_else(now);
    println!("a queue of {items} items, {kills} kills, seed {seed}");
    let good = run(Options { items, kills, seed }, &root);
    // Leftovers were told of.
    let _ = std::fs::remove_dir_all(&root);
    if good {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}
