//! What a storm found.

use super::audit::Audit;
use super::board::{Board, Fault, FAULTS};
use super::driver::Options;
use super::survivors::SURVIVORS;
use super::victims::VICTIMS;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// With so many kills for each crash point a storm that left one out has lost it: every other kill goes to one of the two
/// rarest of those that victims are known to pass. With fewer it may be chance.
const KILLS_PER_POINT: u64 = 25;

/// The counts of a storm.
pub struct Tally {
    started: Instant,
    /// Kills at each crash point.
    pub landed: Vec<u64>,
    at_random: u64,
    of_kind: Vec<u64>,
    nested: u64,
    ended: u64,
    pub stops: u64,
    audits: Option<(Audit, Audit)>,
}

impl Tally {
    pub fn new(points: usize, kinds: usize) -> Self {
        let started = Instant::now();
        let (landed, of_kind) = (vec![0; points], vec![0; kinds]);
        Self { started, landed, at_random: 0, of_kind, nested: 0, ended: 0, stops: 0, audits: None }
    }

    /// Kills so far.
    pub fn kills(&self) -> u64 {
        self.of_kind.iter().sum()
    }

    /// A victim ended: by a kill, at a crash point or elsewhere; or by itself.
    pub fn death(&mut self, killed: bool, point: Option<usize>, kind: usize, nested: bool) {
        if !killed {
            self.ended += 1;
            return;
        }
        self.of_kind[kind] += 1;
        self.nested += u64::from(nested);
        match point {
            Some(point) => self.landed[point] += 1,
            None => self.at_random += 1,
        }
    }

    /// Compares the domain before the first victim with the one after the last.
    pub fn compare(&mut self, board: &Board, before: Audit, after: Audit) {
        if !after.is_like(&before) {
            board.fault(Fault::Leftover, format_args!("before: {before:?}, after: {after:?}"));
        }
        self.audits = Some((before, after));
    }

    /// Looks for files when everybody has left.
    pub fn left(&self, board: &Board, root: &Path) {
        let mut todo = vec![root.to_path_buf()];
        while let Some(dir) = todo.pop() {
            for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
                board.fault(Fault::Leftover, format_args!("{} is left behind", path.display()));
                if path.is_dir() {
                    todo.push(path);
                }
            }
        }
    }

    /// Prints everything; whether all was well.
    pub fn print(&self, options: Options, points: &[String], board: &Board) -> bool {
        println!("{:<34} {:>8}", "crash point", "kills");
        for (point, kills) in points.iter().zip(&self.landed) {
            println!("{point:<34} {kills:>8}");
        }
        println!("{:<34} {:>8}\n", "anywhere", self.at_random);
        println!("{:<34} {:>8}", "kind of victim", "kills");
        for ((name, _), kills) in VICTIMS.iter().zip(&self.of_kind) {
            println!("{name:<34} {kills:>8}");
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let (kills, nested, ended, stops) = (self.kills(), self.nested, self.ended, self.stops);
        println!("\n{kills} kills in {seconds:.0} s ({nested} in PID namespaces of their own), {stops} stops, {ended} ends in order; seed {}", options.seed);
        let rounds = SURVIVORS
            .iter()
            .zip(&board.rounds)
            .map(|((name, ..), rounds)| format!("{name} {}", rounds.load(Ordering::Relaxed)));
        let talked: u64 = board.talked.iter().map(|stream| stream.load(Ordering::Relaxed)).sum();
        println!("rounds of the survivors: {}; {talked} samples of the talker", rounds.collect::<Vec<_>>().join(", "));
        if let Some((before, after)) = self.audits {
            println!("the domain before: {before:?}\n       and after:  {after:?}");
        }
        self.verdict(options, points, board)
    }

    fn verdict(&self, options: Options, points: &[String], board: &Board) -> bool {
        let demanded = options.kills >= KILLS_PER_POINT * points.len() as u64;
        let unreached: Vec<_> =
            points.iter().zip(&self.landed).filter(|(_, kills)| **kills == 0).map(|(point, _)| point).collect();
        if !unreached.is_empty() {
            let few = if demanded { "" } else { " (too few kills to demand it)" };
            println!("nobody was killed at: {unreached:?}{few}");
        }
        let faults = FAULTS.iter().zip(board.faults()).map(|((_, name), count)| format!("{count} {name}"));
        println!("{}", faults.collect::<Vec<_>>().join(", "));
        (unreached.is_empty() || !demanded) && board.faults().iter().sum::<u64>() == 0
    }
}
