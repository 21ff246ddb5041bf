//! The programs of tests/c, compiled once, and running ones with what they say.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

use parking_lot::Mutex;

use crate::native::{compile, started, Language};

/// How long a program may take for its next line.
const PATIENCE: Duration = Duration::from_secs(40);

/// A domain directory and compiled programs of one test.
pub struct Stage {
    dir: PathBuf,
}

impl Stage {
    pub fn new() -> Stage {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let dir = PathBuf::from(format!("/dev/shm/shoal-h-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory in /dev/shm");
        Stage { dir }
    }

    /// Starts a program of tests/c.
    pub fn start(&self, source: &str, arguments: &[&str]) -> Program {
        let mut command = started(&compiled(source));
        command.args(arguments).env("SHOAL_DIR", &self.dir);
        Program::start(command)
    }

    /// Names of what lies in the domain's directory.
    pub fn leftovers(&self) -> Vec<String> {
        let mut found = Vec::new();
        walk(&self.dir, &mut found);
        found
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

fn walk(dir: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => walk(&entry.path(), found),
            false => found.push(entry.path().display().to_string()),
        }
    }
}

fn compiled(source: &str) -> PathBuf {
    static DONE: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{source}.program"));
    let mut done = DONE.lock();
    if !done.iter().any(|known| known == source) {
        let language = if source.ends_with(".cpp") { Language::Cpp } else { Language::C };
        compile(language, source, &program);
        done.push(source.into());
    }
    program
}

/// A process of the test; killed with it.
pub struct Program {
    child: Child,
    lines: Receiver<String>,
}

impl Program {
    fn start(mut command: Command) -> Program {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let (say, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| say.send(line)));
        Program { child, lines }
    }

    /// The next line; the test fails when none comes in time.
    pub fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("a program says something, in time")
    }

    pub fn expect(&self, line: &str) {
        assert_eq!(self.line(), line);
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a child of ours that has not been waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Waits for its end and answers its exit code; `None` for a signal.
    pub fn end(&mut self) -> Option<i32> {
        self.child.wait().expect("a child of ours").code()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
