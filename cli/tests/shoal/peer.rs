//! A directory of its own, nodes in other processes, and the program under test.

use serde_json::Value;
use shoal_rmw::{
    Context, ContextOptions, Discovery, Encapsulation, History, Node, Outgoing, Publisher, Qos, Subscription,
    SubscriptionOptions, TypeInfo, CDR_LITTLE_ENDIAN,
};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const ROLE: &str = "SHOAL_CLI_TEST_ROLE";

/// A directory for domains that goes away with its owner.
pub struct Root(PathBuf);

impl Root {
    pub fn new() -> Root {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(format!("/dev/shm/shoal-cli-test-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).expect("test root");
        Root(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The directory of domain 0, as its nodes make it.
    pub fn domain(&self) -> PathBuf {
        self.0.join(format!("shoal-{}", nix::unistd::geteuid())).join("0")
    }

    /// Runs `shoal` on domain 0.
    pub fn shoal(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shoal"));
        command.args(arguments).env("SHOAL_DIR", &self.0).env("ROS_DOMAIN_ID", "0").env_remove("SHOAL_GROUP");
        command.output().expect("shoal starts")
    }

    /// What a run that succeeds prints; no line wider than a terminal.
    pub fn lines(&self, arguments: &[&str]) -> Vec<String> {
        let out = self.shoal(arguments);
        assert!(out.status.success(), "{arguments:?}: {out:?}");
        let text = String::from_utf8(out.stdout).expect("UTF-8");
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "wider than 80 columns:\n{text}");
        lines
    }

    /// The same as one text: where lines were folded does not matter.
    pub fn text(&self, arguments: &[&str]) -> String {
        self.lines(arguments).iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let out = self.shoal(arguments);
        assert!(out.status.success(), "{arguments:?}: {out:?}");
        serde_json::from_slice(&out.stdout).expect("JSON")
    }

    /// The names of the living nodes, sorted.
    pub fn nodes(&self) -> Vec<String> {
        let listing = self.json(&["ls", "--json"]);
        let nodes = listing["nodes"].as_array().expect("nodes");
        let mut names: Vec<String> = nodes.iter().map(|node| node["name"].as_str().unwrap_or("").to_owned()).collect();
        names.sort();
        names
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A node in a process of its own. Killed on drop.
pub struct Peer {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    /// `role`: see [`run`]. It has done what its role says when this returns.
    pub fn start(root: &Root, role: &str) -> Peer {
        let mut command = Command::new(std::env::current_exe().expect("own path"));
        command.args(["child", "--exact", "--nocapture", "--test-threads=1"]);
        command.env(ROLE, role).env("SHOAL_DIR", root.path()).env_remove("SHOAL_GROUP");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the test binary");
        let (input, output) = (process.stdin.take(), BufReader::new(process.stdout.take().expect("piped")));
        let mut peer = Peer { process, input, output };
        peer.hear();
        peer
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits until it says that it has done what it was told.
    fn hear(&mut self) {
        let mut line = String::new();
        while line.trim_end() != "@done" {
            line.clear();
            let n = self.output.read_line(&mut line).expect("its output");
            assert!(n > 0, "the peer ended");
        }
    }

    /// Has it publish once.
    pub fn publish(&mut self) {
        writeln!(self.input.as_mut().expect("open"), "publish").expect("it listens");
        self.hear();
    }

    pub fn kill(&mut self) {
        self.process.kill().expect("kill");
        self.process.wait().expect("wait");
    }

    /// Lets it end by itself.
    pub fn finish(mut self) {
        self.input = None;
        assert!(self.process.wait().expect("wait").success());
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Bytes([u8; 100]);

impl Outgoing for Bytes {
    fn size(&self) -> shoal_rmw::Result<usize> {
        Ok(self.0.len())
    }

    fn encapsulation(&self) -> Encapsulation {
        CDR_LITTLE_ENDIAN
    }

    fn write(&self, out: &mut [u8]) -> shoal_rmw::Result<usize> {
        out.copy_from_slice(&self.0);
        Ok(self.0.len())
    }
}

fn bytes_type() -> TypeInfo {
    TypeInfo { name: "test/msg/Bytes".into(), hash: (1, [7; 32]), fixed_size: None, loanable_size: None }
}

/// In a peer: `talker` publishes on /chatter (KEEP_ALL on /all), `listener` subscribes and never takes, other words are
/// names of nodes with nothing. Ends with its input.
pub fn run() {
    let Ok(role) = std::env::var(ROLE) else { return };
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(120));
        eprintln!("watchdog: a peer was left alone");
        std::process::abort();
    });
    let discovery = Discovery::SystemDefault;
    let options = ContextOptions { domain_id: 0, enclave: "/".into(), discovery, security_enforced: false };
    let context = Context::new(options).expect("the domain can be joined");
    let node = Node::new(&context, &role, "/").expect("a node");
    let all = Qos { history: History::KeepAll, ..Qos::default() };
    let topics = [("/chatter", Qos::default()), ("/all", all)];
    let publishers: Vec<_> = topics
        .iter()
        .filter(|_| role == "talker")
        .map(|(topic, qos)| Publisher::new(&node, topic, bytes_type(), *qos).expect("a publisher"))
        .collect();
    let _subscriptions: Vec<_> = topics
        .iter()
        .filter(|_| role == "listener")
        .map(|(topic, qos)| {
            Subscription::new(&node, topic, bytes_type(), *qos, SubscriptionOptions::default()).expect("a subscription")
        })
        .collect();
    say_done();
    while std::io::stdin().read_line(&mut String::new()).is_ok_and(|n| n > 0) {
        for publisher in &publishers {
            publisher.publish(&Bytes([1; 100])).expect("publish");
        }
        say_done();
    }
}

fn say_done() {
    // The leading line break ends whatever the test harness has begun to print.
    println!("\n@done");
    std::io::stdout().flush().expect("flush");
}
