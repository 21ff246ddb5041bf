//! The engine that needs nothing but this crate: mutations from a seed, for a time or a number of runs.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use crate::{mutate, Target};

/// A run that takes longer than this is a hang, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs that have begun.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Inputs to start from, in a fixed order: what the target itself brings, and what once found something.
pub fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let mut seeds = (target.seeds)();
    seeds.extend(regressions(target).into_iter().map(|(_, input)| input));
    seeds
}

/// Inputs that once found something, with their file names, in the order of those.
pub fn regressions(target: &Target) -> Vec<(String, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target.name);
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let read = |entry: std::fs::DirEntry| {
        Some((entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).ok()?))
    };
    let mut found: Vec<_> = entries.filter_map(read).collect();
    found.sort();
    found
}

/// What to run, and for how long.
pub struct Plan<'a> {
    /// The target.
    pub target: &'a Target,
    /// Which inputs.
    pub seed: u64,
    /// When to end, if not before.
    pub end: Option<Instant>,
    /// The most runs.
    pub most: u64,
}

impl Plan<'_> {
    /// Runs the target; how often it ran. `before` is told each input before it is run.
    ///
    /// # Panics
    /// The target has found something. A run that does not end ends the process.
    pub fn run(&self, before: &mut dyn FnMut(&[u8])) -> u64 {
        let _watched = watch(self.target.name, self.seed);
        let seeds = seeds(self.target);
        let mut done = 0;
        while done < self.most && self.end.is_none_or(|end| Instant::now() < end) {
            let input = mutate::input(&seeds, self.seed, done);
            before(&input);
            BEGUN.fetch_add(1, Ordering::Relaxed);
            self.target.execute(&input);
            done += 1;
        }
        done
    }
}

/// Ends the process when a run does not end, until the sender is dropped.
fn watch(target: &'static str, seed: u64) -> Sender<()> {
    let (stop, stopped) = channel();
    std::thread::spawn(move || {
        let mut before = None;
        while stopped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let begun = BEGUN.load(Ordering::Relaxed);
            if before.replace(begun) == Some(begun) {
                eprintln!("{target}, seed {seed}: a run has not ended within {} s", PATIENCE.as_secs());
                std::process::abort();
            }
        }
    });
    stop
}
