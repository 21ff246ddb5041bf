//! Starts many nodes on several RMWs in turn, each time beside the floor: the same processes with the same libraries
//! loaded and no middleware in use.

mod fleet;
mod outcome;
mod plot;
mod process;
mod trial;

use crate::node::Workload;
use indicatif::{ProgressBar, ProgressStyle};
use outcome::Outcome;
use std::path::{Path, PathBuf};
use trial::Trial;

/// What is run, and how long.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// Numbers of nodes
    #[arg(long, value_delimiter = ',', default_value = "10,50,100")]
    pub nodes: Vec<usize>,
    /// A library of an RMW; repeat it for several, which run in turn
    #[arg(long, required = true)]
    pub rmw: Vec<PathBuf>,
    /// What the nodes do
    #[arg(long, value_enum, default_value = "ring")]
    pub workload: Workload,
    /// Publications of a node in a second
    #[arg(long, default_value_t = 10.0)]
    pub rate: f64,
    /// Seconds of steady load
    #[arg(long, default_value_t = 10.0)]
    pub seconds: f64,
    /// Seconds of doing nothing, after the load
    #[arg(long, default_value_t = 5.0)]
    pub idle: f64,
    /// Parameter events that each node publishes once all are matched
    #[arg(long, default_value_t = 0)]
    pub events: u32,
    /// How often a node leaves and another joins while the rest does nothing
    #[arg(long, default_value_t = 0)]
    pub churn: usize,
    /// Seconds after which a run whose nodes are not all up and matched is given up
    #[arg(long, default_value_t = 120.0)]
    pub patience: f64,
    /// The domain
    #[arg(long, default_value_t = 120)]
    pub domain: usize,
    /// Where results.json and the plots go
    #[arg(long, default_value = "target/scale")]
    pub out: PathBuf,
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or process could not be had.
    #[error("{what}: {source}")]
    Io {
        /// Which.
        what: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A plot could not be drawn.
    #[error("cannot draw {0}")]
    Plot(String),
}

/// Attaches what was tried to an I/O error.
fn at<T>(what: impl std::fmt::Display, result: std::io::Result<T>) -> Result<T, Error> {
    result.map_err(|source| Error::Io { what: what.to_string(), source })
}

/// Runs everything, prints a line for each run, and writes `results.json` and the plots.
///
/// # Errors
/// Processes cannot be started or results not be written. An RMW that does not come up is a result, no error.
pub fn run(options: &Options) -> Result<(), Error> {
    at(options.out.display(), std::fs::create_dir_all(&options.out))?;
    process::raise_limits();
    let rounds = options.nodes.len() * (options.rmw.len() + 1);
    let bar = ProgressBar::new(rounds as u64);
    bar.set_style(
        ProgressStyle::with_template("{bar:20} {pos}/{len} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let mut outcomes: Vec<Outcome> = Vec::new();
    println!("{}", Outcome::heading());
    for &nodes in &options.nodes {
        for rmw in std::iter::once(None).chain(options.rmw.iter().map(Some)) {
            let library = rmw.unwrap_or(&options.rmw[0]);
            let name = rmw.map_or_else(|| "floor".to_owned(), |path| name_of(path));
            let trial = Trial { options, library, floor: rmw.is_none(), name, nodes, bar: &bar };
            let outcome = trial.run()?;
            bar.suspend(|| println!("{}", outcome.line()));
            bar.inc(1);
            outcomes.push(outcome);
        }
    }
    bar.finish_and_clear();
    outcome::write(&options.out.join("results.json"), options, &outcomes)?;
    plot::draw_all(&options.out, &outcomes)?;
    println!("results and plots: {}", options.out.display());
    Ok(())
}

/// `rmw_x` of `…/librmw_x.so`.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.strip_prefix("lib").unwrap_or(&stem).to_owned()
}
