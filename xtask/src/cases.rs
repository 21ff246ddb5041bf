//! The ROS 2 client cases of tests/ros: real rclpy processes on the built plugin, one case at a time, each under a
//! watchdog. The table (name, time limit) is the scripts' own: `run.py --list`.

use crate::prefix::{self, Distro, Prefix};
use crate::run::{self, at, Failure};
use crate::{env, paths, plugin};
use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Which cases to run, and on what.
#[derive(clap::Args)]
pub struct Choice {
    /// Cases whose name contains one of these, separated by commas (default: all)
    #[arg(long, default_value = "")]
    only: String,
    /// The distribution (default: the installed one, or jazzy)
    #[arg(long)]
    distro: Option<Distro>,
    /// Run on the prefix's own RMW instead of the plugin, to see what the cases say about another middleware
    #[arg(long)]
    control: bool,
}

/// How many passed, failed and were left out.
#[derive(Copy, Clone, Default, Eq, PartialEq, Debug)]
pub struct Counts {
    pub passed: u32,
    pub failed: u32,
    pub skipped: u32,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, o: Counts) {
        self.passed += o.passed;
        self.failed += o.failed;
        self.skipped += o.skipped;
    }
}

impl Counts {
    /// The closing line of a run; an error when something failed or nothing ran.
    pub fn close(self) -> Result<(), Failure> {
        println!("{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped);
        if self.failed > 0 {
            return Err(Failure::Advice(format!("{} failed", self.failed)));
        }
        if self.passed == 0 {
            return Err(Failure::Advice("nothing was run".into()));
        }
        Ok(())
    }
}

/// `cargo xtask cases`.
pub fn run_chosen(choice: &Choice) -> Result<(), Failure> {
    let prefix = prefix::find_or_make(choice.distro)?;
    let lib = if choice.control { None } else { Some(plugin::build(&prefix)?) };
    run_all(&prefix, lib.as_deref(), &choice.only)?.close()
}

/// Runs the cases whose name contains one of the comma-separated words of `only`, printing a line for each.
pub fn run_all(prefix: &Prefix, lib: Option<&Path>, only: &str) -> Result<Counts, Failure> {
    let logs = paths::target().join("ros-cases").join(prefix.distro.name());
    at(&logs, std::fs::create_dir_all(&logs))?;
    let mut counts = Counts::default();
    for case in table(prefix, lib)?.iter().filter(|c| is_chosen(&c.name, only)) {
        let mut command = python(prefix, lib, "run.py");
        command.arg(&case.name);
        counts += run_one(&case.name, command, case.limit, &logs.join(format!("{}.log", case.name)))?;
    }
    Ok(counts)
}

/// Whether a name contains one of the comma-separated words of `only`, which is none for all.
pub fn is_chosen(name: &str, only: &str) -> bool {
    only.is_empty() || only.split(',').any(|word| name.contains(word))
}

/// Runs one case under a watchdog, with its output in a log whose last line is what it says of itself, and prints a
/// line for it.
pub fn run_one(name: &str, mut command: Command, limit: Duration, log: &Path) -> Result<Counts, Failure> {
    let out = at(log, std::fs::File::create(log))?;
    let err = at(log, out.try_clone())?;
    // A group of its own: whatever a case leaves behind, also when it hangs, ends with the group.
    command.process_group(0).stdin(Stdio::null()).stdout(out).stderr(err);
    let start = Instant::now();
    let child = command.spawn().map_err(|source| Failure::Start { what: run::shown(&command), source })?;
    let verdict = judge(watch(child, limit), limit, log);
    println!("{} {:5.1} s  {name}: {}", verdict.word(), start.elapsed().as_secs_f64(), verdict.text());
    Ok(verdict.count())
}

/// A Python of the prefix that runs one of our scripts on the plugin.
pub fn python(prefix: &Prefix, lib: Option<&Path>, script: &str) -> Command {
    let mut c = Command::new(prefix.python());
    c.env_remove("LD_PRELOAD").env("PYTHONUNBUFFERED", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    c.envs(env::variables(prefix, lib)).arg(paths::ros_scripts().join(script));
    c
}

struct Case {
    name: String,
    limit: Duration,
}

enum Verdict {
    Pass(String),
    Skip(String),
    Fail(String),
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self {
            Verdict::Pass(_) => "ok  ",
            Verdict::Skip(_) => "skip",
            Verdict::Fail(_) => "FAIL",
        }
    }

    fn count(&self) -> Counts {
        let mut counts = Counts::default();
        match self {
            Verdict::Pass(_) => counts.passed = 1,
            Verdict::Skip(_) => counts.skipped = 1,
            Verdict::Fail(_) => counts.failed = 1,
        }
        counts
    }

    fn text(&self) -> &str {
        let (Verdict::Pass(t) | Verdict::Skip(t) | Verdict::Fail(t)) = self;
        t
    }
}

fn table(prefix: &Prefix, lib: Option<&Path>) -> Result<Vec<Case>, Failure> {
    let listed = run::output(python(prefix, lib, "run.py").arg("--list")).ok_or_else(|| {
        Failure::Advice("tests/ros/run.py --list does not run: try it in a shell with `cargo xtask env`".into())
    })?;
    let case = |line: &str| {
        let (name, limit) = line.split_once(' ')?;
        Some(Case { name: name.to_owned(), limit: Duration::from_secs_f64(limit.parse().ok()?) })
    };
    let cases: Option<Vec<Case>> = listed.lines().map(case).collect();
    cases.ok_or_else(|| {
        Failure::Advice(format!("tests/ros/run.py --list printed something else than `name seconds`: {listed}"))
    })
}

fn judge(code: Option<i32>, limit: Duration, log: &Path) -> Verdict {
    let text = std::fs::read(log).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    let last = text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("no output").to_owned();
    let (seconds, log) = (limit.as_secs(), log.display());
    match code {
        Some(0) => Verdict::Pass(last),
        Some(77) => Verdict::Skip(last),
        Some(_) => Verdict::Fail(format!("{last} (log: {log})")),
        None => Verdict::Fail(format!("ended by a signal or by the watchdog after {seconds} s (log: {log})")),
    }
}

/// The exit code, or None for a signal or after the limit. Nothing of the child's group is left.
fn watch(mut child: Child, limit: Duration) -> Option<i32> {
    let group = Pid::from_raw(child.id() as i32);
    let end = Instant::now() + limit;
    let code = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(20)),
            _ => break None,
        }
    };
    // ESRCH only says that the group is empty already.
    let _ = killpg(group, Signal::SIGKILL);
    let _ = child.wait();
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Child {
        Command::new("sh").args(["-c", script]).process_group(0).spawn().expect("sh")
    }

    #[test]
    fn the_watchdog_tells_an_exit_from_a_hang() {
        assert_eq!(watch(sh("exit 77"), Duration::from_secs(20)), Some(77));
        assert_eq!(watch(sh("kill -9 $$"), Duration::from_secs(20)), None);
        assert_eq!(watch(sh("exec tail -f /dev/null"), Duration::from_millis(50)), None);
    }

    #[test]
    fn a_run_of_nothing_is_not_a_pass() {
        assert!(Counts::default().close().is_err());
        assert!(Counts { passed: 3, failed: 1, skipped: 0 }.close().is_err());
        assert!(Counts { passed: 3, failed: 0, skipped: 1 }.close().is_ok());
    }
}
