//! What the tests of this crate share: a root of their own, messages that are plain bytes, and a watchdog.
#![allow(dead_code)]

pub mod loans;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use shoal_rmw::{
    Client, Context, ContextOptions, Discovery, Durability, Encapsulation, Incoming, MessageInfo, Node, Outgoing,
    Publisher, Qos, Result, Service, Subscription, SubscriptionOptions, TypeInfo, CDR_LITTLE_ENDIAN,
};

/// A directory in shared memory for this test process, removed at its end.
fn root() -> &'static PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = PathBuf::from(format!("/dev/shm/shoal-rmw-test-{}", std::process::id()));
        std::fs::create_dir_all(&root).expect("shared memory can be written");
        std::env::set_var("SHOAL_DIR", &root);
        // SAFETY: the handler is a plain function that runs once, at the end of the process.
        unsafe { libc::atexit(remove_root) };
        watchdog();
        root
    })
}

/// A test that hangs must fail, not block the run.
pub fn watchdog() {
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(120));
        eprintln!("watchdog: the tests of this binary took more than 120 s");
        std::process::abort();
    });
}

extern "C" fn remove_root() {
    let _ = std::fs::remove_dir_all(root());
}

/// A domain that no other test uses.
pub fn domain() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    root();
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Files in this test process's part of shared memory below `domain`.
pub fn files(domain: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut todo = vec![root().clone()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.components().any(|part| part.as_os_str() == domain.to_string().as_str()) {
                found.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// Bytes of shared memory that the files below `domain` take.
pub fn usage(domain: usize) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    let mut todo = vec![root().clone()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.components().any(|part| part.as_os_str() == domain.to_string().as_str()) {
                bytes += entry.metadata().map_or(0, |found| found.blocks() * 512);
            }
        }
    }
    bytes
}

pub fn context(domain: usize) -> Arc<Context> {
    let discovery = Discovery::SystemDefault;
    let options = ContextOptions { domain_id: domain, enclave: "/".into(), discovery, security_enforced: false };
    Context::new(options).expect("the domain can be joined")
}

pub fn node(context: &Arc<Context>, name: &str) -> Arc<Node> {
    Node::new(context, name, "/").expect("a node can be created")
}

pub fn bytes_type() -> TypeInfo {
    TypeInfo { name: "test/msg/Bytes".into(), hash: (1, [7; 32]), fixed_size: None, loanable_size: None }
}

/// A message that is its own CDR.
pub struct Bytes(pub Vec<u8>);

impl Outgoing for Bytes {
    fn size(&self) -> Result<usize> {
        Ok(self.0.len())
    }

    fn encapsulation(&self) -> Encapsulation {
        CDR_LITTLE_ENDIAN
    }

    fn write(&self, out: &mut [u8]) -> Result<usize> {
        out.copy_from_slice(&self.0);
        Ok(self.0.len())
    }
}

pub fn bytes(incoming: Incoming) -> Vec<u8> {
    // SAFETY: the body is good for `len` bytes during the call that hands it out.
    unsafe { std::slice::from_raw_parts(incoming.ptr, incoming.len) }.to_vec()
}

pub fn latched(depth: u32) -> Qos {
    Qos { depth, durability: Durability::TransientLocal, ..Qos::default() }
}

pub fn depth(depth: u32) -> Qos {
    Qos { depth, ..Qos::default() }
}

pub fn publisher(node: &Arc<Node>, topic: &str, qos: Qos) -> Arc<Publisher> {
    Publisher::new(node, topic, bytes_type(), qos).expect("a publisher can be created")
}

pub fn subscription(node: &Arc<Node>, topic: &str, qos: Qos) -> Arc<Subscription> {
    Subscription::new(node, topic, bytes_type(), qos, SubscriptionOptions::default()).expect("a subscription")
}

pub fn client(node: &Arc<Node>, name: &str) -> Arc<Client> {
    Client::new(node, name, bytes_type(), Qos::default()).expect("a client can be created")
}

pub fn service(node: &Arc<Node>, name: &str) -> Arc<Service> {
    Service::new(node, name, bytes_type(), Qos::default()).expect("a service can be created")
}

pub fn send(publisher: &Publisher, body: impl Into<Vec<u8>>) -> u64 {
    publisher.publish(&Bytes(body.into())).expect("publishing works")
}

pub fn take(subscription: &Subscription) -> Option<(Vec<u8>, MessageInfo)> {
    let mut body = Vec::new();
    let info = subscription.take(&mut |incoming| {
        body = bytes(incoming);
        Ok(())
    });
    info.expect("taking works").map(|info| (body, info))
}

/// Everything that can be taken now.
pub fn take_all(subscription: &Subscription) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| take(subscription)).map(|(body, _)| body).collect()
}
