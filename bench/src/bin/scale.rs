//! Many nodes on several RMWs in turn: `cargo xtask scale`.

use clap::Parser;

#[derive(Parser)]
#[command(about = "Starts many nodes on several RMWs in turn, and says what they cost")]
struct Cli {
    #[command(flatten)]
    options: shoal_bench::scale::Options,
}

fn main() -> std::process::ExitCode {
    match shoal_bench::scale::run(&Cli::parse().options) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("scale: {e}");
            std::process::ExitCode::FAILURE
        }
    }
}
