//! What rmw_shoal has to reach, and whether it does: ratios of medians of one run.

use crate::figures::{Figures, FLOOR};
use crate::work::SIZES;

/// The name of the RMW under test.
const OWN: &str = "shoal";
const F: &str = "fastrtps";
const U: &str = "unix_socket";
const C: &str = "cyclonedds";

/// One bar: a figure must be at most (or, for rates, at least) a limit.
pub struct Bar {
    /// Which row.
    pub row: String,
    /// In words.
    pub text: String,
    /// What was measured; `None` where a peer or the row is missing.
    pub measured: Option<f64>,
    /// What it is compared with.
    pub limit: f64,
    at_least: bool,
}

impl Bar {
    /// Whether it is met, if it was measured.
    pub fn is_met(&self) -> Option<bool> {
        self.measured.map(|measured| match self.at_least {
            true => measured >= self.limit,
            false => measured <= self.limit,
        })
    }

    /// ≤ or ≥.
    pub fn sign(&self) -> &'static str {
        match self.at_least {
            true => "≥",
            false => "≤",
        }
    }
}

struct Checks<'a> {
    figures: &'a Figures,
    bars: Vec<Bar>,
}

impl Checks<'_> {
    fn own(&self, row: &str, figure: &str) -> Option<f64> {
        self.figures.median(row, OWN, figure)
    }

    fn bar(&mut self, row: &str, text: String, measured: Option<f64>, limit: f64, at_least: bool) {
        self.bars.push(Bar { row: row.into(), text, measured, limit, at_least });
    }

    /// Own figure over a peer's.
    fn peer(&mut self, row: &str, figure: &str, peer: &str, limit: f64) {
        let measured = self.own(row, figure).zip(self.figures.median(row, peer, figure)).map(|(own, its)| own / its);
        self.bar(row, format!("{figure} / {peer}"), measured, limit, false);
    }

    /// p50 over `fx + copies * mc`.
    fn floor(&mut self, row: &str, copies: f64, limit: f64) {
        let floor = |figure| self.figures.median(row, FLOOR, figure);
        let floor = floor("fx").zip(floor("mc")).map(|(fx, mc)| fx + copies * mc);
        let measured = self.own(row, "p50").zip(floor).map(|(own, floor)| own / floor);
        let text = match copies > 0.0 {
            true => format!("p50 / (fx + {copies} mc)"),
            false => "p50 / fx".into(),
        };
        self.bar(row, text, measured, limit, false);
    }

    /// Own rate over the best peer's.
    fn rate(&mut self, row: &str, peers: &[&str], limit: f64) {
        let best = peers.iter().filter_map(|peer| self.figures.median(row, peer, "sink rate")).max_by(f64::total_cmp);
        let measured = self.own(row, "sink rate").zip(best).map(|(own, its)| own / its);
        self.bar(row, format!("received per second / best of {}", peers.join(", ")), measured, limit, true);
    }

    fn round_trips(&mut self) {
        for row in ["rtt-64", "rtt-1k"] {
            self.floor(row, 0.0, 1.4);
            self.peer(row, "p50", U, 0.6);
            self.peer(row, "p50", F, 0.25);
            let spread = self.own(row, "p99").zip(self.own(row, "p50")).map(|(p99, p50)| p99 / p50);
            self.bar(row, "p99 / p50".into(), spread, 2.5, false);
        }
        for row in ["rtt-16k", "rtt-64k", "rtt-256k"] {
            self.floor(row, 4.0, 1.5);
            self.peer(row, "p50", U, 0.7);
            self.peer(row, "p50", F, 0.25);
        }
        for (row, of_floor, of_peers) in [("rtt-1m", 2.0, 0.4), ("rtt-8m", 1.3, 0.75)] {
            self.floor(row, 4.0, of_floor);
            self.peer(row, "p50", U, of_peers);
            self.peer(row, "p50", F, of_peers);
        }
        for (name, _) in &SIZES[1..] {
            let row = format!("loan-{name}");
            let flat = self.own(&row, "p50").zip(self.own("loan-64", "p50")).map(|(own, small)| own / small);
            self.bar(&row, "p50 / p50 of loan-64".into(), flat, 1.2, false);
        }
    }

    fn streams(&mut self) {
        self.rate("stream-64-keep-all", &[U, F, C], 8.0);
        let lossless = self.own("stream-64-keep-all", "delivered of sent");
        self.bar("stream-64-keep-all", "delivered of sent".into(), lossless, 1.0, true);
        self.peer("stream-64-keep-last", "source cpu per message", U, 0.4);
        self.peer("stream-64-keep-last", "source cpu per message", F, 0.1);
        self.rate("stream-1m", &[F], 3.0);
        self.peer("fan-out-8", "source cpu per message", U, 0.3);
        self.peer("fan-out-8", "sink p50", U, 0.7);
        self.peer("fan-in-32", "sink cpu per message", U, 0.5);
    }

    fn others(&mut self) {
        self.peer("late-join", "p50", U, 0.5);
        self.peer("late-join", "p50", F, 0.05);
        self.peer("service", "p50", F, 0.5);
        self.peer("service", "p50", U, 0.8);
        self.peer("bring-up-50", "wall s", U, 0.8);
        self.peer("bring-up-50", "cpu s", U, 0.5);
        self.peer("bring-up-50", "pss MiB", U, 0.75);
        let fewest = self.figures.rounds("bring-up-100", OWN, "complete").iter().copied().min_by(f64::total_cmp);
        let rounds = self.figures.rounds("bring-up-100", OWN, "complete").len();
        self.bar("bring-up-100", format!("complete, the fewest of {rounds} runs"), fewest, 100.0, true);
        let wakes = self.figures.rounds("idle", OWN, "wake-ups").iter().copied().max_by(f64::total_cmp);
        let seconds = self.own("idle", "seconds").unwrap_or(0.0);
        self.bar("idle", format!("wake-ups in {seconds} s"), wakes, 0.0, false);
    }
}

/// Every bar, in the order of the rows.
pub fn check(figures: &Figures) -> Vec<Bar> {
    let mut checks = Checks { figures, bars: Vec::new() };
    checks.round_trips();
    checks.streams();
    checks.others();
    checks.bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_compares_medians_with_the_floor_and_with_the_peers() {
        let mut figures = Figures::default();
        for (who, figure, value) in
            [(OWN, "p50", 20.0), (OWN, "p99", 60.0), (U, "p50", 40.0), (FLOOR, "fx", 10.0), (FLOOR, "mc", 1.0)]
        {
            figures.add("rtt-64", who, figure, value);
        }
        let bars = check(&figures);
        let met = |text: &str| bars.iter().find(|bar| bar.row == "rtt-64" && bar.text == text).map(Bar::is_met);
        assert_eq!(met("p50 / fx"), Some(Some(false)));
        assert_eq!(met("p50 / unix_socket"), Some(Some(true)));
        assert_eq!(met("p99 / p50"), Some(Some(false)));
        assert_eq!(met("p50 / fastrtps"), Some(None));
    }

    #[test]
    fn a_rate_is_compared_with_the_best_peer() {
        let mut figures = Figures::default();
        for (who, value) in [(OWN, 900.0), (U, 100.0), (F, 150.0)] {
            figures.add("stream-64-keep-all", who, "sink rate", value);
        }
        let bars = check(&figures);
        let bar = bars.iter().find(|bar| bar.row == "stream-64-keep-all").expect("a bar");
        assert_eq!((bar.measured, bar.is_met()), (Some(6.0), Some(false)));
    }
}
