//! The process that dies: started by a test, which tells it a line at a time what to do.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::OnceLock;

use shoal_shm::crash::{observe, Action};

use crate::common::watchdog;

const ROLE: &str = "SHOAL_TEST_ROLE";
const DOMAIN: &str = "SHOAL_TEST_DOMAIN";
const END: &str = "SHOAL_TEST_END";

/// Where, and how, a victim ends: `<step>:<pass>:<kill|stop>`.
struct End {
    step: String,
    pass: u32,
    action: Action,
    /// Passes since it was armed.
    passed: AtomicU32,
}

static PLAN: OnceLock<End> = OnceLock::new();
/// Crash points count from here on.
static ARMED: AtomicBool = AtomicBool::new(false);

fn plan() -> Option<End> {
    let text = std::env::var(END).ok()?;
    let (step, rest) = text.split_once(':')?;
    let (pass, action) = rest.split_once(':')?;
    let action = if action == "stop" { Action::Stop } else { Action::Kill };
    Some(End { step: step.to_owned(), pass: pass.parse().ok()?, action, passed: AtomicU32::new(0) })
}

fn pass(step: &'static str) -> Action {
    let Some(end) = PLAN.get().filter(|end| ARMED.load(Ordering::Relaxed) && end.step == step) else {
        return Action::Go;
    };
    if end.passed.fetch_add(1, Ordering::Relaxed) + 1 != end.pass {
        return Action::Go;
    }
    eprintln!("ends at {step}");
    end.action
}

/// The name of a role, and what a victim in it does.
pub type Role = (&'static str, fn(&Stage));

/// In a victim: plays its role. In the test run itself: nothing.
pub fn play(roles: &[Role]) {
    let Ok(role) = std::env::var(ROLE) else { return };
    watchdog();
    assert!(PLAN.set(plan().expect("an end")).is_ok(), "one role a process");
    observe(pass);
    let domain = std::env::var(DOMAIN).expect("a domain").parse().expect("a number");
    let (_, play) = roles.iter().find(|(name, _)| *name == role).expect("a role of the table");
    play(&Stage { domain });
}

/// What a victim knows: its domain, and how it talks with its test.
pub struct Stage {
    pub domain: usize,
}

impl Stage {
    /// From here on the victim dies at its step.
    pub fn arm(&self) {
        ARMED.store(true, Ordering::Relaxed);
    }

    pub fn say(&self, word: &str) {
        // The leading line break ends whatever the test harness has begun to print.
        println!("\n@{word}");
        std::io::stdout().flush().expect("a pipe");
    }

    /// The next line of the test. A victim whose test is gone ends.
    pub fn hear(&self) -> String {
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).unwrap_or(0) == 0 {
            std::process::exit(0);
        }
        line.trim_end().to_owned()
    }

    /// The next line of the test, which is numbers.
    pub fn numbers<const N: usize>(&self) -> [usize; N] {
        let line = self.hear();
        let numbers: Vec<usize> = line.split(' ').map(|word| word.parse().expect("a number")).collect();
        numbers.try_into().expect("as many numbers as the role needs")
    }
}

/// The test's side of a victim. Killed on drop.
pub struct Victim {
    child: Child,
    output: BufReader<ChildStdout>,
    errors: ChildStderr,
    step: &'static str,
}

impl Victim {
    /// A process in a role, in a domain below `root`. Armed, it dies at its `pass`-th pass through `step`.
    pub fn start(root: &Path, domain: usize, role: &str, step: &'static str, pass: u32) -> Self {
        Self::with_end(root, domain, role, step, &format!("{step}:{pass}:kill"))
    }

    /// As [`start`](Self::start), but it is stopped at the step, and stays there until it is killed.
    pub fn start_to_stop(root: &Path, domain: usize, role: &str, step: &'static str) -> Self {
        Self::with_end(root, domain, role, step, &format!("{step}:1:stop"))
    }

    fn with_end(root: &Path, domain: usize, role: &str, step: &'static str, end: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("the own path"))
            .args(["child", "--exact", "--nocapture", "--test-threads=1"])
            .env("SHOAL_DIR", root)
            .env(ROLE, role)
            .env(DOMAIN, domain.to_string())
            .env(END, end)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let errors = child.stderr.take().expect("a pipe");
        Self { child, output, errors, step }
    }

    pub fn tell(&self, line: &str) {
        let mut input = self.child.stdin.as_ref().expect("a pipe");
        writeln!(input, "{line}").expect("it listens");
    }

    /// The next word of the victim; `None` when it has ended.
    pub fn hear(&mut self) -> Option<String> {
        let lines = self.output.by_ref().lines().map_while(Result::ok);
        lines.filter_map(|line| line.strip_prefix('@').map(str::to_owned)).next()
    }

    /// Waits until the victim says this.
    pub fn expect(&mut self, word: &str) {
        let Some(heard) = self.hear() else {
            panic!("the victim ended before it said '{word}': {}", self.last_words());
        };
        assert_eq!(heard, word, "{}", self.step);
    }

    /// Waits for the victim's death, which must be the one at its step.
    pub fn dies(mut self) {
        self.awaits_death();
    }

    /// Waits until the victim stands still at its step.
    pub fn stops(&mut self) {
        let stat = format!("/proc/{}/stat", self.child.id());
        while crate::scene::state_in(&stat) != Some('T') {
            if let Some(status) = self.child.try_wait().expect("a child") {
                panic!("the victim ended, {status}, and did not stop: {}", self.last_words());
            }
            std::thread::yield_now();
        }
    }

    /// Kills a victim that stands still at its step.
    pub fn dies_there(mut self) {
        self.child.kill().expect("it can be killed");
        self.awaits_death();
    }

    fn awaits_death(&mut self) {
        let status = self.child.wait().expect("a child");
        let said = self.last_words();
        assert_eq!(status.signal(), Some(libc::SIGKILL), "{}: the victim did not die there: {said}", self.step);
        let place = format!("ends at {}\n", self.step);
        assert!(said.ends_with(&place), "{}: the victim died elsewhere: {said}", self.step);
    }

    /// What the victim has said on its standard error; only once it has ended.
    fn last_words(&mut self) -> String {
        let mut said = String::new();
        // What is no text is as good as nothing here.
        let _ = self.errors.read_to_string(&mut said);
        said
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
