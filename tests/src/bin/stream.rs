//! Sends bytes through a stream between two processes, and measures: `cargo xtask stream`.

use clap::Parser;
use shoal_tests::stream::{run, Options};
use std::path::PathBuf;

#[derive(Parser)]
#[command(about = "Bytes through a stream: throughput, memory, and what is left when a side is killed")]
struct Arguments {
    /// How many bytes to send
    #[arg(long, default_value_t = 10 << 30)]
    bytes: u64,
    /// Chunks in flight
    #[arg(long, default_value_t = 8)]
    window: usize,
    /// Bytes of a chunk
    #[arg(long, default_value_t = 64 << 10)]
    chunk: usize,
}

fn main() -> std::process::ExitCode {
    let Arguments { bytes, window, chunk } = Arguments::parse();
    let root = PathBuf::from(format!("/dev/shm/shoal-stream-{}", std::process::id()));
    std::fs::create_dir_all(&root).expect("shared memory can be written");
    std::env::set_var("SHOAL_DIR", &root);
    let good = run(Options { bytes, window, chunk: chunk.max(16) }, &root);
    // Leftovers were told of.
    let _ = std::fs::remove_dir_all(&root);
    if good {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}
