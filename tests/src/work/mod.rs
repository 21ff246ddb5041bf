//! Items of one producer, shared by consumers of which some are killed and some are stopped beyond their lease: each item
//! is acknowledged once, none is lost, and the end comes to all that live.

mod roles;

use crate::payload::mix;
use crate::process::{die_with_parent, fork_into, shared, signal};
use nix::sys::signal::Signal;
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicU8, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The most items of a run.
pub const MOST_ITEMS: usize = 1 << 20;
/// Consumers at a time.
const CONSUMERS: usize = 5;

/// How hard it is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Items of the queue.
    pub items: u64,
    /// Consumers to kill.
    pub kills: u64,
    /// What the random numbers follow from.
    pub seed: u64,
}

/// What the processes tell each other; not in `/dev/shm`.
pub struct Board {
    /// How often each item was acknowledged, as far as its consumer lived to say so.
    acked: [AtomicU8; MOST_ITEMS],
    /// How often each was claimed.
    claimed: [AtomicU8; MOST_ITEMS],
    /// What a consumer is about to acknowledge; 0: nothing.
    current: [AtomicU64; CONSUMERS],
    done: AtomicU64,
    /// Acknowledgements that came too late.
    late: AtomicU64,
    ended: AtomicU32,
    joined: [AtomicU32; CONSUMERS],
    /// Nobody is killed any more: the last item may be sent.
    calm: AtomicU32,
}

/// How long a run may stand still.
const PATIENCE: Duration = Duration::from_secs(60);

struct Run {
    options: Options,
    board: &'static Board,
    producer: Pid,
    consumers: [Pid; CONSUMERS],
    /// Items whose consumer was killed when it was about to acknowledge them, or just had.
    unsure: BTreeSet<u64>,
    stops: u64,
}

/// Runs it; prints what came of it, and answers whether all was as it must be.
pub fn run(options: Options, root: &Path) -> bool {
    let begin = Instant::now();
    let mut run = Run::start(options);
    let mut failed = Vec::new();
    if !run.disturb() {
        failed.push(format!("it stands still after {} items", run.board.done.load(Relaxed)));
        run.consumers.into_iter().chain([run.producer]).for_each(|pid| signal(pid, Signal::SIGKILL));
    }
    run.end(&mut failed);
    run.check(root, &mut failed);
    let Board { late, ended, claimed, .. } = run.board;
    let claims: u64 = claimed.iter().map(|count| u64::from(count.load(Relaxed))).sum();
    println!(
        "{} items, {claims} claims, {} kills, {} stops beyond the lease, {} acknowledgements that came too late, {} of \
         {CONSUMERS} consumers saw the end, {:.1} s",
        options.items,
        options.kills,
        run.stops,
        late.load(Relaxed),
        ended.load(Relaxed),
        begin.elapsed().as_secs_f64()
    );
    failed.iter().for_each(|what| println!("FAILED: {what}"));
    failed.is_empty()
}

impl Run {
    fn start(options: Options) -> Self {
        let board: &'static Board = shared();
        let consumers = std::array::from_fn(|index| consumer(board, index, options.items));
        let produce = move || {
            die_with_parent();
            roles::produce(board, options.items)
        };
        let producer = fork_into(produce).expect("a process");
        Self { options, board, producer, consumers, unsure: BTreeSet::new(), stops: 0 }
    }

    /// Kills and stops consumers, evenly over the run; false if nothing moves any more.
    fn disturb(&mut self) -> bool {
        let Options { items, kills, seed } = self.options;
        for kill in 1..=kills {
            if !self.wait_for(items * kill / (kills + 1)) {
                return false;
            }
            let random = mix(seed ^ kill);
            let index = random as usize % CONSUMERS;
            if random >> 32 & 3 == 0 {
                self.stop_for_a_while((index + 1) % CONSUMERS);
            }
            self.replace(index);
        }
        let all_here = self.wait_until(|run| run.board.joined.iter().all(|joined| joined.load(Relaxed) == 1));
        self.board.calm.store(1, Relaxed);
        all_here && self.wait_for(items)
    }

    fn wait_for(&self, goal: u64) -> bool {
        // Acknowledgements of which nobody lived to say are not counted.
        self.wait_until(|run| run.board.done.load(Relaxed) + run.unsure.len() as u64 >= goal)
    }

    fn wait_until(&self, come: impl Fn(&Self) -> bool) -> bool {
        let (mut before, mut moved) = (0, Instant::now());
        loop {
            if come(self) || self.board.ended.load(Relaxed) > 0 {
                return true;
            }
            let now = self.board.done.load(Relaxed);
            if now != before {
                (before, moved) = (now, Instant::now());
            }
            if moved.elapsed() > PATIENCE {
                return false;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    fn replace(&mut self, index: usize) {
        let pid = self.consumers[index];
        signal(pid, Signal::SIGKILL);
        // It may have seen the end before.
        let _ = waitpid(pid, None);
        let current = self.board.current[index].swap(0, Relaxed);
        let unsaid = |item: &u64| *item != 0 && self.board.acked[*item as usize - 1].load(Relaxed) == 0;
        self.board.joined[index].store(0, Relaxed);
        self.unsure.extend(Some(current).filter(unsaid));
        self.consumers[index] = consumer(self.board, index, self.options.items);
    }

    /// So long that its lease runs out, if it has claimed something.
    fn stop_for_a_while(&mut self, index: usize) {
        self.stops += 1;
        signal(self.consumers[index], Signal::SIGSTOP);
        std::thread::sleep(roles::LEASE * 2);
        signal(self.consumers[index], Signal::SIGCONT);
    }

    fn end(&self, failed: &mut Vec<String>) {
        let begin = Instant::now();
        for pid in self.consumers.into_iter().chain([self.producer]) {
            let status = loop {
                match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
                    Ok(WaitStatus::StillAlive) if begin.elapsed() < PATIENCE => {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    Ok(WaitStatus::StillAlive) => {
                        failed.push("somebody has not seen the end".into());
                        signal(pid, Signal::SIGKILL);
                        break waitpid(pid, None);
                    }
                    status => break status,
                }
            };
            if !matches!(status, Ok(WaitStatus::Exited(_, 0))) {
                failed.push(format!("a process ended with {status:?}"));
            }
        }
    }

    fn check(&self, root: &Path, failed: &mut Vec<String>) {
        let mut sure = 0;
        for item in 1..=self.options.items {
            let acked = self.board.acked[item as usize - 1].load(Relaxed);
            let unsure = self.unsure.contains(&item);
            sure += u64::from(acked);
            if acked > 1 || acked == 0 && !unsure {
                failed.push(format!("item {item} was acknowledged {acked} times"));
            }
        }
        if sure < self.options.items - self.unsure.len() as u64 {
            failed.push(format!("{sure} acknowledgements"));
        }
        if self.board.ended.load(Relaxed) < CONSUMERS as u32 {
            failed.push("some consumers have not seen the end".into());
        }
        // Who joins next takes away what the killed have left.
        roles::look_in();
        let left = crate::stream::figures::shared_memory(root);
        if left > 0 {
            failed.push(format!("{left} bytes of /dev/shm are left"));
        }
    }
}

fn consumer(board: &'static Board, index: usize, items: u64) -> Pid {
    fork_into(|| {
        die_with_parent();
        roles::consume(board, index, items)
    })
    .expect("a process")
}
