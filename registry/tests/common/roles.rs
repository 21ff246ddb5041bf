//! What child processes do.
#![allow(dead_code, reason = "each test binary uses its part")]

use super::*;
use shoal_registry::*;
use shoal_shm::lock::LockFile;
use shoal_shm::segment::{DomainDir, Segment};
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering::SeqCst;

/// In a child: plays its role. In the test run itself: nothing.
pub fn play() {
    let Some((role, root)) = role() else { return };
    match role.as_str() {
        "churn" => churn(&root),
        "live" => live(&root),
        "talk" => talk(&root),
        "fork" => fork(&root),
        "crash" => crash(&root),
        "visit" => {
            let r = Registry::join(&options(&root)).expect("join");
            say(&names(&r.snapshot()).len().to_string());
            r.leave();
        }
        "initialiser" => {
            let o = options(&root);
            let dir = DomainDir::open_or_create(&o.root, o.access, &o.domain).expect("dir");
            let lock = LockFile::open(&dir, "lock").expect("open");
            assert!(lock.try_exclusive(0).expect("lock"));
            say("holding");
            while listen().is_some() {}
        }
        "reaper" => Registry::join(&options(&root)).expect("join").sweep_now(),
        other => panic!("unknown role {other}"),
    }
}

fn file_of(r: &Registry) -> String {
    format!("{:016x}.0", r.context_id())
}

fn make_file(r: &Registry) {
    Segment::create(r.dir(), &file_of(r), 4096).expect("segment");
}

/// Joins and leaves until told to stop. Two contexts at a time: they can see each other, and each other's files, only
/// if they are in the same domain and nobody has wiped it under them.
fn churn(root: &Path) {
    say("ready");
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let flag = stop.clone();
    std::thread::spawn(move || {
        while listen().is_some() {}
        flag.store(true, SeqCst);
    });
    let mut rounds = 0;
    while !stop.load(SeqCst) {
        let a = Registry::join(&options(root)).expect("first join");
        make_file(&a);
        let mine = enter(&a, Kind::Node, "churn", rounds);
        let b = Registry::join(&options(root)).expect("second join");
        let sees = |r: &Registry, ctx: u64| r.snapshot().iter().any(|d| d.ctx_id == ctx);
        assert!(sees(&b, a.context_id()), "the domain was wiped while we lived in it");
        enter(&b, Kind::Node, "churn", rounds);
        assert!(sees(&a, b.context_id()), "two registries of one domain");
        b.sweep_now();
        assert!(a.detail(mine).is_some(), "a living context was reaped");
        assert!(files(&b).contains(&file_of(&a)), "the file of a living context was removed");
        drop(b);
        assert!(a.dir().is_current() && files(&a).contains(&file_of(&a)), "wiped after one of us left");
        drop(a);
        rounds += 1;
    }
    say(&rounds.to_string());
}

/// Has one of everything and a file, and stays until killed.
fn live(root: &Path) {
    let r = Registry::join(&options(root)).expect("join");
    make_file(&r);
    for (n, kind) in [Kind::Node, Kind::Publisher, Kind::Subscription, Kind::Service, Kind::Client].iter().enumerate() {
        enter(&r, *kind, "/t", n as u32);
    }
    // One in each of the short-lived states, too.
    r.claim(&registration(Kind::Publisher, "/joining", 7)).expect("claim");
    say(&r.context_index().to_string());
    while listen().is_some() {}
}

/// A publisher with samples. "mark": told its readers; "go": withdraws everything properly.
fn talk(root: &Path) {
    let r = Registry::join(&options(root)).expect("join");
    make_file(&r);
    let s = enter(&r, Kind::Publisher, "/talk", 1);
    r.hot(s.index).expect("hot").head().store(5, SeqCst);
    say(&s.index.to_string());
    while let Some(word) = listen() {
        assert_eq!(word, "leave");
        r.leave();
        say("left");
    }
}

/// Leaves a grandchild alive that inherited everything a fork inherits.
fn fork(root: &Path) {
    let r = Registry::join(&options(root)).expect("join");
    let s = enter(&r, Kind::Node, "forked", 0);
    let (mut done, tell) = UnixStream::pair().expect("a pipe");
    // SAFETY: the child calls nothing but this crate's functions, which take no lock in a forked child, and pause.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork");
    if pid == 0 {
        let refused = matches!(r.claim(&registration(Kind::Node, "x", 1)), Err(ClaimError::Forked));
        r.withdraw(s);
        r.leave();
        r.sweep_now();
        let ok = refused && r.is_forked();
        drop(r);
        let ok = ok && (&tell).write_all(b"!").is_ok();
        // SAFETY: ends or suspends this process; nothing of the parent's is touched.
        unsafe {
            if !ok {
                libc::_exit(1);
            }
            libc::alarm(60);
            libc::pause();
            libc::_exit(0);
        }
    }
    // Else the parent might be killed before the child has done anything, even given up the lock.
    drop(tell);
    done.read_exact(&mut [0]).expect("the child has tried everything");
    say(&pid.to_string());
    while listen().is_some() {}
}

/// Passes every step of a context's life.
fn crash(root: &Path) {
    let r = Registry::join(&options(root)).expect("join");
    make_file(&r);
    let s = enter(&r, Kind::Publisher, "/crash", 1);
    r.hot(s.index).expect("hot").head().store(1, SeqCst);
    let t = enter(&r, Kind::Subscription, "/crash", 2);
    let u = enter(&r, Kind::Node, "crash", 3);
    r.close(s);
    r.withdraw(t);
    r.withdraw(s);
    r.leave();
    drop(r);
    let _ = u;
}

pub fn talker(root: &Root) -> (Peer, u32) {
    let mut peer = Peer::spawn(root.path(), "talk");
    let index = peer.hear().expect("ready").parse().expect("index");
    (peer, index)
}

pub fn reader(r: &Registry, depth: u32) -> SlotId {
    let reg = registration(Kind::Subscription, "/talk", 9);
    let s = r.claim(&Registration { qos: Qos { depth, ..reg.qos }, ..reg }).expect("claim");
    r.publish(s);
    s
}
