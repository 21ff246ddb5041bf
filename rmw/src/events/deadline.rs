//! Deadlines: each period that passes without a sample is a miss. Computed when somebody looks; a wait sleeps until the
//! next period ends.

use parking_lot::Mutex;
use shoal_registry::{Qos, SlotId};

use super::count::Count;
use super::Totals;
use crate::clock::{mono_ns, wall_ns};
use crate::inlet::Inlet;

/// Periods since the last sample. Times are ns of CLOCK_MONOTONIC.
struct Periods {
    period: u64,
    /// The last sample; `None` while no sample is due.
    last: Option<u64>,
    /// Periods since then that were counted.
    counted: u64,
    missed: Count,
}

impl Periods {
    fn new(period: u64) -> Self {
        Self { period, last: None, counted: 0, missed: Count::default() }
    }

    fn elapse(&mut self, now: u64) {
        let Some(last) = self.last else { return };
        let passed = now.saturating_sub(last) / self.period;
        self.missed.add(passed.saturating_sub(self.counted));
        self.counted = self.counted.max(passed);
    }

    /// A sample came: what was due until then counts.
    fn sample(&mut self, at: u64) {
        self.elapse(at);
        self.restart(at);
    }

    /// A sample came after others that were not seen: nothing is known to have been due.
    fn restart(&mut self, at: u64) {
        if self.last.is_none_or(|last| last < at) {
            self.last = Some(at);
            self.counted = 0;
        }
    }

    fn stop(&mut self) {
        self.last = None;
        self.counted = 0;
    }

    fn next_moment(&self) -> Option<u64> {
        Some(self.last?.saturating_add(self.period.saturating_mul(self.counted + 1)))
    }
}

/// `None` for "no deadline": unspecified and infinite are the same here.
fn period(qos: &Qos) -> Option<u64> {
    u64::try_from(qos.deadline).ok().filter(|ns| *ns > 0 && qos.deadline != Qos::INFINITE)
}

/// What a publisher promised: counted from its last sample, from the first one on.
pub(super) struct Offered(Option<Mutex<Periods>>);

impl Offered {
    pub(super) fn new(qos: &Qos) -> Self {
        Self(period(qos).map(|period| Mutex::new(Periods::new(period))))
    }

    /// A sample was published; true when it was the first one, from which on a waiter has to look at the clock.
    pub(super) fn published(&self) -> bool {
        let Some(periods) = &self.0 else { return false };
        let mut periods = periods.lock();
        let first = periods.last.is_none();
        periods.sample(mono_ns());
        first
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        self.up_to_date(|periods| periods.missed.counts())
    }

    pub(super) fn take(&self) -> Totals {
        self.up_to_date(|periods| periods.missed.take())
    }

    pub(super) fn next_moment(&self) -> Option<u64> {
        self.0.as_ref()?.lock().next_moment()
    }

    fn up_to_date<R: Default>(&self, f: impl FnOnce(&mut Periods) -> R) -> R {
        let Some(periods) = &self.0 else { return R::default() };
        let periods = &mut *periods.lock();
        periods.elapse(mono_ns());
        f(periods)
    }
}

/// What a subscription asked for: counted from the last sample of any matched publisher, as long as there is one that
/// has sent something to it. (A topic without keys is one DDS instance; without a writer it is not alive.)
pub(super) struct Requested(Option<Mutex<Watch>>);

struct Watch {
    periods: Periods,
    /// The newest sample seen of each publisher.
    heads: Vec<(SlotId, u64)>,
}

impl Requested {
    pub(super) fn new(qos: &Qos) -> Self {
        let watch = |period| Mutex::new(Watch { periods: Periods::new(period), heads: Vec::new() });
        Self(period(qos).map(watch))
    }

    pub(super) fn counts(&self, inlet: &Inlet) -> (u64, u64) {
        self.up_to_date(inlet, |periods| periods.missed.counts())
    }

    pub(super) fn take(&self, inlet: &Inlet) -> Totals {
        self.up_to_date(inlet, |periods| periods.missed.take())
    }

    pub(super) fn next_moment(&self) -> Option<u64> {
        self.0.as_ref()?.lock().periods.next_moment()
    }

    fn up_to_date<R: Default>(&self, inlet: &Inlet, f: impl FnOnce(&mut Periods) -> R) -> R {
        let Some(watch) = &self.0 else { return R::default() };
        let watch = &mut *watch.lock();
        watch.look(inlet);
        f(&mut watch.periods)
    }
}

impl Watch {
    fn look(&mut self, inlet: &Inlet) {
        let arrivals = inlet.arrivals(&mut self.heads);
        let (now, wall) = (mono_ns(), wall_ns());
        if !arrivals.any_outlet {
            self.periods.stop();
            return;
        }
        let mut complete = arrivals.complete;
        for time in arrivals.times {
            let at = now.saturating_sub(u64::try_from(wall.saturating_sub(time)).unwrap_or(0));
            match complete {
                true => self.periods.sample(at),
                false => self.periods.restart(at),
            }
            complete = true;
        }
        self.periods.elapse(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_period_without_a_sample_is_one_miss() {
        let mut p = Periods::new(10);
        p.elapse(1_000);
        assert_eq!((p.missed.counts(), p.next_moment()), ((0, 0), None), "nothing was due before the first sample");
        p.sample(100);
        assert_eq!(p.next_moment(), Some(110));
        p.elapse(109);
        assert_eq!(p.missed.counts(), (0, 0));
        p.elapse(110);
        p.elapse(115);
        assert_eq!((p.missed.counts(), p.next_moment()), ((1, 0), Some(120)));
        p.sample(145);
        assert_eq!(p.missed.take(), Totals { total: 4, change: 4 });
        p.sample(120);
        assert_eq!(p.next_moment(), Some(155), "an older sample of another publisher changes nothing");
        p.restart(200);
        assert_eq!(p.missed.take(), Totals { total: 4, change: 0 }, "what lies between unseen samples is no miss");
        p.stop();
        p.elapse(10_000);
        assert_eq!((p.missed.counts(), p.next_moment()), ((4, 4), None));
    }
}
