//! The rows: what is measured, with which processes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::child::Process;
use crate::error::{io, Error, Result};
use crate::job::Job;
use crate::role::bells::WORDS;
use crate::role::Role;
use crate::system;

/// The sizes of round trips, in bytes, by name.
pub const SIZES: [(&str, usize); 8] = [
    ("64", 64),
    ("1k", 1 << 10),
    ("16k", 16 << 10),
    ("64k", 64 << 10),
    ("256k", 256 << 10),
    ("1m", 1 << 20),
    ("4m", 4 << 20),
    ("8m", 8 << 20),
];

/// What publishes and what takes, of an RMW.
const RMW: (Role, Role) = (Role::Source, Role::Sink);

/// Depth of a history that a fast source may run ahead of.
const DEPTH: usize = 10;

/// One kind of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    /// Round trips of so many bytes.
    RoundTrip(usize),
    /// Round trips of loaned messages.
    Loan(usize),
    /// One way, of so many bytes, KEEP_ALL or KEEP_LAST.
    Stream { size: usize, keep_all: bool },
    /// One source, several sinks, 64 KiB at 100 Hz.
    FanOut(usize),
    /// Several sources of 64 bytes at 100 Hz, one sink.
    FanIn(usize),
    /// 1,000 retained samples of 100 bytes.
    LateJoin,
    /// A small service.
    Service,
    /// So many processes at once.
    BringUp(usize),
    /// Nothing.
    Idle,
}

/// A named kind of work.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name, for `--only`.
    pub name: String,
    /// What is done.
    pub work: Work,
}

/// All of them.
pub fn rows() -> Vec<Row> {
    let row = |name: &str, work| Row { name: name.into(), work };
    let mut rows: Vec<Row> = SIZES.map(|(name, size)| row(&format!("rtt-{name}"), Work::RoundTrip(size))).into();
    rows.extend(SIZES.map(|(name, size)| row(&format!("loan-{name}"), Work::Loan(size))));
    rows.extend([
        row("stream-64-keep-all", Work::Stream { size: 64, keep_all: true }),
        row("stream-64-keep-last", Work::Stream { size: 64, keep_all: false }),
        row("stream-1m", Work::Stream { size: 1 << 20, keep_all: false }),
        row("fan-out-8", Work::FanOut(8)),
        row("fan-out-32", Work::FanOut(32)),
        row("fan-in-32", Work::FanIn(32)),
        row("late-join", Work::LateJoin),
        row("service", Work::Service),
        row("bring-up-50", Work::BringUp(50)),
        row("bring-up-100", Work::BringUp(100)),
        row("idle", Work::Idle),
    ]);
    rows
}

/// A figure: which, how much.
pub type Figure = (String, f64);

/// How long the parts take.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Of each measurement, in seconds.
    pub seconds: f64,
    /// Of idleness, in seconds.
    pub idle: f64,
}

/// Runs rows.
pub struct Runner {
    /// How long.
    pub pace: Pace,
    /// `ROS_DOMAIN_ID`.
    pub domain: usize,
    /// A folder in shared memory, for the floors.
    pub dir: PathBuf,
}

impl Runner {
    fn job(&self, rmw: &Path, size: usize) -> Job {
        Job {
            rmw: rmw.to_owned(),
            domain: self.domain,
            size,
            seconds: self.pace.seconds,
            rate: 0.0,
            count: 0,
            peers: 1,
            index: 0,
            keep_all: false,
            depth: DEPTH,
            file: self.dir.join("floor"),
        }
    }

    /// Does a row's work once with one RMW.
    ///
    /// # Errors
    /// A process failed, or did not come to its end.
    pub fn run(&self, work: Work, rmw: &Path) -> Result<Vec<Figure>> {
        match work {
            Work::RoundTrip(size) => self.pair(Role::Ping, Role::Pong, &self.job(rmw, size)),
            Work::Loan(size) => self.pair(Role::LoanPing, Role::LoanPong, &self.job(rmw, size)),
            Work::Service => self.call(&self.job(rmw, 0)),
            Work::Stream { size, keep_all } => self.stream(RMW, &Job { keep_all, ..self.job(rmw, size) }, 1, 1),
            Work::FanOut(sinks) => self.stream(RMW, &self.fan_out(rmw), 1, sinks),
            Work::FanIn(sources) => self.stream(RMW, &self.fan_in(rmw), sources, 1),
            Work::LateJoin => self.late_join(&Job { count: 1000, ..self.job(rmw, 100) }),
            Work::BringUp(count) => self.bring_up(Role::Member, &self.many(rmw, count)),
            Work::Idle => self.idle(&self.job(rmw, 0)),
        }
    }

    fn fan_out(&self, rmw: &Path) -> Job {
        Job { rate: 100.0, ..self.job(rmw, 64 << 10) }
    }

    fn fan_in(&self, rmw: &Path) -> Job {
        Job { rate: 100.0, ..self.job(rmw, 64) }
    }

    fn many(&self, rmw: &Path, count: usize) -> Job {
        Job { peers: count, seconds: 40.0, ..self.job(rmw, 0) }
    }

    /// What the unavoidable part of a row costs. `fx`: µs of a futex round trip. `fx cpu`: processor time in µs of one
    /// wake-up and the sleep after it. `mc`: µs of a memcpy of the payload. Of one-way work at a rate: processes that copy
    /// and wake, with a futex for each sink. Of many processes: the same with the libraries of `rmw` loaded and not used.
    ///
    /// # Errors
    /// As for [`run`](Self::run).
    pub fn floors(&self, work: Work, rmw: &Path) -> Result<Vec<Figure>> {
        match work {
            Work::RoundTrip(size) | Work::Loan(size) | Work::Stream { size, .. } => self.primitives(size),
            Work::Service => self.primitives(64),
            Work::FanOut(sinks) => self.bells(&self.fan_out(rmw), 1, sinks),
            Work::FanIn(sources) => self.bells(&self.fan_in(rmw), sources, 1),
            Work::BringUp(count) => self.bring_up(Role::Bystander, &self.many(rmw, count)),
            Work::LateJoin | Work::Idle => Ok(Vec::new()),
        }
    }

    /// The file of the floors, with room for `len` bytes.
    fn make_file(&self, job: &Job, len: usize) -> Result<()> {
        std::fs::write(&job.file, vec![0; len]).map_err(io(format!("write {}", job.file.display())))
    }

    fn bells(&self, job: &Job, sources: usize, sinks: usize) -> Result<Vec<Figure>> {
        self.make_file(job, WORDS + job.size)?;
        let mut figures = self.stream((Role::BellSource, Role::BellSink), job, sources, sinks)?;
        figures.retain(|(name, _)| name.ends_with("cpu per message") || name.ends_with("p50"));
        Ok(figures)
    }

    fn primitives(&self, size: usize) -> Result<Vec<Figure>> {
        let job = self.job(Path::new(""), size);
        self.make_file(&job, 4096)?;
        let job = Job { seconds: job.seconds / 2.0, ..job };
        let futex = self.pair(Role::FutexPing, Role::FutexPong, &job)?;
        let of = |name: &str| futex.iter().find(|(figure, _)| figure == name).map_or(f64::NAN, |(_, value)| *value);
        let mut figures = vec![("fx".into(), of("p50")), ("fx cpu".into(), of("cpu per delivered message"))];
        let mut copier = Process::start(Role::Copier, &job)?;
        copier.ready()?;
        copier.tell()?;
        let copied = copier.answer()?;
        copier.end()?;
        figures.push(("mc".into(), number(&copied, "ns") / 1000.0));
        Ok(figures)
    }

    fn pair(&self, ping: Role, pong: Role, job: &Job) -> Result<Vec<Figure>> {
        let (mut ping, mut pong) = (Process::start(ping, job)?, Process::start(pong, job)?);
        pong.ready()?;
        ping.ready()?;
        pong.tell()?;
        ping.tell()?;
        let measured = ping.answer()?;
        let echoed = pong.stop()?;
        ping.end()?;
        let mut figures = figures(&measured, "");
        let cpu = number(&measured, "cpu per trip") + number(&echoed, "cpu per trip");
        figures.push(("cpu per delivered message".into(), cpu / 2.0));
        Ok(figures)
    }

    fn call(&self, job: &Job) -> Result<Vec<Figure>> {
        let mut server = Process::start(Role::Server, job)?;
        server.ready()?;
        server.tell()?;
        let mut caller = Process::start(Role::Caller, job)?;
        caller.ready()?;
        caller.tell()?;
        let measured = caller.answer()?;
        caller.end()?;
        server.stop()?;
        Ok(figures(&measured, ""))
    }

    fn stream(&self, roles: (Role, Role), job: &Job, sources: usize, sinks: usize) -> Result<Vec<Figure>> {
        let (source, sink) = roles;
        let mut readers = Process::start_many(sink, &Job { peers: sources, ..job.clone() }, sinks)?;
        readers.iter_mut().try_for_each(Process::tell)?;
        let mut writers = Process::start_many(source, &Job { peers: sinks, ..job.clone() }, sources)?;
        for reader in &mut readers {
            reader.answer()?;
        }
        writers.iter_mut().try_for_each(Process::tell)?;
        let sent = writers.iter_mut().map(Process::answer).collect::<Result<Vec<_>>>()?;
        let received = readers.into_iter().map(Process::stop).collect::<Result<Vec<_>>>()?;
        writers.into_iter().try_for_each(Process::end)?;
        let mut all = figures(&sent[0], "source ");
        // The slowest of the sinks.
        let slowest = received.iter().max_by(|a, b| number(a, "p50").total_cmp(&number(b, "p50")));
        all.extend(slowest.map(|slowest| figures(slowest, "sink ")).unwrap_or_default());
        let total = |values: &[Value], key| values.iter().map(|value| number(value, key)).sum::<f64>();
        let due = total(&sent, "sent") * sinks as f64;
        all.push(("delivered of sent".into(), total(&received, "received") / due.max(1.0)));
        Ok(all)
    }

    fn late_join(&self, job: &Job) -> Result<Vec<Figure>> {
        let mut keeper = Process::start(Role::Keeper, job)?;
        keeper.ready()?;
        let mut joiner = Process::start(Role::Joiner, job)?;
        joiner.ready()?;
        joiner.tell()?;
        let measured = joiner.answer()?;
        joiner.end()?;
        keeper.tell()?;
        keeper.end()?;
        Ok(figures(&measured, ""))
    }

    fn bring_up(&self, role: Role, job: &Job) -> Result<Vec<Figure>> {
        let before = system::shared_memory();
        let start = Instant::now();
        let started = (0..job.peers).map(|index| Process::start(role, &Job { index, ..job.clone() }));
        let mut members = started.collect::<Result<Vec<_>>>()?;
        let patience = Duration::from_secs_f64(job.seconds * 2.0);
        let answers = members.iter_mut().map(|m| m.answer_within(patience)).collect::<Result<Vec<_>>>()?;
        let wall = start.elapsed().as_secs_f64();
        let pss: u64 = members.iter().map(|member| system::pss(member.id())).sum();
        let shared = system::shared_memory().saturating_sub(before);
        members.into_iter().try_for_each(Process::end)?;
        let complete = answers.iter().filter(|answer| answer["complete"] == Value::Bool(true)).count();
        Ok(vec![
            ("wall s".into(), wall),
            ("cpu s".into(), answers.iter().map(|answer| number(answer, "cpu")).sum()),
            ("pss MiB".into(), pss as f64 / (1 << 20) as f64),
            ("shm MiB".into(), shared as f64 / (1 << 20) as f64),
            ("complete".into(), complete as f64),
        ])
    }

    fn idle(&self, job: &Job) -> Result<Vec<Figure>> {
        let mut idler = Process::start(Role::Idler, job)?;
        idler.ready()?;
        idler.tell()?;
        // What starting up has set going comes to rest first.
        std::thread::sleep(Duration::from_secs(1));
        let before = system::switches(idler.id());
        std::thread::sleep(Duration::from_secs_f64(self.pace.idle));
        let wakes = system::switches(idler.id()).saturating_sub(before);
        let threads = system::threads(idler.id());
        idler.stop()?;
        Ok(vec![
            ("wake-ups".into(), wakes as f64),
            ("seconds".into(), self.pace.idle),
            ("threads".into(), threads as f64),
        ])
    }
}

/// The numbers of an object.
fn figures(value: &Value, prefix: &str) -> Vec<Figure> {
    let entries = value.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((format!("{prefix}{key}"), value.as_f64()?))).collect()
}

fn number(value: &Value, key: &str) -> f64 {
    value[key].as_f64().unwrap_or(f64::NAN)
}

/// Checks that the rows asked for exist.
///
/// # Errors
/// A word that is part of no row's name.
pub fn chosen(only: &[String]) -> Result<Vec<Row>> {
    let all = rows();
    if let Some(unknown) = only.iter().find(|word| !all.iter().any(|row| row.name.contains(*word))) {
        let names: Vec<&str> = all.iter().map(|row| row.name.as_str()).collect();
        return Err(Error::Other(format!("no row is called {unknown:?}; there are {}", names.join(", "))));
    }
    let is_chosen = |row: &Row| only.is_empty() || only.iter().any(|word| row.name.contains(word.as_str()));
    Ok(all.into_iter().filter(is_chosen).collect())
}
