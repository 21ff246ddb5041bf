//! What is to happen to a victim.

use super::board::{Board, Slot, MOST_POINTS, NONE};
use super::victims::VICTIMS;
use crate::payload::mix;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Random numbers that follow from the seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = mix(self.0);
        self.0 % end.max(1)
    }

    /// A time up to `most`, short ones as often as long ones.
    pub fn moment(&mut self, most: Duration) -> Duration {
        let doublings = u64::from((most.as_micros() as u64).max(2).ilog2());
        let end = 2 << self.below(doublings + 1);
        Duration::from_micros(self.below(end).min(most.as_micros() as u64))
    }
}

/// One victim's end.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub kind: usize,
    /// The crash point at which it acts by itself, and at which pass.
    pub point: Option<(usize, u32)>,
    /// It is stopped for so long: at its crash point, or at the moment of its kill.
    pub stopped: Option<Duration>,
    /// After having been stopped it goes on for a while.
    pub continued: bool,
    /// When it is killed whatever it does, from its birth on.
    pub after: Duration,
    /// It lives in a PID namespace of its own.
    pub nested: bool,
}

/// Longer than any victim takes for all it does.
const WHOLE_LIFE: Duration = Duration::from_secs(20);

/// When a victim that should have died at a crash point is killed all the same.
const TOO_LATE: Duration = Duration::from_secs(5);

impl Plan {
    /// Draws a plan. Half of the victims die at a crash point: at the one that fewest have died at.
    pub fn draw(random: &mut Random, board: &Board, landed: &[u64], namespaces: bool, may_stop: bool) -> Self {
        let by_point = random.below(2) == 0;
        let (kind, point) = match by_point.then(|| rarest(random, board, landed)).flatten() {
            Some((kind, point, passes)) => (kind, Some((point, passes))),
            None => (random.below(VICTIMS.len() as u64) as usize, None),
        };
        let stopped = (may_stop && random.below(40) == 0).then(|| Duration::from_millis(200 + random.below(1800)));
        let after = if point.is_some() { TOO_LATE } else { random.moment(Duration::from_millis(40)) };
        let nested = namespaces && stopped.is_none() && random.below(16) == 0;
        Self { kind, point, stopped, continued: random.below(2) == 0, after, nested }
    }

    /// A victim that may do all it does, so that the crash points which it passes become known.
    pub fn explore(kind: usize) -> Self {
        Self { kind, point: None, stopped: None, continued: false, after: WHOLE_LIFE, nested: false }
    }

    /// Writes it where the victim finds it.
    pub fn write(&self, slot: &Slot) {
        let (point, pass) = self.point.map_or((NONE, 0), |(point, pass)| (point as u32, pass));
        slot.kind.store(self.kind as u32, Ordering::Relaxed);
        slot.point.store(point, Ordering::Relaxed);
        slot.pass.store(pass, Ordering::Relaxed);
        slot.stop.store(u32::from(self.stopped.is_some()), Ordering::Relaxed);
    }
}

/// The crash point at which fewest died among those that victims are known to pass, a kind that passes it, and a pass.
fn rarest(random: &mut Random, board: &Board, landed: &[u64]) -> Option<(usize, usize, u32)> {
    let passes = |kind: usize, point: usize| board.passes[kind][point].load(Ordering::Relaxed);
    let known = |point: &usize| (0..VICTIMS.len()).any(|kind| passes(kind, *point) > 0);
    // Of two drawn ones the rarer: so the others get their share, too.
    let points: Vec<usize> = (0..landed.len().min(MOST_POINTS)).filter(known).collect();
    let draw = |random: &mut Random| points.get(random.below(points.len() as u64) as usize).copied();
    let (one, two) = (draw(random)?, draw(random)?);
    let point = if landed[one] < landed[two] { one } else { two };
    let kinds: Vec<usize> = (0..VICTIMS.len()).filter(|kind| passes(*kind, point) > 0).collect();
    let kind = kinds[random.below(kinds.len() as u64) as usize];
    // Most victims pass a point a few times only; a pass beyond the last one ends in an ordinary kill.
    let end = 1 << random.below(5);
    let pass = 1 + random.below(end) as u32;
    Some((kind, point, pass))
}
