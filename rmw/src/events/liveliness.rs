//! Liveliness: who says that it is alive, and for how long that holds.
//!
//! An AUTOMATIC publisher lives while it is in the graph, since its process does. A manual one lives for a lease after each
//! assertion (a publication is one); before the first one it is neither alive nor not alive.

use parking_lot::Mutex;
use shoal_registry::{Liveliness, Qos};
use shoal_shm::sync::{AtomicU64, Ordering};

use super::count::Count;
use super::{LivelinessStatus, Totals};
use crate::clock::mono_ns;

/// The lease of a publisher that has to assert its liveliness itself; `u64::MAX` when it never ends.
pub(super) fn manual_lease(qos: &Qos) -> Option<u64> {
    match qos.liveliness {
        Liveliness::Automatic => None,
        Liveliness::ManualByNode | Liveliness::ManualByTopic => {
            Some(u64::try_from(qos.lease).ok().filter(|_| qos.lease != Qos::INFINITE).unwrap_or(u64::MAX))
        }
    }
}

/// When a lease that was last renewed at `asserted` ends.
fn lease_end(asserted: u64, lease: u64) -> u64 {
    asserted.saturating_add(lease)
}

/// A publisher's own view: how often it failed to say that it is alive.
pub(super) struct Assertions(Option<Mutex<Asserted>>);

struct Asserted {
    lease: u64,
    /// 0 before the first.
    last: u64,
    lapsed: bool,
    lost: Count,
}

impl Assertions {
    pub(super) fn new(qos: &Qos) -> Self {
        Self(
            manual_lease(qos)
                .map(|lease| Mutex::new(Asserted { lease, last: 0, lapsed: false, lost: Count::default() })),
        )
    }

    /// Not where the process says it.
    pub(super) fn are_needed(&self) -> bool {
        self.0.is_some()
    }

    /// The publisher says that it is alive. True when it was not alive until now: watchers have to be told then.
    pub(super) fn assert(&self, word: &AtomicU64) -> bool {
        let Some(asserted) = &self.0 else { return false };
        let asserted = &mut *asserted.lock();
        let now = mono_ns();
        asserted.elapse(now);
        let revived = asserted.last == 0 || asserted.lapsed;
        asserted.last = now;
        asserted.lapsed = false;
        // ORDERING(liveliness.assert): before the fence of whoever rings for it; meets `Living::pulse` after the
        // waiter's fence.
        word.store(now, Ordering::Release);
        revived
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        self.up_to_date(|lost| lost.counts())
    }

    pub(super) fn take(&self) -> Totals {
        self.up_to_date(Count::take)
    }

    pub(super) fn next_moment(&self) -> Option<u64> {
        let asserted = self.0.as_ref()?.lock();
        (asserted.last != 0 && !asserted.lapsed).then(|| lease_end(asserted.last, asserted.lease))
    }

    fn up_to_date<R: Default>(&self, f: impl FnOnce(&mut Count) -> R) -> R {
        let Some(asserted) = &self.0 else { return R::default() };
        let asserted = &mut *asserted.lock();
        asserted.elapse(mono_ns());
        f(&mut asserted.lost)
    }
}

impl Asserted {
    fn elapse(&mut self, now: u64) {
        if self.last != 0 && !self.lapsed && now >= lease_end(self.last, self.lease) {
            self.lapsed = true;
            self.lost.add(1);
        }
    }
}

/// A matched publisher as a subscription knows it.
#[derive(Clone, Copy)]
pub(super) struct Life {
    /// `None`: automatic.
    lease: Option<u64>,
    /// `None` before its first assertion.
    alive: Option<bool>,
    asserted: u64,
}

/// A subscription's view of its publishers.
#[derive(Default)]
pub(super) struct Living {
    alive: u64,
    not_alive: u64,
    taken: (u64, u64),
    moves: Count,
}

impl Living {
    /// A publisher matched.
    pub(super) fn came(&mut self, qos: &Qos) -> Life {
        let mut life = Life { lease: manual_lease(qos), alive: None, asserted: 0 };
        if life.lease.is_none() {
            self.turn(&mut life, true);
        }
        life
    }

    /// A publisher left the graph: deleted, or its process died. The dead count as not alive, since nobody deleted them.
    pub(super) fn went(&mut self, life: Life, died: bool) {
        match (life.alive, died) {
            (Some(true), false) => self.alive -= 1,
            (Some(true), true) => {
                self.alive -= 1;
                self.not_alive += 1;
            }
            (Some(false), false) => self.not_alive -= 1,
            (Some(false), true) | (None, _) => return,
        }
        self.moves.add(1);
    }

    /// Looks at what a manual publisher said last.
    pub(super) fn pulse(&mut self, life: &mut Life, word: &AtomicU64, now: u64) {
        let Some(lease) = life.lease else { return };
        // ORDERING(liveliness.assert): Acquire; meets `Assertions::assert`.
        life.asserted = word.load(Ordering::Acquire);
        if life.asserted == 0 {
            return;
        }
        if life.alive.is_none() {
            self.turn(life, true);
        }
        self.turn(life, now < lease_end(life.asserted, lease));
    }

    fn turn(&mut self, life: &mut Life, alive: bool) {
        match (life.alive.replace(alive), alive) {
            (Some(before), after) if before == after => return,
            (None, true) => self.alive += 1,
            (None, false) => self.not_alive += 1,
            (Some(_), true) => {
                self.alive += 1;
                self.not_alive -= 1;
            }
            (Some(_), false) => {
                self.alive -= 1;
                self.not_alive += 1;
            }
        }
        self.moves.add(1);
    }

    pub(super) fn counts(&self) -> (u64, u64) {
        self.moves.counts()
    }

    pub(super) fn take(&mut self) -> LivelinessStatus {
        self.moves.take();
        let before = std::mem::replace(&mut self.taken, (self.alive, self.not_alive));
        LivelinessStatus {
            alive: self.alive,
            not_alive: self.not_alive,
            alive_change: self.alive as i64 - before.0 as i64,
            not_alive_change: self.not_alive as i64 - before.1 as i64,
        }
    }
}

impl Life {
    /// When a manual publisher's lease ends unless it is renewed.
    pub(super) fn next_moment(&self) -> Option<u64> {
        match (self.lease, self.alive) {
            (Some(lease), Some(true)) => Some(lease_end(self.asserted, lease)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod models {
    use super::*;
    use shoal_shm::doorbell::Doorbell;
    use shoal_shm::model;
    use shoal_shm::sync::{thread, Arc, AtomicU32};

    /// A manual publisher says that it is alive, and rings the subscription that waits to hear it.
    fn first_assertion(ring: fn(&Doorbell<'_>) -> bool) {
        let scene = Arc::new((AtomicU64::new(0), AtomicU32::new(0)));
        let qos = Qos { liveliness: Liveliness::ManualByTopic, lease: Qos::INFINITE, ..Qos::default() };
        let theirs = scene.clone();
        let publisher = thread::spawn(move || {
            let revived = Assertions::new(&qos).assert(&theirs.0);
            revived && ring(&Doorbell(&theirs.1))
        });
        let mut living = Living::default();
        let mut life = living.came(&qos);
        let armed = Doorbell(&scene.1).arm();
        living.pulse(&mut life, &scene.0, mono_ns());
        let sleeps = living.alive == 0 && scene.1.fetch_or(0, Ordering::Relaxed) == armed;
        let rang = publisher.join().expect("the publisher");
        assert!(!sleeps || rang, "{UNHEARD}");
    }

    const UNHEARD: &str = "the subscription sleeps and does not hear that its publisher lives";

    model! {
        an_assertion_is_heard {
            edges: ["liveliness.assert", "park.ring"],
            claim: "a subscription that waits sees its publisher's assertion in its look, or is rung for it",
            scenes: [|| first_assertion(|bell| bell.ring())],
            twins: ["the fence before the ring": || first_assertion(|bell| bell.ring_after_fence()) => UNHEARD],
        }
    }
}
