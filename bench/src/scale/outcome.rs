//! What a run showed.

use super::process::Memory;
use super::{at, Error, Options};
use serde_json::{json, Value};
use std::path::Path;

/// Latencies in microseconds.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Quantiles {
    pub p50: f64,
    pub p99: f64,
    pub p999: f64,
}

impl Quantiles {
    /// Of times in ns; `None` without any.
    pub fn of(mut times: Vec<u64>) -> Option<Quantiles> {
        times.sort_unstable();
        let last = times.len().checked_sub(1)?;
        let at = |share: f64| times[(last as f64 * share).round() as usize] as f64 / 1000.0;
        Some(Quantiles { p50: at(0.5), p99: at(0.99), p999: at(0.999) })
    }
}

/// A time in which nothing was started or ended.
#[derive(Copy, Clone, Debug, Default)]
pub struct Steady {
    /// CPU of all nodes together, in cores.
    pub cores: f64,
    /// Of one node in a second.
    pub wakeups: f64,
    /// Doorbells of one node in a second.
    pub rings: f64,
    pub expected: u64,
    pub got: u64,
    pub errors: u64,
    pub latency: Option<Quantiles>,
}

/// A burst.
#[derive(Copy, Clone, Debug)]
pub struct Delivery {
    pub expected: u64,
    pub got: u64,
    /// Seconds of CPU, of all nodes together.
    pub cpu: f64,
    pub wakeups: u64,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub rmw: String,
    pub nodes: usize,
    pub up: usize,
    pub matched: bool,
    pub seconds_up: f64,
    pub seconds_matched: f64,
    /// Seconds of CPU until all were matched, of all nodes together.
    pub cpu_matched: f64,
    pub rings_matched: Option<u64>,
    pub memory: Memory,
    pub memory_after_events: Memory,
    /// Bytes of the domain's files; for other RMWs, by how much shared memory as a whole has grown.
    pub shared: u64,
    pub events: Option<Delivery>,
    pub load: Option<Steady>,
    pub idle: Option<Steady>,
    pub wakeups_per_change: Option<f64>,
}

impl Outcome {
    pub fn new(rmw: &str, nodes: usize) -> Outcome {
        Outcome {
            rmw: rmw.to_owned(),
            nodes,
            up: 0,
            matched: false,
            seconds_up: 0.0,
            seconds_matched: 0.0,
            cpu_matched: 0.0,
            rings_matched: None,
            memory: Memory::default(),
            memory_after_events: Memory::default(),
            shared: 0,
            events: None,
            load: None,
            idle: None,
            wakeups_per_change: None,
        }
    }

    pub fn heading() -> String {
        "rmw                nodes   up%  match s  cpu ms/node  mem MB  shm MB  deliv    cores  wake/s    p50us    p99us   p99.9us  idle cores".to_owned()
    }

    pub fn line(&self) -> String {
        let load = self.load.unwrap_or_default();
        let latency = load.latency.unwrap_or(Quantiles { p50: f64::NAN, p99: f64::NAN, p999: f64::NAN });
        let delivered = if load.expected == 0 { f64::NAN } else { load.got as f64 / load.expected as f64 };
        let mut line = format!(
            "{:18} {:5} {:5.1} {:>8} {:12.2} {:7.1} {:7.1} {:6.4} {:8.3} {:7.1} {:8.0} {:8.0} {:9.0} {:11.4}",
            self.rmw,
            self.nodes,
            100.0 * self.up as f64 / self.nodes as f64,
            if self.matched { format!("{:.2}", self.seconds_matched) } else { "never".into() },
            1000.0 * self.cpu_matched / self.nodes as f64,
            self.memory.total() as f64 / 1e6,
            self.shared as f64 / 1e6,
            delivered,
            load.cores,
            load.wakeups,
            latency.p50,
            latency.p99,
            latency.p999,
            self.idle.unwrap_or_default().cores,
        );
        if let Some(e) = self.events {
            line += &format!(
                "\n    parameter events: {} of {} delivered, {:.2} s of CPU, {} wake-ups, memory then {:.1} MB",
                e.got,
                e.expected,
                e.cpu,
                e.wakeups,
                self.memory_after_events.total() as f64 / 1e6
            );
        }
        if let Some(wakeups) = self.wakeups_per_change {
            line += &format!("\n    a node that joins or leaves: {wakeups:.2} wake-ups of all others together");
        }
        line
    }

    fn json(&self) -> Value {
        let steady = |s: &Steady| {
            json!({
                "cores": s.cores, "wakeups_per_second_and_node": s.wakeups, "rings_per_second_and_node": s.rings,
                "expected": s.expected, "got": s.got, "errors": s.errors,
                "latency_us": s.latency.map(|q| json!({"p50": q.p50, "p99": q.p99, "p99.9": q.p999})),
            })
        };
        let memory =
            |m: &Memory| json!({"pss": m.pss, "page_tables": m.tables, "mappings": m.mappings, "total": m.total()});
        json!({
            "rmw": self.rmw, "nodes": self.nodes, "up": self.up, "matched": self.matched,
            "seconds_up": self.seconds_up, "seconds_matched": self.seconds_matched,
            "cpu_seconds_matched": self.cpu_matched, "rings_matched": self.rings_matched,
            "memory_bytes": memory(&self.memory), "shared_memory_bytes": self.shared,
            "events": self.events.map(|e| json!({
                "expected": e.expected, "got": e.got, "cpu_seconds": e.cpu, "wakeups": e.wakeups,
                "memory_bytes": memory(&self.memory_after_events),
            })),
            "load": self.load.as_ref().map(steady), "idle": self.idle.as_ref().map(steady),
            "wakeups_per_change": self.wakeups_per_change,
        })
    }
}

/// Writes all outcomes with what they are outcomes of.
pub fn write(path: &Path, options: &Options, outcomes: &[Outcome]) -> Result<(), Error> {
    let all = json!({
        "workload": format!("{:?}", options.workload).to_lowercase(),
        "rate": options.rate, "seconds": options.seconds, "idle_seconds": options.idle,
        "events": options.events, "churn": options.churn,
        "runs": outcomes.iter().map(Outcome::json).collect::<Vec<_>>(),
    });
    at(path.display(), std::fs::write(path, format!("{all:#}\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_sorted_times() {
        let times = (1..=1001).rev().map(|i| i * 1000).collect();
        assert_eq!(Quantiles::of(times), Some(Quantiles { p50: 501.0, p99: 991.0, p999: 1000.0 }));
        assert_eq!(Quantiles::of(Vec::new()), None);
    }
}
