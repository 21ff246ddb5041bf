//! What the processes of a storm tell each other: counters in memory that all of them share, none of it in `/dev/shm`.

use shoal_shm::crash::Action;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::OnceLock;

/// Victims at a time, the stopped ones included.
pub const SLOTS: usize = 24;
/// Crash points there may be.
pub const MOST_POINTS: usize = 128;
/// Kinds of victims there may be.
pub const MOST_KINDS: usize = 32;
/// No crash point.
pub const NONE: u32 = u32::MAX;

/// The traffic among survivors.
pub const STREAMS: usize = 4;

/// What a storm must not find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A sample, request or answer that was sent did not come.
    Lost,
    /// It came twice, or was never sent.
    Doubled,
    /// It came after a later one.
    Disordered,
    /// Its bytes are not what was sent.
    Corrupt,
    /// Something did not move for too long.
    Hang,
    /// Something was there that should be gone, or the other way round.
    Leftover,
    /// A call failed that may not fail.
    Failed,
}

/// All kinds of faults, as they are counted and printed.
pub const FAULTS: [(Fault, &str); 7] = [
    (Fault::Lost, "losses"),
    (Fault::Doubled, "duplicates"),
    (Fault::Disordered, "out of order"),
    (Fault::Corrupt, "corrupt"),
    (Fault::Hang, "hangs"),
    (Fault::Leftover, "leftovers"),
    (Fault::Failed, "failed calls"),
];

/// One victim's part. The driver writes the plan before it forks; the victim and the survivors write the rest.
pub struct Slot {
    /// Whose turn it is: unique, and the slot's index modulo [`SLOTS`].
    pub life: AtomicU64,
    pub kind: AtomicU32,
    /// The crash point at which to act, or [`NONE`], and at which pass through it.
    pub point: AtomicU32,
    pub pass: AtomicU32,
    pub stop: AtomicU32,
    /// The crash point that was passed last.
    pub last: AtomicU32,
    /// The crash point of the plan was reached.
    pub landed: AtomicU32,
    /// Calls that sent something and returned.
    pub sent: AtomicU64,
    /// What survivors have got of it.
    pub got: AtomicU64,
    /// PID to kill where it is not the victim's own.
    pub pid: AtomicU32,
}

/// The whole of it. Zero is the state at the beginning.
pub struct Board {
    /// Not 0: survivors are to finish what they began, and to leave.
    pub over: AtomicU32,
    /// Not 0: nobody is to create or destroy anything for a while.
    pub quiet: AtomicU32,
    /// A bit for each survivor that has left.
    pub left: AtomicU32,
    pub slots: [Slot; SLOTS],
    /// Passes through each crash point by each kind of victim.
    pub passes: [[AtomicU64; MOST_POINTS]; MOST_KINDS],
    faults: [AtomicU64; FAULTS.len()],
    /// Rounds of each survivor.
    pub rounds: [AtomicU64; 8],
    /// Samples that the talker has sent on each stream.
    pub talked: [AtomicU64; STREAMS],
    /// What an auditor found.
    pub audit: [AtomicU64; 6],
}

impl Board {
    /// The slot of a life.
    pub fn slot(&self, life: u64) -> &Slot {
        &self.slots[life as usize % SLOTS]
    }

    /// Whether survivors are to leave.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire) != 0
    }

    /// Whether what is in the graph is to stay as it is.
    pub fn is_quiet(&self) -> bool {
        self.quiet.load(Ordering::Acquire) != 0
    }

    /// Whether a survivor has left.
    pub fn has_left(&self, survivor: usize) -> bool {
        self.left.load(Ordering::Acquire) & 1 << survivor != 0
    }

    /// Counts a fault and says it.
    pub fn fault(&self, fault: Fault, text: impl std::fmt::Display) {
        let index = FAULTS.iter().position(|(known, _)| *known == fault).expect("each is in the table");
        // A storm that goes wrong goes wrong often: the first few of a kind say enough.
        if self.faults[index].fetch_add(1, Ordering::AcqRel) < 10 {
            eprintln!("\nstorm: {}: {text}", FAULTS[index].1);
        }
    }

    /// How many there were of each kind.
    pub fn faults(&self) -> [u64; FAULTS.len()] {
        std::array::from_fn(|index| self.faults[index].load(Ordering::Acquire))
    }

    /// Says that a survivor made a round, and answers how many it has made.
    pub fn round(&self, survivor: usize) -> u64 {
        self.rounds[survivor].fetch_add(1, Ordering::Release) + 1
    }
}

/// What the observer of this process knows: one storm a process.
struct Observed {
    board: &'static Board,
    slot: &'static Slot,
    points: &'static [String],
}

static OBSERVED: OnceLock<Observed> = OnceLock::new();

/// From here on this process's crash points are counted, and act as its slot's plan says.
pub fn observe(board: &'static Board, slot: &'static Slot, points: &'static [String]) {
    if OBSERVED.set(Observed { board, slot, points }).is_ok() {
        shoal_shm::crash::observe(pass);
    }
}

fn pass(name: &'static str) -> Action {
    let Some(Observed { board, slot, points }) = OBSERVED.get() else { return Action::Go };
    let Ok(point) = points.binary_search_by(|known| known.as_str().cmp(name)) else { return Action::Go };
    board.passes[slot.kind.load(Ordering::Relaxed) as usize][point].fetch_add(1, Ordering::Relaxed);
    slot.last.store(point as u32, Ordering::Relaxed);
    let planned = slot.point.load(Ordering::Relaxed) == point as u32;
    if !planned || slot.pass.fetch_sub(1, Ordering::Relaxed) != 1 {
        return Action::Go;
    }
    slot.landed.store(1, Ordering::Release);
    match slot.stop.load(Ordering::Relaxed) {
        0 => Action::Kill,
        _ => Action::Stop,
    }
}
