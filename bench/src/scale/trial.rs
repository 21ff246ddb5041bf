//! One run: so many nodes on one RMW.

use super::fleet::Fleet;
use super::outcome::{Delivery, Outcome, Quantiles, Steady};
use super::process::{self, Memory};
use super::{at, Error, Options};
use indicatif::ProgressBar;
use shoal_registry::Observer;
use shoal_rmw::Place;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub struct Trial<'a> {
    pub options: &'a Options,
    pub library: &'a Path,
    pub floor: bool,
    pub name: String,
    pub nodes: usize,
    pub bar: &'a ProgressBar,
}

/// CPU time and wake-ups of all nodes together.
struct Used {
    cpu: u64,
    wakeups: u64,
    rings: u64,
    at: Instant,
}

impl Trial<'_> {
    pub fn run(&self) -> Result<Outcome, Error> {
        let mut out = Outcome::new(&self.name, self.nodes);
        let shared = process::shared_memory(&self.root());
        self.doing("starting");
        let begin = Instant::now();
        let end = begin + Duration::from_secs_f64(self.options.patience);
        let mut fleet = Fleet::start(self)?;
        out.up = fleet.hear(self.nodes, "up", end).len();
        out.seconds_up = begin.elapsed().as_secs_f64();
        self.doing("matching");
        out.matched = out.up == self.nodes && self.wait_for_matches(&mut fleet, end);
        out.seconds_matched = begin.elapsed().as_secs_f64();
        let pids = fleet.pids();
        out.cpu_matched = seconds(pids.iter().map(|&pid| process::cpu(pid)).sum());
        out.rings_matched = self.rings();
        pids.iter().for_each(|&pid| out.memory += Memory::of(pid));
        out.shared = match self.domain() {
            Some(domain) => process::files(domain.dir().path()),
            None => process::shared_memory(&self.root()).saturating_sub(shared),
        };
        if self.options.events > 0 && out.matched && !self.floor {
            self.doing("parameter events");
            out.events = Some(self.events(&mut fleet));
            pids.iter().for_each(|&pid| out.memory_after_events += Memory::of(pid));
        }
        if out.up > 0 {
            out.load = self.load(&mut fleet)?;
            self.doing("idle");
            out.idle = self.steady(&fleet, self.options.idle);
        }
        if self.options.churn > 0 && out.matched && !self.floor {
            self.doing("churn");
            out.wakeups_per_change = self.churn(&mut fleet)?;
        }
        Ok(out)
    }

    fn doing(&self, what: &str) {
        self.bar.set_message(format!("{} nodes on {}: {what}", self.nodes, self.name));
        self.bar.tick();
    }

    /// Asks all until all say yes. Asking costs the nodes something, so ever less often.
    fn wait_for_matches(&self, fleet: &mut Fleet<'_>, end: Instant) -> bool {
        let mut pause = Duration::from_millis(10);
        loop {
            fleet.tell("matched?");
            let answers = fleet.hear(self.nodes, "matched", end);
            if answers.len() == self.nodes && answers.iter().all(|said| said == "matched yes") {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    /// Has every node publish its parameter events, and waits until all have them, or no more come.
    fn events(&self, fleet: &mut Fleet<'_>) -> Delivery {
        let before = self.used(fleet);
        fleet.tell(&format!("events {}", self.options.events));
        let expected = (self.nodes * self.nodes) as u64 * u64::from(self.options.events);
        let end = Instant::now() + Duration::from_secs_f64(self.options.patience);
        let mut got = 0;
        loop {
            let reports = self.reports(fleet);
            let now: u64 = reports.iter().map(|report| report[3]).sum();
            if now >= expected || Instant::now() >= end || now == got && now > 0 {
                got = now;
                break;
            }
            got = now;
            std::thread::sleep(Duration::from_secs(1));
        }
        let after = self.used(fleet);
        Delivery { expected, got, cpu: seconds(after.cpu - before.cpu), wakeups: after.wakeups - before.wakeups }
    }

    /// Load, then quiet, then counting.
    fn load(&self, fleet: &mut Fleet<'_>) -> Result<Option<Steady>, Error> {
        self.doing("load");
        fleet.tell(&format!("run {}", self.options.rate));
        std::thread::sleep(Duration::from_secs(1));
        let Some(mut steady) = self.steady(fleet, self.options.seconds) else { return Ok(None) };
        fleet.tell("stop");
        std::thread::sleep(Duration::from_secs(1));
        let reports = self.reports(fleet);
        let sum = |i: usize| reports.iter().map(|report| report[i]).sum::<u64>();
        steady.expected = sum(0) * self.options.workload.readers(self.nodes) as u64;
        steady.got = sum(1);
        steady.errors = sum(4);
        steady.latency = self.latency()?;
        Ok(Some(steady))
    }

    /// What each node says that it sent and got.
    fn reports(&self, fleet: &mut Fleet<'_>) -> Vec<[u64; 5]> {
        fleet.tell("report");
        let end = Instant::now() + Duration::from_secs(30);
        let parse = |words: &str| {
            let mut numbers = [0; 5];
            words.split(' ').skip(1).zip(&mut numbers).for_each(|(text, to)| *to = text.parse().unwrap_or(0));
            numbers
        };
        fleet.hear(self.nodes, "report", end).iter().map(|said| parse(said)).collect()
    }

    fn steady(&self, fleet: &Fleet<'_>, length: f64) -> Option<Steady> {
        if length <= 0.0 {
            return None;
        }
        let before = self.used(fleet);
        std::thread::sleep(Duration::from_secs_f64(length));
        let after = self.used(fleet);
        let time = (after.at - before.at).as_secs_f64();
        let nodes = self.nodes as f64;
        Some(Steady {
            cores: seconds(after.cpu - before.cpu) / time,
            wakeups: (after.wakeups - before.wakeups) as f64 / time / nodes,
            rings: (after.rings - before.rings) as f64 / time / nodes,
            ..Steady::default()
        })
    }

    /// Wake-ups of all others together, for each node that left or joined.
    fn churn(&self, fleet: &mut Fleet<'_>) -> Result<Option<f64>, Error> {
        let last = self.nodes - 1;
        let others: Vec<u32> = fleet.pids()[..last].to_vec();
        let count = || others.iter().map(|&pid| process::wakeups(pid)).sum::<u64>();
        let before = count();
        for _ in 0..self.options.churn {
            if !fleet.replace(last, Instant::now() + Duration::from_secs(30))? {
                return Ok(None);
            }
        }
        Ok(Some((count() - before) as f64 / (2 * self.options.churn) as f64))
    }

    fn used(&self, fleet: &Fleet<'_>) -> Used {
        let pids = fleet.pids();
        Used {
            cpu: pids.iter().map(|&pid| process::cpu(pid)).sum(),
            wakeups: pids.iter().map(|&pid| process::wakeups(pid)).sum(),
            rings: self.rings().unwrap_or(0),
            at: Instant::now(),
        }
    }

    /// Doorbells rung in the domain so far; `None` where the RMW has none.
    fn rings(&self) -> Option<u64> {
        Some(self.domain()?.contexts().iter().map(|c| u64::from(c.rings)).sum())
    }

    /// A look into the nodes' domain, where this project's RMW made one.
    fn domain(&self) -> Option<Observer> {
        let Place { root, access } = Place::from_environment().ok()?;
        Observer::open(&root, access, &self.options.domain.to_string()).ok()
    }

    fn root(&self) -> PathBuf {
        Place::from_environment().map_or_else(|_| "/dev/shm".into(), |place| place.root)
    }

    /// Where a node writes its latencies.
    pub fn latencies(&self, index: usize) -> PathBuf {
        self.options.out.join(format!("latencies.{index}"))
    }

    fn latency(&self) -> Result<Option<Quantiles>, Error> {
        let mut all = Vec::new();
        for index in 0..self.nodes {
            let path = self.latencies(index);
            let Ok(bytes) = std::fs::read(&path) else { continue };
            all.extend(bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default())));
            at(path.display(), std::fs::remove_file(&path))?;
        }
        Ok(Quantiles::of(all))
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
