//! The benchmark of record: any RMW, loaded by path, does the same work through the C API in separate processes; the
//! RMWs alternate within each round, and ratios of medians of one run are what counts. `cargo xtask bench`.

mod api;
mod bars;
mod child;
mod clock;
mod control;
mod error;
mod figures;
mod histogram;
mod job;
mod plot;
mod report;
mod role;
mod ros;
mod system;
mod types;
mod work;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use error::{io, Error, Result};
use figures::{Figures, FLOOR};
use work::{Pace, Row, Runner, Work};

#[derive(Parser)]
#[command(about = "Measures RMWs side by side")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure
    Run(Choice),
    /// One process of a measurement
    #[command(hide = true)]
    Role { name: String, job: String },
}

#[derive(clap::Args)]
struct Choice {
    /// Libraries of the RMWs to compare, the one under test first
    #[arg(long = "rmw", required = true)]
    rmws: Vec<PathBuf>,
    /// Rows whose names contain one of these words, separated by commas
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Rounds; in each, every row is done by every RMW in turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Short measurements
    #[arg(long)]
    quick: bool,
    /// The folder for results.json, table.txt and the plots
    #[arg(long)]
    out: PathBuf,
}

fn main() -> std::process::ExitCode {
    let outcome = match Cli::parse().task {
        Task::Run(choice) => run(&choice),
        Task::Role { name, job } => play(&name, &job),
    };
    match outcome {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

fn play(name: &str, job: &str) -> Result<()> {
    let job = serde_json::from_str(job).map_err(|e| Error::Other(format!("{job}: {e}")))?;
    role::Role::find(name)?.run(&job)
}

/// What is known of an RMW by its file's name: `librmw_fastrtps_cpp.so` is "fastrtps".
fn short_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.trim_start_matches("lib").trim_start_matches("rmw_").trim_end_matches("_cpp").to_owned()
}

/// Removes the folder it made.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder> {
        let dir = PathBuf::from(format!("/dev/shm/shoal-bench-{}", std::process::id()));
        std::fs::create_dir(&dir).map_err(io(format!("make {}", dir.display())))?;
        Ok(Folder(dir))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(choice: &Choice) -> Result<()> {
    let rows = work::chosen(&choice.only)?;
    let names: Vec<String> = choice.rmws.iter().map(|path| short_name(path)).collect();
    let folder = Folder::new()?;
    // Its own domains in its own place, so that nothing else on the machine is met.
    std::env::set_var("SHOAL_DIR", &folder.0);
    let pace = match choice.quick {
        true => Pace { seconds: 0.5, idle: 10.0 },
        false => Pace { seconds: 2.0, idle: 60.0 },
    };
    let domain = std::env::var("ROS_DOMAIN_ID").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let runner = Runner { pace, domain, dir: folder.0.clone() };
    let figures = measure(choice, &rows, &names, &runner);
    report(choice, &rows, &names, &figures)
}

fn measure(choice: &Choice, rows: &[Row], names: &[String], runner: &Runner) -> Figures {
    let mut figures = Figures::default();
    let bar = ProgressBar::new((choice.rounds * rows.len() * names.len()) as u64);
    if let Ok(style) = ProgressStyle::with_template("{elapsed_precise} {bar:30} {pos}/{len} {msg} (left: {eta})") {
        bar.set_style(style);
    }
    for round in 0..choice.rounds {
        for row in rows {
            for turn in 0..names.len() {
                // Who goes first changes, so that nobody always has the warmer machine.
                let who = (round + turn) % names.len();
                bar.set_message(format!("round {} {} {}", round + 1, row.name, names[who]));
                if is_worth_doing(row.work, &names[who], round) {
                    note(&mut figures, row, &names[who], runner.run(row.work, &choice.rmws[who]));
                }
                bar.inc(1);
            }
            note(&mut figures, row, FLOOR, runner.floors(row.work, &choice.rmws[0]));
        }
    }
    bar.finish_and_clear();
    figures
}

/// Loans of types made here need a type support that only introspection has; idleness is measured once.
fn is_worth_doing(work: Work, who: &str, round: usize) -> bool {
    match work {
        Work::Loan(_) => who == "shoal",
        Work::Idle => round == 0,
        _ => true,
    }
}

fn note(figures: &mut Figures, row: &Row, who: &str, outcome: Result<Vec<work::Figure>>) {
    match outcome {
        Ok(found) => found.iter().for_each(|(figure, value)| figures.add(&row.name, who, figure, *value)),
        Err(why) => figures.fail(&row.name, who, why.to_string()),
    }
}

/// The figures compared in the plot of ratios.
const COMPARED: [(&str, &str); 9] = [
    ("stream-64-keep-last", "source cpu per message"),
    ("fan-out-8", "source cpu per message"),
    ("fan-out-8", "sink p50"),
    ("fan-in-32", "sink cpu per message"),
    ("late-join", "p50"),
    ("service", "p50"),
    ("bring-up-50", "wall s"),
    ("bring-up-50", "cpu s"),
    ("bring-up-50", "pss MiB"),
];

fn report(choice: &Choice, rows: &[Row], names: &[String], figures: &Figures) -> Result<()> {
    let out = &choice.out;
    std::fs::create_dir_all(out).map_err(io(format!("make {}", out.display())))?;
    let bars = bars::check(figures);
    let text = format!("{}\n{}", report::bars(&bars), report::table(figures, rows, names));
    let all = json!({ "rmws": names, "rounds": choice.rounds, "bars": report::bars_json(&bars),
        "figures": figures.to_json() });
    let write = |name: &str, text: &str| {
        let path = out.join(name);
        std::fs::write(&path, text).map_err(io(format!("write {}", path.display())))
    };
    write("results.json", &format!("{all:#}"))?;
    write("table.txt", &text)?;
    plot::round_trips(&out.join("rtt.svg"), figures, "rtt", names)?;
    plot::round_trips(&out.join("loan.svg"), figures, "loan", names)?;
    plot::ratios(&out.join("ratios.svg"), figures, &COMPARED, names)?;
    println!("{text}");
    println!("results.json, table.txt and plots: {}", out.display());
    Ok(())
}
