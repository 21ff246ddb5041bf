//! Bytes through a stream between two processes: how fast, in how much memory, and what is left when one of them, or both,
//! are killed half-way.

pub(crate) mod figures;
mod roles;

use crate::process::{die_with_parent, fork_into, shared, signal};
use figures::{rss, shared_memory, Series};
use nix::sys::signal::Signal;
use nix::sys::wait::{waitpid, WaitStatus};
use nix::unistd::Pid;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What goes through.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of the whole run; the others are cut short by a kill.
    pub bytes: u64,
    /// Chunks in flight.
    pub window: usize,
    /// Bytes of a chunk.
    pub chunk: usize,
}

impl Options {
    fn chunks(&self) -> u64 {
        self.bytes.div_ceil(self.chunk as u64)
    }
}

/// What the processes tell each other; not in `/dev/shm`.
pub struct Board {
    sent: AtomicU64,
    consumed: AtomicU64,
    peak: AtomicU64,
    /// How the consumer's stream ended: an outcome, and the number of its last chunk.
    ended: AtomicU64,
    last: AtomicU64,
    deserted: AtomicU64,
}

/// Who is killed half-way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Killed {
    Nobody,
    Producer,
    Consumer,
    Both,
}

const NOT_ENDED: u64 = 0;
const FINISHED: u64 = 1;
const BROKEN: u64 = 2;

/// How long a run may stand still.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks at memory in the course of a run.
const LOOKS: u64 = 20;

/// Runs everything in the directory `root`, and prints it; false when something is not as it must be.
pub fn run(options: Options, root: &Path) -> bool {
    let Options { bytes, window, chunk } = options;
    println!("{bytes} bytes through a window of {window} chunks of {chunk} bytes");
    let mut good = true;
    for killed in [Killed::Nobody, Killed::Producer, Killed::Consumer, Killed::Both] {
        let failed = Run::start(options, root, killed).finish();
        for what in &failed {
            println!("  FAILED: {what}");
        }
        good &= failed.is_empty();
    }
    good
}

struct Run<'a> {
    options: Options,
    root: &'a Path,
    killed: Killed,
    board: &'static Board,
    consumer: Pid,
    producer: Pid,
    start: Instant,
}

impl<'a> Run<'a> {
    fn start(options: Options, root: &'a Path, killed: Killed) -> Self {
        let board: &'static Board = shared();
        // Who is to be killed does not come to its end before that.
        let bytes = if killed == Killed::Nobody { options.bytes } else { u64::MAX / 2 };
        let role = |body: fn(&Board, Options) -> i32| {
            fork_into(|| {
                die_with_parent();
                body(board, Options { bytes, ..options })
            })
            .expect("a process")
        };
        let consumer = role(roles::consume);
        let producer = role(roles::produce);
        Self { options, root, killed, board, consumer, producer, start: Instant::now() }
    }

    /// Lets it come to its end; answers what was not as it must be.
    fn finish(self) -> Vec<String> {
        let half = self.options.chunks() / 2;
        let mut failed = Vec::new();
        let mut memory = Series::default();
        let goal = if self.killed == Killed::Nobody { self.options.chunks() } else { half };
        if !self.watch(goal, &mut memory) {
            failed.push(format!("it stands still at chunk {}", self.board.consumed.load(Relaxed)));
            [self.producer, self.consumer].into_iter().for_each(|pid| signal(pid, Signal::SIGKILL));
        }
        let seconds = self.start.elapsed().as_secs_f64();
        if matches!(self.killed, Killed::Producer | Killed::Both) {
            signal(self.producer, Signal::SIGKILL);
        }
        if matches!(self.killed, Killed::Consumer | Killed::Both) {
            signal(self.consumer, Signal::SIGKILL);
        }
        let codes = [self.producer, self.consumer].map(exit_code);
        self.say(seconds, &memory);
        self.check(codes, &memory, &mut failed);
        failed
    }

    /// Looks at memory until the consumer has come to chunk `goal`; false if it stands still.
    fn watch(&self, goal: u64, memory: &mut Series) -> bool {
        let (mut next, mut moved, mut before) = (0, Instant::now(), 0);
        loop {
            let now = self.board.consumed.load(Relaxed);
            if now != before {
                (moved, before) = (Instant::now(), now);
            }
            if now > next && now < goal {
                memory.add([rss(self.producer), rss(self.consumer), shared_memory(self.root)]);
                next = now + (goal / LOOKS).max(1);
            }
            if now >= goal || moved.elapsed() > PATIENCE {
                return now >= goal;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn say(&self, seconds: f64, memory: &Series) {
        let Board { sent, consumed, peak, .. } = self.board;
        let (sent, consumed, peak) = (sent.load(Relaxed), consumed.load(Relaxed), peak.load(Relaxed));
        println!("{}: {sent} chunks sent, {consumed} consumed, at most {peak} in flight", self.name());
        println!("  {}", memory.describe(["RSS of the producer", "RSS of the consumer", "/dev/shm"]));
        if self.killed == Killed::Nobody {
            let rate = self.options.bytes as f64 / seconds / 1e6;
            let floor = figures::copy_rate(self.options.chunk) / 1e6;
            println!("  {rate:.0} MB/s; one memcpy between two warm buffers of a chunk: {floor:.0} MB/s");
        }
    }

    fn name(&self) -> &'static str {
        match self.killed {
            Killed::Nobody => "whole",
            Killed::Producer => "producer killed",
            Killed::Consumer => "consumer killed",
            Killed::Both => "both killed",
        }
    }

    fn check(&self, [producer, consumer]: [Option<i32>; 2], memory: &Series, failed: &mut Vec<String>) {
        let Options { window, chunk, .. } = self.options;
        let board = self.board;
        let mut want = |good: bool, what: String| {
            if !good {
                failed.push(what);
            }
        };
        let kills = |side| self.killed == side || self.killed == Killed::Both;
        want((producer == Some(0)) != kills(Killed::Producer), format!("the producer ended with {producer:?}"));
        want((consumer == Some(0)) != kills(Killed::Consumer), format!("the consumer ended with {consumer:?}"));
        let peak = board.peak.load(Relaxed);
        want(peak <= window as u64, format!("{peak} chunks in flight"));
        let (sent, consumed) = (board.sent.load(Relaxed), board.consumed.load(Relaxed));
        let (ended, last) = (board.ended.load(Relaxed), board.last.load(Relaxed));
        let expected = match self.killed {
            Killed::Nobody => FINISHED,
            Killed::Producer => BROKEN,
            Killed::Consumer | Killed::Both => NOT_ENDED,
        };
        want(ended == expected, format!("the consumer's stream ended with {ended}, not {expected}"));
        // A producer that dies may have sent one more than it could say.
        let drained = consumed == last && (sent..=sent + 1).contains(&last);
        want(ended == NOT_ENDED || drained, format!("{consumed} consumed of {last}, {sent} sent"));
        let over = board.deserted.load(Relaxed);
        want(over == u64::from(self.killed == Killed::Consumer), format!("deserted: {over}"));
        let bound = (window as u64 + 2) * (chunk as u64 + 4096) + (1 << 20);
        want(memory.most(2) <= bound, format!("{} bytes of /dev/shm, above {bound}", memory.most(2)));
        for (index, what) in ["the producer's RSS", "the consumer's RSS", "/dev/shm"].iter().enumerate() {
            want(memory.growth(index) <= bound, format!("{what} grew by {} bytes", memory.growth(index)));
        }
        // Who joins next finds what is left, and takes it away when it leaves.
        roles::look_in();
        let left = shared_memory(self.root);
        want(left == 0, format!("{left} bytes of /dev/shm are left"));
    }
}

fn exit_code(pid: Pid) -> Option<i32> {
    match waitpid(pid, None) {
        Ok(WaitStatus::Exited(_, code)) => Some(code),
        _ => None,
    }
}
