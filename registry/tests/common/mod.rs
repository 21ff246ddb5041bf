//! What every test of this crate needs: a root of its own, a watchdog, and children that are this test binary.
#![allow(dead_code, reason = "each test binary uses its part")]

pub mod roles;

use shoal_registry::{Detail, JoinOptions, Kind, Qos, Registration, Registry, SlotId, TopicHash};
use shoal_shm::segment::Access;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::time::Duration;

pub const DOMAIN: &str = "42";
const ROLE: &str = "SHOAL_TEST_ROLE";
const ROOT: &str = "SHOAL_TEST_ROOT";

/// A directory for domains that goes away with its owner.
pub struct Root(PathBuf);

impl Root {
    pub fn new() -> Root {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("/dev/shm/shoal-test-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).expect("test root");
        Root(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self) -> Arc<Registry> {
        Registry::join(&options(&self.0)).expect("join")
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn options(root: &Path) -> JoinOptions {
    JoinOptions { root: root.to_owned(), access: Access::Owner, domain: DOMAIN.into(), enclave: "/test".into() }
}

/// Aborts the process unless dropped in time.
pub struct Watchdog(Option<Sender<()>>);

pub fn watchdog(seconds: u64) -> Watchdog {
    let (stop, stopped) = channel();
    std::thread::spawn(move || {
        if stopped.recv_timeout(Duration::from_secs(seconds)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("watchdog: nothing moved for {seconds} s");
            std::process::abort();
        }
    });
    Watchdog(Some(stop))
}

/// A child process that runs the `child` test of this binary in a role. Killed on drop.
pub struct Peer {
    pub process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    pub fn command(root: &Path, role: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("own path"));
        Self::arguments(&mut command, root, role);
        command
    }

    pub fn arguments(command: &mut Command, root: &Path, role: &str) {
        command.args(["child", "--exact", "--nocapture", "--test-threads=1"]).env(ROLE, role).env(ROOT, root);
    }

    pub fn start(mut command: Command) -> Peer {
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("start the test binary again");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("piped"));
        Peer { process, input, output }
    }

    pub fn spawn(root: &Path, role: &str) -> Peer {
        Peer::start(Peer::command(root, role))
    }

    /// The next word the child says; `None` when it has ended.
    pub fn hear(&mut self) -> Option<String> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if let Some(word) = line.trim_end().strip_prefix('@') {
                return Some(word.to_owned());
            }
        }
    }

    pub fn tell(&mut self, word: &str) {
        if let Some(input) = &mut self.input {
            writeln!(input, "{word}").expect("child listens");
        }
    }

    /// Closes the child's input, at which it ends by itself, and answers whether it succeeded.
    pub fn finish(&mut self) -> bool {
        self.input = None;
        self.process.wait().is_ok_and(|s| s.success())
    }

    /// SIGKILL, and its end awaited.
    pub fn kill(&mut self) {
        self.process.kill().expect("kill");
        self.process.wait().expect("wait");
    }

    pub fn signal(&self, name: &str) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &pid]).status().expect("kill").success());
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// In a child: its role and root. `None` in the test run itself.
pub fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var(ROLE).ok()?, std::env::var(ROOT).ok()?.into()))
}

pub fn say(word: &str) {
    // The leading line break ends whatever the test harness has begun to print.
    println!("\n@{word}");
    std::io::stdout().flush().expect("flush");
}

/// The next line of the parent; `None` when it has closed the pipe.
pub fn listen() -> Option<String> {
    let mut line = String::new();
    let n = std::io::stdin().read_line(&mut line).unwrap_or(0);
    (n > 0).then(|| line.trim_end().to_owned())
}

pub fn registration(kind: Kind, name: &str, endpoint: u32) -> Registration<'_> {
    Registration {
        kind,
        name,
        type_name: if kind == Kind::Node { "/ns" } else { "std_msgs/msg/String" },
        node: None,
        type_hash: (1, [7; 32]),
        qos: Qos::default(),
        endpoint,
        flags: 0,
    }
}

/// Claims and publishes.
pub fn enter(r: &Registry, kind: Kind, name: &str, endpoint: u32) -> SlotId {
    let slot = r.claim(&registration(kind, name, endpoint)).expect("claim");
    r.publish(slot);
    slot
}

pub fn names(details: &[Detail]) -> Vec<(Kind, &str)> {
    let mut names: Vec<_> = details.iter().map(|d| (d.kind, d.name.as_str())).collect();
    names.sort_by_key(|&(k, n)| (k as u8, n));
    names
}

pub fn files(r: &Registry) -> Vec<String> {
    let mut names = r.dir().names().expect("names");
    names.sort();
    names
}

pub fn key(name: &str) -> u64 {
    shoal_registry::match_key(name, "std_msgs/msg/String", &(1, [7; 32]))
}

/// What a scan finds on a topic: slots with their states, CLOSED ones too.
pub fn found(r: &Registry, kind: Kind, name: &str) -> Vec<(SlotId, shoal_registry::SlotState)> {
    let mut out = Vec::new();
    r.for_each_matching(&[kind], TopicHash::of(name), key(name), &mut |f| out.push((f.slot, f.state)));
    out
}

/// A small deterministic generator (xorshift), so that a failing seed can be run again.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}
