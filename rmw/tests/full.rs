//! A full file system: each call that needs room fails with an error that names the bytes and the path, and works once there is room.

mod common;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::{self, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use common::loans::{body, fixed, LARGE};
use common::*;
use shoal_rmw::{
    filter::SampleFilter, Client, Context, ContextOptions, Discovery, Durability, History, Incoming, Node, Publisher,
    Qos, Result, Service, Subscription, SubscriptionOptions,
};

const ROOT: &str = "/dev/shm";
const PAGE: u64 = 4096;
const PLENTY: u64 = 256 << 20;

fn system(result: libc::c_int) -> io::Result<()> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn mount(kind: &str, at: &str, flags: libc::c_ulong, options: &str) -> io::Result<()> {
    let c = |text: &str| CString::new(text).expect("no NUL");
    let (kind, at, options) = (c(kind), c(at), c(options));
    // SAFETY: four strings that live through the call.
    system(unsafe { libc::mount(kind.as_ptr(), at.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) })
}

/// Mounts of this thread's own, and of the threads it starts.
fn own_mounts() -> io::Result<()> {
    // SAFETY: takes no pointer.
    system(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    mount("none", "/", libc::MS_REC | libc::MS_PRIVATE, "")
}

/// A fresh file system, in which `free` bytes are left before each call that is tried.
struct Space {
    free: u64,
    /// What failed for want of room.
    failed: RefCell<BTreeSet<&'static str>>,
    failures: Cell<usize>,
    /// Somebody else takes all room and gives it back, again and again; then nothing is resized.
    contended: bool,
}

/// Passes what begins with a multiple of 40.
#[derive(Debug)]
struct Rare;

impl SampleFilter for Rare {
    fn accepts(&self, sample: Incoming) -> bool {
        bytes(sample)[0] % 40 == 0
    }
}

impl Space {
    fn new(free: u64) -> Space {
        mount("tmpfs", ROOT, 0, &format!("size={PLENTY}")).expect("a small file system");
        Space { free, failed: RefCell::default(), failures: Cell::new(0), contended: false }
    }

    fn resize(&self, bytes: u64) {
        // The size 0 means no limit.
        let size = bytes.max(PAGE);
        mount("tmpfs", ROOT, libc::MS_REMOUNT, &format!("size={size}")).expect("a file system of another size");
    }

    /// Does `what` with `free` bytes left: it works, or says what it lacks and works with more.
    fn run<T>(&self, what: &'static str, mut call: impl FnMut() -> Result<T>) -> T {
        if !self.contended {
            self.resize(used(Path::new(ROOT)) + self.free);
        }
        let first = call();
        if !self.contended {
            self.resize(PLENTY);
        }
        let mut error = match first {
            Ok(done) => return done,
            Err(error) => error,
        };
        loop {
            self.check(what, &error.to_string());
            std::thread::yield_now();
            error = match call() {
                Ok(done) => return done,
                Err(error) if self.contended => error,
                Err(error) => panic!("{what}, with room again: {error}"),
            };
        }
    }

    fn check(&self, what: &'static str, error: &str) {
        let words: Vec<_> = error.split(' ').collect();
        let sizes = words.windows(2).filter(|pair| pair[1] == "bytes").filter_map(|pair| pair[0].parse::<u64>().ok());
        assert!(sizes.max() > Some(0) && error.contains(ROOT), "{what} with {} bytes left: {error}", self.free);
        self.failed.borrow_mut().insert(what);
        self.failures.set(self.failures.get() + 1);
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // SAFETY: a string that lives through the call.
        system(unsafe { libc::umount2(c"/dev/shm".as_ptr(), libc::MNT_DETACH) }).expect("unmounted");
    }
}

/// Bytes that the files below `dir` take.
fn used(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).expect("a directory").flatten();
    let bytes = |path: &Path| std::fs::symlink_metadata(path).map_or(0, |found| found.blocks() * 512);
    entries.map(|entry| entry.path()).map(|path| if path.is_dir() { used(&path) } else { bytes(&path) }).sum()
}

/// The files below `dir`.
fn left(dir: &Path) -> BTreeSet<String> {
    let paths = std::fs::read_dir(dir).expect("a directory").flatten().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { left(&path) } else { [path.display().to_string()].into() }).collect()
}

fn options() -> ContextOptions {
    ContextOptions { domain_id: 1, enclave: "/".into(), discovery: Discovery::SystemDefault, security_enforced: false }
}

fn keep_all() -> Qos {
    Qos { history: History::KeepAll, durability: Durability::TransientLocal, ..Qos::default() }
}

/// Everything that takes memory, once; then everything that was sent is read.
fn scenario(space: &Space) {
    let context = space.run("context", || Context::new(options()));
    let node = space.run("node", || Node::new(&context, "n", "/"));
    for (topic, qos, size, count) in [
        ("/small", depth(10), 8, 20),
        ("/large", depth(4), 100_000, 8),
        ("/latched", latched(5), 5000, 8),
        ("/all", keep_all(), 500, 200),
    ] {
        let publisher = space.run("publisher", || Publisher::new(&node, topic, bytes_type(), qos));
        let subscribe = || Subscription::new(&node, topic, bytes_type(), qos, SubscriptionOptions::default());
        let subscription = space.run("subscription", subscribe);
        let bodies: Vec<_> = (0..count).map(|n| body(n, size)).collect();
        for body in &bodies {
            space.run(topic, || publisher.publish(&Bytes(body.clone())));
        }
        let kept = if qos.history == History::KeepAll { bodies.len() } else { qos.depth as usize };
        assert_eq!(take_all(&subscription), bodies[bodies.len() - kept..], "{topic}");
    }
    // More than the registry has slots for from the start.
    let many = |_| space.run("slots", || Publisher::new(&node, "/many", bytes_type(), depth(1)));
    assert_eq!((0..150).map(many).collect::<Vec<_>>().len(), 150);
    filter(space, &node);
    lend(space, &node);
    serve(space, &node);
}

/// A reader that looks for what passes asks publishers to keep more.
fn filter(space: &Space, node: &Arc<Node>) {
    let publisher = space.run("publisher", || Publisher::new(node, "/rare", bytes_type(), depth(2)));
    let subscription = space.run("filtered", || {
        let options = SubscriptionOptions { filter: Some(Arc::new(Rare)), ..SubscriptionOptions::default() };
        Subscription::new(node, "/rare", bytes_type(), depth(2), options)
    });
    for number in 0..100 {
        space.run("/rare", || publisher.publish(&Bytes(body(number, 5000))));
    }
    assert_eq!(take_all(&subscription), [body(40, 5000), body(80, 5000)]);
}

fn lend(space: &Space, node: &Arc<Node>) {
    let publisher = space.run("lender", || Publisher::new(node, "/lent", fixed(LARGE), depth(3)));
    let subscription = space
        .run("borrower", || Subscription::new(node, "/lent", fixed(LARGE), depth(3), SubscriptionOptions::default()));
    let lent: Vec<_> = (0..3).map(|_| space.run("loan", || publisher.borrow_loan())).collect();
    for (number, at) in (0..).zip(&lent) {
        // SAFETY: lent memory of LARGE bytes.
        unsafe { at.as_ptr().copy_from_nonoverlapping(body(number, LARGE).as_ptr(), LARGE) };
        space.run("publish loan", || publisher.publish_loan(at.as_ptr()));
    }
    assert_eq!(take_all(&subscription), [0, 1, 2].map(|number| body(number, LARGE)));
}

fn serve(space: &Space, node: &Arc<Node>) {
    let service = space.run("service", || Service::new(node, "/s", bytes_type(), Qos::default()));
    let client = space.run("client", || Client::new(node, "/s", bytes_type(), Qos::default()));
    for size in [10, 5000, 200_000] {
        space.run("request", || client.send(&Bytes(body(1, size))));
        let mut asked = Vec::new();
        let info = service.take(&mut |incoming| {
            asked = bytes(incoming);
            Ok(())
        });
        let info = info.expect("taking works").expect("a request");
        space.run("response", || service.respond(info.client, info.sequence, &Bytes(asked.clone())));
        let mut answer = Vec::new();
        let answered = client.take(&mut |incoming| {
            answer = bytes(incoming);
            Ok(())
        });
        assert!(answered.expect("taking works").is_some());
        assert_eq!(answer, body(1, size));
    }
}

/// Takes all room there is and gives it back, until told to stop.
fn fill(stop: &AtomicBool) -> io::Result<()> {
    let path = Path::new(ROOT).join("filler");
    let mut file = std::fs::File::create(&path)?;
    while !stop.load(Ordering::Relaxed) {
        while file.write_all(&[1; PAGE as usize]).is_ok() {}
        std::thread::yield_now();
        file.set_len(0)?;
        file.rewind()?;
    }
    std::fs::remove_file(path)
}

#[test]
fn calls_beside_one_who_fills_the_file_system_fail_cleanly_or_work() {
    if let Err(why) = own_mounts() {
        println!("skipped: no rights for a file system of its own ({why})");
        return;
    }
    std::env::set_var("SHOAL_DIR", ROOT);
    watchdog();
    let mut space = Space::new(0);
    space.contended = true;
    space.resize(8 << 20);
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let filler = threads.spawn(|| fill(&stop));
        let stop = StopAtEnd(&stop);
        while space.failures.get() < 20 {
            scenario(&space);
        }
        drop(stop);
        filler.join().expect("no panic").expect("a file that can be emptied");
    });
    println!("{} failures: {:?}", space.failures.get(), space.failed.borrow());
    let names = left(Path::new(ROOT));
    let fresh = Space::new(PLENTY);
    scenario(&fresh);
    assert_eq!(names, left(Path::new(ROOT)), "as after a run with room for all");
}

/// Ends the filler also when the scenario panics.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_full_file_system_is_an_error_with_its_bytes_and_works_again_with_room() {
    if let Err(why) = own_mounts() {
        println!("skipped: no rights for a file system of its own ({why})");
        return;
    }
    std::env::set_var("SHOAL_DIR", ROOT);
    watchdog();
    let afterwards = |pages| {
        let space = Space::new(pages * PAGE);
        scenario(&space);
        let leftovers = (left(Path::new(ROOT)), used(Path::new(ROOT)));
        (leftovers, space.failures.get(), space.failed.take())
    };
    let (clean, failures, _) = afterwards(PLENTY / PAGE / 2);
    assert_eq!(failures, 0, "with room for all");
    for pages in 0.. {
        let (leftovers, failures, failed) = afterwards(pages);
        println!("{pages} pages left: {failures} failures: {failed:?}");
        assert_eq!(leftovers, clean, "with {pages} pages left");
        if pages == 0 {
            for what in
                ["context", "/small", "/large", "/latched", "/all", "slots", "/rare", "loan", "request", "response"]
            {
                assert!(failed.contains(what), "{what} never met a full file system: {failed:?}");
            }
        }
        if failures == 0 {
            break;
        }
    }
}
