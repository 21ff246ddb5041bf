//! `shoal`: what is in a domain, how it moves, what is wrong with it, and clearing up after the dead.
//!
//! Everything but `clean` only reads: it joins no domain, takes no lock and stores nothing, so the nodes cannot tell that
//! somebody looks.
#![forbid(unsafe_code)]

mod clean;
mod doctor;
mod graph;
mod json;
mod ls;
mod place;
mod problem;
mod snapshot;
mod table;
mod text;
mod top;

use clap::{Parser, Subcommand};
use problem::Problem;

#[derive(Parser)]
#[command(name = "shoal", version, about = "Look at a domain of rmw_shoal, and clear up after the dead")]
struct Cli {
    #[command(flatten)]
    place: place::Options,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Contexts, nodes, topics and services, with types, hashes and QoS
    Ls(ls::Options),
    /// Rates, sizes, lag, memory and wake-ups, again and again
    Top(top::Options),
    /// The graph as a picture
    Graph(graph::Options),
    /// What is wrong on this machine or in this domain, and what to do about it
    Doctor(doctor::Options),
    /// Remove what dead processes left, and nothing else
    Clean(clean::Options),
}

fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Ls(options) => ls::run(&cli.place, options),
        Command::Top(options) => top::run(&cli.place, options),
        Command::Graph(options) => graph::run(&cli.place, options),
        Command::Doctor(options) => doctor::run(&cli.place, options),
        Command::Clean(options) => clean::run(&cli.place, options),
    };
    match result {
        Ok(()) => std::process::ExitCode::SUCCESS,
        // Somebody closed the pipe (`shoal ls | head`): nothing is wrong.
        Err(Problem::Write(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("shoal: {e}");
            e.exit_code()
        }
    }
}
