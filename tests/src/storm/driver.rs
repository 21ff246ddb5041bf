//! The one process that forks, kills and counts.

use super::audit::Audit;
use super::board::{observe, Board, Fault, Slot, NONE, SLOTS};
use super::plan::{Plan, Random};
use super::report::Tally;
use super::survivors::SURVIVORS;
use super::talk::{Talker, PATIENCE};
use super::victims::{lonely_domain, Life, VICTIMS};
use crate::{points, process};
use indicatif::{ProgressBar, ProgressStyle};
use nix::sys::signal::Signal;
use nix::sys::wait::{waitpid, WaitPidFlag, WaitStatus};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What to do.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many processes to kill.
    pub kills: u64,
    /// What the random numbers follow from.
    pub seed: u64,
}

/// Victims at a time that are not stopped.
const AT_A_TIME: usize = 6;
/// Victims that are stopped at a time.
const STOPPED: usize = 4;
/// The driver looks that often.
const TICK: Duration = Duration::from_micros(200);

/// A victim that lives, or whose messages have not all come yet.
struct Running {
    plan: Plan,
    pid: Pid,
    born: Instant,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    Alive,
    /// Until then.
    Stopped(Instant),
    /// SIGKILL was sent.
    Killed(Instant),
    /// Since then; what it sent may still be under way.
    Dead(Instant),
}

struct Driver {
    board: &'static Board,
    points: &'static [String],
    options: Options,
    root: PathBuf,
    namespaces: bool,
    random: Random,
    survivors: Vec<Pid>,
    running: Vec<Option<Running>>,
    next_turn: u64,
    /// Victims so far.
    explored: usize,
    tally: Tally,
}

/// Runs a storm in this process, which must have one thread; `namespaces`: it may make them and is PID 1 of its own.
/// Answers whether all was well.
pub fn run(options: Options, root: &Path, namespaces: bool) -> bool {
    let points: &'static [String] = points::crash_points().leak();
    let mut driver = Driver {
        board: process::shared(),
        points,
        options,
        root: root.to_owned(),
        namespaces,
        random: Random(options.seed),
        survivors: Vec::new(),
        running: (0..SLOTS).map(|_| None).collect(),
        next_turn: 10,
        explored: 0,
        tally: Tally::new(points.len(), VICTIMS.len()),
    };
    driver.weather();
    driver.tally.print(options, points, driver.board)
}

impl Driver {
    fn weather(&mut self) {
        self.start_survivors();
        if !self.rounds(50) {
            return;
        }
        let before = self.audit_until(|_| true);
        self.storm();
        // What victims left behind goes when somebody looks, and when the talk has gone on for a moment.
        let after = self.audit_until(|now| now.is_like(&before));
        self.tally.compare(self.board, before, after);
        self.stop_survivors();
        self.visit_lonely_domains();
        self.tally.left(self.board, &self.root);
    }

    fn start_survivors(&mut self) {
        for (index, (name, role, nested)) in SURVIVORS.into_iter().enumerate() {
            let board = self.board;
            let body = || {
                process::die_with_parent();
                role(Talker { board, name }, index);
                board.left.fetch_or(1 << index, Ordering::AcqRel);
                0
            };
            let child = match nested && self.namespaces {
                true => process::fork_nested(|_| process::die_with_parent(), body),
                false => process::fork_into(body),
            };
            self.survivors.push(child.expect("a process for a survivor"));
        }
    }

    /// Lets each survivor make `count` more rounds; false when one does not.
    fn rounds(&self, count: u64) -> bool {
        let now = || SURVIVORS.iter().zip(&self.board.rounds).map(|(_, rounds)| rounds.load(Ordering::Acquire));
        let goals: Vec<u64> = now().map(|rounds| rounds + count).collect();
        let (mut last, mut moved) = (now().sum::<u64>(), Instant::now());
        while now().zip(&goals).any(|(rounds, goal)| rounds < *goal) {
            let sum = now().sum();
            if sum != last {
                (last, moved) = (sum, Instant::now());
            }
            if moved.elapsed() > PATIENCE || self.board.left.load(Ordering::Acquire) != 0 {
                self.board.fault(Fault::Hang, format_args!("survivors stand still at {:?}", now().collect::<Vec<_>>()));
                return false;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        true
    }

    fn storm(&mut self) {
        let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} kills, {per_sec}, {msg}");
        let bar =
            ProgressBar::new(self.options.kills).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let (mut last, mut moved) = (0, Instant::now());
        while self.tally.kills() < self.options.kills || self.running.iter().any(Option::is_some) {
            if self.tally.kills() < self.options.kills {
                self.fill();
            }
            std::thread::sleep(TICK);
            self.bury();
            (0..SLOTS).for_each(|slot| self.look_at(slot));
            bar.set_position(self.tally.kills());
            bar.set_message(format!("{} rounds of the talker", self.board.rounds[0].load(Ordering::Relaxed)));
            let rounds = self.board.rounds[0].load(Ordering::Acquire);
            if rounds != last {
                (last, moved) = (rounds, Instant::now());
            }
            if moved.elapsed() > PATIENCE * 2 || self.board.left.load(Ordering::Acquire) != 0 {
                self.board.fault(Fault::Hang, "the talker stands still");
                break;
            }
        }
        bar.finish();
        self.running.iter().flatten().for_each(|victim| process::signal(victim.pid, Signal::SIGKILL));
    }

    /// Starts victims in free slots.
    fn fill(&mut self) {
        let stopped = |victim: &&Running| matches!(victim.state, State::Stopped(_));
        let mut active = self.running.iter().flatten().filter(|victim| !stopped(victim)).count();
        let waiting = self.running.iter().flatten().filter(stopped).count();
        for slot in 0..SLOTS {
            if active >= AT_A_TIME {
                break;
            }
            if self.running[slot].is_none() {
                let landed = &self.tally.landed;
                let plan = match self.explored < VICTIMS.len() {
                    true => Plan::explore(self.explored),
                    false => Plan::draw(&mut self.random, self.board, landed, self.namespaces, waiting < STOPPED),
                };
                self.explored += 1;
                self.running[slot] = Some(self.start(slot, plan));
                active += 1;
            }
        }
    }

    fn start(&mut self, index: usize, plan: Plan) -> Running {
        self.next_turn += 1;
        let (board, points, seed) = (self.board, self.points, self.options.seed);
        let slot: &'static Slot = &board.slots[index];
        plan.write(slot);
        for word in [&slot.sent, &slot.got] {
            word.store(0, Ordering::Relaxed);
        }
        slot.last.store(NONE, Ordering::Relaxed);
        slot.landed.store(0, Ordering::Relaxed);
        slot.pid.store(0, Ordering::Relaxed);
        slot.life.store(self.next_turn * SLOTS as u64 + index as u64, Ordering::Release);
        let (name, role) = VICTIMS[plan.kind];
        let body = || {
            process::die_with_parent();
            observe(board, slot, points);
            role(&Life::new(board, slot, name, seed));
            0
        };
        if self.namespaces {
            // The next PID is the lowest that is free: PIDs are used again and again.
            let _ = std::fs::write("/proc/sys/kernel/ns_last_pid", "200");
        }
        let pid = match plan.nested {
            true => process::fork_nested(|init| slot.pid.store(init.as_raw() as u32, Ordering::Release), body),
            false => process::fork_into(body),
        };
        Running { plan, pid: pid.expect("a process for a victim"), born: Instant::now(), state: State::Alive }
    }

    /// Takes note of who died or was stopped.
    fn bury(&mut self) {
        let flags = WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED;
        while let Ok(status) = waitpid(Pid::from_raw(-1), Some(flags)) {
            let Some(pid) = status.pid() else { return };
            let of_pid =
                |victim: &Option<Running>| victim.as_ref().is_some_and(|victim| victim.pid == pid && !victim.is_dead());
            // Others are orphans of victims, or survivors, whose end shows elsewhere.
            let Some(slot) = self.running.iter().position(of_pid) else { continue };
            match status {
                WaitStatus::Stopped(..) => self.note_stop(slot),
                WaitStatus::Signaled(_, Signal::SIGKILL, _) => self.note_death(slot, true),
                WaitStatus::Exited(_, 137) => self.note_death(slot, true),
                WaitStatus::Exited(_, 0) => self.note_death(slot, false),
                other => {
                    let kind = self.running[slot].as_ref().map(|victim| VICTIMS[victim.plan.kind].0);
                    self.board.fault(Fault::Failed, format_args!("a victim ({kind:?}) ended with {other:?}"));
                    self.note_death(slot, false);
                }
            }
        }
    }

    fn note_stop(&mut self, slot: usize) {
        let Some(victim) = &mut self.running[slot] else { return };
        self.tally.stops += 1;
        victim.state = State::Stopped(Instant::now() + victim.plan.stopped.unwrap_or_default());
    }

    fn note_death(&mut self, slot: usize, killed: bool) {
        let Some(victim) = &mut self.running[slot] else { return };
        victim.state = State::Dead(Instant::now());
        let board = &self.board.slots[slot];
        let landed =
            (board.landed.load(Ordering::Acquire) == 1).then(|| victim.plan.point.map(|(point, _)| point)).flatten();
        // One that was stopped at its point and went on died elsewhere.
        let landed = landed.filter(|_| victim.plan.stopped.is_none() || !victim.plan.continued);
        self.tally.death(killed, landed, victim.plan.kind, victim.plan.nested);
    }

    /// Does to a victim what is due.
    fn look_at(&mut self, index: usize) {
        let Some(victim) = &mut self.running[index] else { return };
        let (now, slot) = (Instant::now(), &self.board.slots[index]);
        let pid = match slot.pid.load(Ordering::Acquire) {
            0 => victim.pid,
            init => Pid::from_raw(init as i32),
        };
        match victim.state {
            State::Alive if now - victim.born >= victim.plan.after && (!victim.plan.nested || pid != victim.pid) => {
                if victim.plan.stopped.is_some() && victim.plan.point.is_none() {
                    process::signal(pid, Signal::SIGSTOP);
                    // Seen when the kernel says that it has stopped; then it is not stopped again.
                    victim.plan.after = Duration::MAX;
                } else {
                    process::signal(pid, Signal::SIGKILL);
                    victim.state = State::Killed(now);
                }
            }
            State::Stopped(until) if now >= until => {
                let continued = victim.plan.continued;
                process::signal(pid, if continued { Signal::SIGCONT } else { Signal::SIGKILL });
                victim.state = if continued { State::Alive } else { State::Killed(now) };
                victim.plan.stopped = victim.plan.stopped.filter(|_| !continued);
                victim.plan.after = (now - victim.born) + Duration::from_millis(20);
            }
            State::Killed(since) if now - since > PATIENCE => {
                self.board.fault(Fault::Hang, format_args!("a killed process does not die: {:?}", victim.plan));
                self.running[index] = None;
            }
            State::Dead(since) => self.settle(index, since),
            _ => {}
        }
    }

    /// Lets a slot go when all that its victim sent has come.
    fn settle(&mut self, index: usize, since: Instant) {
        let slot = &self.board.slots[index];
        let (sent, got) = (slot.sent.load(Ordering::Acquire), slot.got.load(Ordering::Acquire));
        let Some(victim) = &self.running[index] else { return };
        let (name, _) = VICTIMS[victim.plan.kind];
        // A client's and a lonely one's messages are judged by themselves.
        let is_heard = !matches!(name, "client" | "lonely");
        if is_heard && got < sent {
            if since.elapsed() < PATIENCE {
                return;
            }
            let last = self.points.get(slot.last.load(Ordering::Relaxed) as usize);
            self.board.fault(
                Fault::Lost,
                format_args!("{sent} messages sent by a {name}, {got} came; {last:?}, {:?}", victim.plan),
            );
        }
        self.running[index] = None;
    }

    /// Has another process look at the domain.
    fn audit(&self) -> Audit {
        let (board, root) = (self.board, self.root.clone());
        let child = process::fork_into(|| {
            Audit::of_domain(&root).write(board);
            0
        });
        if !matches!(child.and_then(|child| waitpid(child, None)), Ok(WaitStatus::Exited(_, 0))) {
            self.board.fault(Fault::Failed, "the domain cannot be looked at");
        }
        Audit::read(self.board)
    }

    /// Looks again and again until what is found is good, or does not become so.
    fn audit_until(&self, good: impl Fn(&Audit) -> bool) -> Audit {
        let start = Instant::now();
        self.board.quiet.store(1, Ordering::Release);
        let found = loop {
            self.rounds(20);
            let found = self.audit();
            if good(&found) || start.elapsed() > PATIENCE {
                break found;
            }
        };
        self.board.quiet.store(0, Ordering::Release);
        found
    }

    fn stop_survivors(&mut self) {
        self.board.over.store(1, Ordering::Release);
        let start = Instant::now();
        for (pid, (name, ..)) in std::mem::take(&mut self.survivors).into_iter().zip(SURVIVORS) {
            loop {
                match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
                    Ok(WaitStatus::StillAlive) if start.elapsed() < PATIENCE * 2 => {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    Ok(WaitStatus::StillAlive) => {
                        self.board.fault(Fault::Hang, format_args!("the {name} does not end"));
                        process::signal(pid, Signal::SIGKILL);
                        break;
                    }
                    Ok(WaitStatus::Exited(_, 0)) => break,
                    other => break self.board.fault(Fault::Failed, format_args!("the {name} ended with {other:?}")),
                }
            }
        }
    }

    /// Joins and leaves where lonely victims were: nothing may keep anybody out, and nothing stays.
    fn visit_lonely_domains(&self) {
        for slot in 0..SLOTS {
            let board = self.board;
            let child = process::fork_into(|| {
                drop(
                    Talker { board, name: "visitor" }
                        .ok("join after the lonely", super::talk::join(lonely_domain(slot))),
                );
                0
            });
            let end = child.and_then(|child| waitpid(child, None));
            if !matches!(end, Ok(WaitStatus::Exited(_, 0))) {
                board.fault(Fault::Failed, format_args!("a visitor of the lonely ended with {end:?}"));
            }
        }
    }
}

impl Running {
    fn is_dead(&self) -> bool {
        matches!(self.state, State::Dead(_))
    }
}
