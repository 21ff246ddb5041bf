//! Callbacks instead of waiting: one thread per context calls them, started with the first callback that is set.
//!
//! Counting. What can be counted ([`Countable`]) has a total that only grows; the notifier remembers how much of it was
//! reported, whatever callback it was reported to, and reports the difference. The total is driven by heads and not by
//! pending marks, because marks are used up by whoever polls (take, wait or this thread): each poll, under the reader's
//! own lock, takes the marks and counts the heads of their outlets before it lets go. An outlet that left stays in the
//! registry while it is marked or draining, so its last samples are counted before it can be forgotten.
//!
//! Why none is missed. The thread arms its context's doorbell, fences, looks, and sleeps on the armed value, as a wait
//! does (`wait.rs`). A writer marks, fences, and rings who is parked. If the writer's fence comes first, the thread's
//! look finds the mark, or finds it taken: then who took it held the reader's lock, and has counted before the look
//! got that lock. If the thread's fence comes first, the writer finds it parked and rings. So a thread that takes
//! beside this one need not tell it anything.
//!
//! Rules.
//! 1. No lock of ours is held during a call. What is being called stands in `busy`, with the number of the setting and
//!    the thread.
//! 2. Calls come one at a time. Setting, clearing and forgetting take effect at once, and then wait until no call of an
//!    older setting runs, except on the thread of a call, where that call is the caller. So callbacks that clear or
//!    replace each other never wait for each other.
//! 3. A callback that is set where none was gets what can still be taken and was not reported before (the backlog);
//!    one that replaces another goes on where that one stopped. Whoever sets it makes this call before setting returns,
//!    so that an executor that then asks for what there is to do finds it; only where another call runs, for which the
//!    caller may hold what it needs, it is left to the thread.
//! 4. The thread keeps the registry alive only while it looks and sleeps, never during a call. [`Notifier::stop`] waits
//!    for a thread that looks or sleeps, which is short, and not for one that is in a call: that may need what the
//!    stopping thread holds (an interpreter's lock). It ends when the call returns.
//! 5. A forked child has no such thread and may have a copy of our lock taken by it: there nothing here is touched.

mod thread;

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::thread::ThreadId;

use parking_lot::{Condvar, Mutex, MutexGuard};
use shoal_registry::Registry;

use crate::context::Context;
use crate::error::{Error, Result};

/// Called with the number of new messages (requests, responses, events) since the last call.
///
/// Calls come one at a time, from a thread of the context, or, with what was there before the callback, from the one
/// that sets it. They hold no lock of this crate: they may take, set and clear callbacks, and drop entities, also their
/// own.
pub type Callback = Arc<dyn Fn(usize) + Send + Sync>;

/// What came, and what is left of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How many came, ever: a number that only grows.
    pub(crate) arrived: u64,
    /// How many of these can still be taken.
    pub(crate) available: u64,
}

/// A callback, and what it counts.
type New = (Callback, Arc<dyn Countable>);

/// Something whose news are counted.
pub(crate) trait Countable: Send + Sync {
    /// Looks and counts. May take locks of its own, none of the notifier's, and calls nobody back.
    fn tally(&self) -> Tally;

    /// When something may come without anybody ringing, in ns of CLOCK_MONOTONIC.
    fn next_moment(&self) -> Option<u64> {
        None
    }

    /// Whether it depends on processes that may be killed, which cannot ring.
    fn depends_on_the_living(&self) -> bool {
        false
    }
}

/// The callbacks of one context.
pub(crate) struct Notifier {
    state: Mutex<State>,
    /// Moves with `busy` and with the thread's end.
    moved: Condvar,
}

#[derive(Default)]
struct State {
    entries: Vec<Entry>,
    /// Where the next look starts, so that a busy entry does not starve the others.
    turn: usize,
    next_key: u64,
    settings: u64,
    thread: Option<ThreadId>,
    ended: bool,
    stopping: bool,
    busy: Option<Busy>,
}

struct Entry {
    key: u64,
    source: Arc<dyn Countable>,
    callback: Option<Callback>,
    /// Number of the setting that made the callback what it is.
    setting: u64,
    /// How much of the total was reported, or was gone before there was a callback.
    reported: u64,
}

/// What is being done.
#[derive(Clone, Copy)]
struct Busy {
    key: u64,
    /// The setting whose callback runs; `None` while the notifier's thread only counts.
    call: Option<u64>,
    thread: ThreadId,
}

/// A call that is due; it stands in `busy`.
struct Due {
    callback: Callback,
    count: usize,
}

impl Notifier {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State::default()), moved: Condvar::new() })
    }

    /// Ends the thread: no call begins after this.
    pub(crate) fn stop(&self, registry: &Registry) {
        let mut state = self.state.lock();
        state.stopping = true;
        if state.thread.is_none() || state.is_own_thread() {
            return;
        }
        drop(state);
        self.moved.notify_all();
        registry.doorbell().ring();
        let mut state = self.state.lock();
        while !state.ended && !state.thread_calls() {
            self.moved.wait(&mut state);
        }
    }

    /// Installs, replaces or clears a callback; answers when it knows its backlog and no call of an older setting runs.
    fn set(self: &Arc<Self>, key: u64, registry: &Arc<Registry>, new: Option<New>) -> Result<()> {
        // Outside of our lock, which is never held while a reader's is asked for.
        let tally = new.as_ref().map(|(_, source)| source.tally()).unwrap_or_default();
        let mut state = self.state.lock();
        // Counting is short; else the thread would go on to make the call that is ours.
        self.wait_while(&mut state, |busy| busy.call.is_none());
        if new.is_some() {
            if state.stopping {
                return Err(Error::ShutDown);
            }
            thread::start(self, &mut state, registry)?;
        }
        state.settings += 1;
        let setting = state.settings;
        let old = state.install(key, setting, tally, new);
        let backlog = if state.busy.is_none() { state.begin(key, tally.arrived) } else { None };
        self.wait_while(&mut state, |busy| busy.key == key && busy.call.is_some_and(|call| call < setting));
        drop(state);
        // It may own what it likes, so it is dropped without our lock.
        drop(old);
        if let Some(backlog) = backlog {
            self.call(backlog);
        }
        registry.doorbell().ring();
        Ok(())
    }

    /// Forgets what was watched; answers when the thread has let go of it.
    fn forget(&self, key: u64) {
        let mut state = self.state.lock();
        let at = state.entries.iter().position(|entry| entry.key == key);
        let gone = at.map(|at| state.entries.swap_remove(at));
        self.wait_while(&mut state, |busy| busy.key == key);
        drop(state);
        drop(gone);
    }

    /// Makes a call that stands in `busy`.
    fn call(&self, due: Due) {
        let Due { callback, count } = due;
        // A panic has been printed by its hook; the other callbacks are not to suffer. What the callback owns is
        // dropped before whoever cleared it goes on.
        let _ = catch_unwind(AssertUnwindSafe(|| callback(count)));
        let _ = catch_unwind(AssertUnwindSafe(|| drop(callback)));
        self.state.lock().busy = None;
        self.moved.notify_all();
    }

    fn wait_while(&self, state: &mut MutexGuard<'_, State>, runs: impl Fn(Busy) -> bool) {
        while !state.is_own_thread() && state.busy.is_some_and(&runs) {
            self.moved.wait(state);
        }
    }
}

impl State {
    /// Whether this is the notifier's thread or one that is in a call.
    fn is_own_thread(&self) -> bool {
        let this = std::thread::current().id();
        self.thread == Some(this) || self.busy.is_some_and(|busy| busy.thread == this)
    }

    /// Whether the notifier's thread is in a call.
    fn thread_calls(&self) -> bool {
        self.busy.is_some_and(|busy| busy.call.is_some() && self.thread == Some(busy.thread))
    }

    /// Whether an entry that was just counted has something to report to the callback that is set now.
    fn is_due(&self, key: u64, arrived: u64) -> bool {
        let entry = self.entries.iter().find(|entry| entry.key == key && entry.callback.is_some());
        !self.stopping && entry.is_some_and(|entry| arrived > entry.reported)
    }

    /// Takes note that it is reported, by this thread.
    fn begin(&mut self, key: u64, arrived: u64) -> Option<Due> {
        if !self.is_due(key, arrived) {
            return None;
        }
        let entry = self.entries.iter_mut().find(|entry| entry.key == key)?;
        let callback = entry.callback.clone()?;
        let count = arrived - std::mem::replace(&mut entry.reported, arrived);
        self.busy = Some(Busy { key, call: Some(entry.setting), thread: std::thread::current().id() });
        Some(Due { callback, count: usize::try_from(count).unwrap_or(usize::MAX) })
    }

    /// Puts a callback in its place; the one that was there comes back.
    fn install(&mut self, key: u64, setting: u64, tally: Tally, new: Option<New>) -> Option<Callback> {
        let at = self.entries.iter().position(|entry| entry.key == key);
        let Some((callback, source)) = new else {
            let entry = &mut self.entries[at?];
            entry.setting = setting;
            return entry.callback.take();
        };
        let Some(at) = at else {
            let reported = tally.arrived.saturating_sub(tally.available);
            self.entries.push(Entry { key, source, callback: Some(callback), setting, reported });
            return None;
        };
        let entry = &mut self.entries[at];
        if entry.callback.is_none() {
            entry.reported = entry.reported.max(tally.arrived.saturating_sub(tally.available));
        }
        entry.setting = setting;
        entry.callback.replace(callback)
    }
}

/// One entity's place among the callbacks of its context. Dropping it clears the callback.
pub(crate) struct Watch {
    context: Arc<Context>,
    key: u64,
}

impl Watch {
    pub(crate) fn new(context: &Arc<Context>) -> Self {
        let mut state = context.notifier().state.lock();
        state.next_key += 1;
        Self { key: state.next_key, context: context.clone() }
    }

    /// Sets (`Some`) or clears (`None`) the callback. Answers when no call of the callback before it runs, unless it
    /// is that call which asks.
    ///
    /// # Errors
    /// The context was shut down (clearing still works) or belongs to the parent of this forked process, or no thread
    /// could be started.
    pub(crate) fn set(&self, callback: Option<Callback>, source: impl FnOnce() -> Arc<dyn Countable>) -> Result<()> {
        if callback.is_some() {
            self.context.check()?;
        } else {
            self.context.check_not_forked()?;
        }
        let new = callback.map(|callback| (callback, source()));
        self.context.notifier().set(self.key, self.context.registry(), new)
    }
}

impl Watch {
    /// Clears the callback for good: once it returns, nobody looks at what was watched.
    pub(crate) fn close(&self) {
        if !self.context.registry().is_forked() {
            self.context.notifier().forget(self.key);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.close();
    }
}
