//! One process of load; `scale` starts it.

use clap::Parser;

#[derive(Parser)]
#[command(about = "One node of load on an RMW; reads commands from its input")]
struct Cli {
    #[command(flatten)]
    options: shoal_bench::node::Options,
}

fn main() -> std::process::ExitCode {
    match shoal_bench::node::run(&Cli::parse().options) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("load_node: {e}");
            std::process::ExitCode::FAILURE
        }
    }
}
