//! The thread that calls.

use std::sync::{Arc, Weak};

use nix::sys::signal::{SigSet, SigmaskHow};
use shoal_registry::Registry;
use shoal_shm::futex::Deadline;

use super::{Busy, Countable, Due, Notifier, State};
use crate::error::{Error, Result};
use crate::wait::LOOK_FOR_THE_DEAD;

/// As much as the threads of a C program have: the callbacks are the user's code.
const STACK_BYTES: usize = 8 << 20;

/// Starts the thread if there is none. Signals are left to the threads of the user.
pub(super) fn start(notifier: &Arc<Notifier>, state: &mut State, registry: &Arc<Registry>) -> Result<()> {
    if state.thread.is_some() {
        return Ok(());
    }
    let failed = |source: std::io::Error| Error::Other(format!("cannot start the thread that calls back: {source}"));
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK).map_err(|errno| failed(errno.into()))?;
    let (notifier, registry) = (notifier.clone(), Arc::downgrade(registry));
    let builder = std::thread::Builder::new().name("shoal-notify".into()).stack_size(STACK_BYTES);
    let started = builder.spawn(move || run(&notifier, &registry));
    before.thread_set_mask().map_err(|errno| failed(errno.into()))?;
    // Detached: whoever stops it waits as rule 4 says.
    state.thread = Some(started.map_err(failed)?.thread().id());
    Ok(())
}

/// Says that the thread has ended, however it does.
struct Ending<'a>(&'a Notifier);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.ended = true;
        if state.busy.is_some_and(|busy| state.thread == Some(busy.thread)) {
            state.busy = None;
        }
        self.0.moved.notify_all();
    }
}

fn run(notifier: &Notifier, registry: &Weak<Registry>) {
    let _ending = Ending(notifier);
    while notifier.comes_to_its_turn() {
        match notifier.round(true).due {
            Some(due) => notifier.call(due),
            None => {
                // Gone with the context, which then has stopped this thread.
                let Some(registry) = registry.upgrade() else { return };
                notifier.sleep(&registry);
            }
        }
    }
}

/// What a look at the entries showed.
#[derive(Default)]
struct Round {
    /// A call is due, or another thread is in one and this one has to wait for its turn.
    any: bool,
    /// The call, where it was asked for.
    due: Option<Due>,
    /// The next moment at which something may come without a ring.
    moment: Option<Deadline>,
    /// Whether killed processes matter.
    living: bool,
}

impl Notifier {
    /// Waits, holding nothing, until no other thread is in a call; false if this thread is to end.
    fn comes_to_its_turn(&self) -> bool {
        let mut state = self.state.lock();
        while !state.stopping && state.busy.is_some() {
            self.moved.wait(&mut state);
        }
        !state.stopping
    }

    fn is_stopping(&self) -> bool {
        self.state.lock().stopping
    }

    /// Parks until a doorbell rings, unless a call is due by then. Calls nobody, as it holds the registry.
    fn sleep(&self, registry: &Registry) {
        let parked = registry.park();
        // ORDERING(park.ring): `park` has fenced, so the parked bit is out before this last look.
        let Round { any, moment, living, .. } = self.round(false);
        if any || self.is_stopping() {
            return;
        }
        let dead = living.then(|| Deadline::after(LOOK_FOR_THE_DEAD));
        // However it ends, the caller looks again.
        let _ = parked.sleep(moment.into_iter().chain(dead).min());
        drop(parked);
        if living {
            registry.sweep();
        }
    }

    /// Looks at the entries in turn, up to the first whose call is due; `begin` that call or only say so.
    fn round(&self, begin: bool) -> Round {
        let mut round = Round::default();
        let (from, entries) = {
            let state = self.state.lock();
            (state.turn, state.entries.len())
        };
        for turn in from..from + entries {
            self.look(turn, begin, &mut round);
            if round.any {
                break;
            }
        }
        round
    }

    fn look(&self, turn: usize, begin: bool, round: &mut Round) {
        let Some((key, source)) = self.pick(turn, round) else { return };
        let arrived = source.tally().arrived;
        round.moment = round.moment.into_iter().chain(source.next_moment().map(Deadline::at)).min();
        round.living |= source.depends_on_the_living();
        // Before anybody who waits for `busy` goes on: the last reference must not be ours.
        drop(source);
        let mut state = self.state.lock();
        round.any = state.is_due(key, arrived);
        if begin && round.any {
            round.due = state.begin(key, arrived);
        } else {
            state.busy = None;
            self.moved.notify_all();
        }
    }

    fn pick(&self, turn: usize, round: &mut Round) -> Option<(u64, Arc<dyn Countable>)> {
        let mut state = self.state.lock();
        if state.busy.is_some() {
            round.any = true;
            return None;
        }
        let count = state.entries.len();
        let entry = state.entries.get(turn.checked_rem(count)?).filter(|entry| entry.callback.is_some())?;
        let (key, source) = (entry.key, entry.source.clone());
        state.turn = (turn + 1) % count;
        state.busy = Some(Busy { key, call: None, thread: std::thread::current().id() });
        Some((key, source))
    }
}
