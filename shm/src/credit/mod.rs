//! How a writer that must lose nothing waits for its readers.
//!
//! Two words. `acked`, in the reader's memory: the last sequence number it has read of this writer. `wanted`, in the
//! writer's cell: 0, or the number that the blocked writer waits for.
//!
//! 1. A writer without room stores `wanted`, parks at its doorbell (which fences), looks at `acked`, and sleeps.
//! 2. A reader stores `acked`, fences, looks at `wanted`, and rings the writer's doorbell where it has got that far.
//!
//! So either the writer's look finds the acknowledgement, or the reader's look finds the wish and rings. A writer that is
//! parked already, and finds only then that it has no room, fences itself between its wish and another look.
//!
//! Death: a reader that dies without ringing is found by the blocked writer, which looks for the dead. A dead writer's
//! wish costs its readers a futile ring.

use crate::crash_point;
use crate::sync::{fence, AtomicU64, Ordering};

/// What a model weakens.
trait Strength {
    // ORDERING(credit.read): Release: our reads of the samples come before their memory is used again; meets `acked`.
    const READ: Ordering = Ordering::Release;

    // ORDERING(credit.ask): the acknowledgement before the look at the wish; meets `ask` and the fence of the park, or
    // `ask_when_parked`.
    #[inline(always)]
    fn acknowledged() {
        fence(Ordering::SeqCst);
    }

    // ORDERING(credit.ask): the wish, and the park before it, before the look at the acknowledgements; meets `acknowledge`.
    #[inline(always)]
    fn asked() {
        fence(Ordering::SeqCst);
    }
}

struct Full;
impl Strength for Full {}

/// Says that the writer waits for `sequence`. Park after it, and look at the acknowledgements before sleeping.
pub fn ask(wanted: &AtomicU64, sequence: u64) {
    // ORDERING(credit.ask): before the fence of the park that follows; meets `acknowledge`.
    wanted.store(sequence, Ordering::Relaxed);
    crash_point!("credit.asked");
}

/// As [`ask`], for a writer that may be parked already: look at the acknowledgements after it.
pub fn ask_when_parked(wanted: &AtomicU64, sequence: u64) {
    ask_when_parked_with::<Full>(wanted, sequence);
}

fn ask_when_parked_with<S: Strength>(wanted: &AtomicU64, sequence: u64) {
    ask(wanted, sequence);
    S::asked();
}

/// Says that the writer waits no more.
pub fn stop_asking(wanted: &AtomicU64) {
    wanted.store(0, Ordering::Relaxed);
}

/// Says that everything up to `sequence` has been read. True: the writer waits for that; ring its doorbell, for which
/// the fence has been executed.
#[must_use = "a blocked writer is to be rung"]
pub fn acknowledge(acked: &AtomicU64, sequence: u64, wanted: &AtomicU64) -> bool {
    acknowledge_with::<Full>(acked, sequence, wanted)
}

fn acknowledge_with<S: Strength>(acked: &AtomicU64, sequence: u64, wanted: &AtomicU64) -> bool {
    acked.store(sequence, S::READ);
    crash_point!("credit.acknowledged");
    is_awaited_with::<S>(sequence, wanted)
}

/// What [`acknowledge`] answers, for an acknowledgement that the caller has stored by other means.
#[must_use = "a blocked writer is to be rung"]
pub fn is_awaited(sequence: u64, wanted: &AtomicU64) -> bool {
    is_awaited_with::<Full>(sequence, wanted)
}

fn is_awaited_with<S: Strength>(sequence: u64, wanted: &AtomicU64) -> bool {
    S::acknowledged();
    let wanted = wanted.load(Ordering::Relaxed);
    wanted != 0 && sequence >= wanted
}

/// How far a reader has read.
pub fn acked(word: &AtomicU64) -> u64 {
    // ORDERING(credit.read): Acquire: the reader's reads come before what the writer does with the memory.
    word.load(Ordering::Acquire)
}

#[cfg(test)]
mod models;
