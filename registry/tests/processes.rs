//! Real processes that join, leave, are stopped and are killed.

mod common;
use common::*;
use shoal_registry::*;
use shoal_shm::lock::LockFile;
use shoal_shm::segment::{DomainDir, Segment};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// Not a test: what a child process does.
#[test]
fn child() {
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

#[test]
fn a_publisher_whose_process_died_is_told_from_one_that_was_deleted() {
    let _dog = watchdog(60);
    let root = Root::new();
    let here = root.join();
    let reader = enter(&here, Kind::Subscription, "/t", 1);
    here.want(reader, Interest::MATCHED);
    let deleted = enter(&here, Kind::Publisher, "/t", 2);
    let mut peer = Peer::spawn(root.path(), "live");
    assert!(peer.hear().is_some());
    let publishers = found(&here, Kind::Publisher, "/t");
    let (killed, _) = *publishers.iter().find(|(slot, _)| *slot != deleted).expect("the child's");
    let id = here.hot(killed.index).expect("in use").ctx_id();
    assert!(!here.died(killed, id) && !here.died(deleted, here.context_id()), "both are there");
    here.withdraw(deleted);
    let _ = here.doorbell().arm();
    peer.kill();
    here.sweep_now();
    assert!(!here.doorbell().is_parked(), "the reaper rings who watches");
    assert!(here.died(killed, id));
    assert!(!here.died(deleted, here.context_id()) && !here.died(killed, id + 1));
    while here.hot(killed.index).expect("committed").ctx_id() == id {
        enter(&here, Kind::Publisher, "/u", 3);
    }
    assert!(!here.died(killed, id), "another tenant's");
}

#[test]
fn churning_processes_killed_at_random_never_wipe_each_other() {
    let _dog = watchdog(120);
    let root = Root::new();
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15);
    let mut peers: Vec<Peer> = (0..5).map(|_| Peer::spawn(root.path(), "churn")).collect();
    let end = Instant::now() + Duration::from_secs(6);
    let mut kills = 0;
    while Instant::now() < end {
        let i = rng.below(5) as usize;
        assert_eq!(peers[i].hear().as_deref(), Some("ready"), "a child failed");
        // Not a wait for anything: it only spreads the kills over the children's rounds.
        std::thread::sleep(Duration::from_micros(rng.below(60_000)));
        assert!(peers[i].process.try_wait().expect("wait").is_none(), "a child ended by itself");
        peers[i].kill();
        kills += 1;
        peers[i] = Peer::spawn(root.path(), "churn");
    }
    let mut rounds = 0;
    for mut peer in peers {
        assert_eq!(peer.hear().as_deref(), Some("ready"));
        peer.tell("stop");
        assert!(peer.finish(), "a child failed");
        rounds += peer.hear().expect("rounds").parse::<u32>().expect("number");
    }
    println!("{kills} kills, {rounds} rounds of those who lived");
    let r = root.join();
    r.sweep_now();
    assert_eq!((r.snapshot(), r.usage().contexts), (vec![], 1));
    assert_eq!(files(&r), ["lock", "registry"], "files of the killed stay behind");
    let dir = r.dir().path().to_owned();
    drop(r);
    assert!(!dir.exists());
}

#[test]
fn a_killed_process_vanishes_with_its_slots_and_files() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let mut peer = Peer::spawn(root.path(), "live");
    let ctx: u16 = peer.hear().expect("ready").parse().expect("index");
    let id = r.snapshot()[0].ctx_id;
    assert_eq!(r.snapshot().len(), 6);
    assert!(r.context_alive(ctx, id));
    r.watch_graph();
    let armed = r.doorbell().arm();
    let t = TopicHash::of("/t");
    let gens = || (r.outlets_generation(t).load(SeqCst), r.inlets_generation(t).load(SeqCst), r.graph_generation());
    let before = gens();
    r.sweep_now();
    assert_eq!((r.snapshot().len(), gens()), (6, before), "the living are left alone");
    peer.kill();
    assert!(!r.context_alive(ctx, id), "the kernel knows at once");
    r.sweep_now();
    let after = gens();
    assert_eq!(r.snapshot(), []);
    assert!(after.0 >= before.0 + 2 && after.1 >= before.1 + 2 && after.2 >= before.2 + 6);
    assert_ne!(r.doorbell().word().load(SeqCst), armed, "watchers are rung");
    assert_eq!((r.usage().slots, r.usage().contexts), (0, 1));
    assert_eq!(files(&r), ["lock", "registry"]);
    let mut next = Peer::spawn(root.path(), "live");
    assert_eq!(next.hear().expect("ready").parse(), Ok(ctx), "the entry is used again");
}

#[test]
fn killing_many_does_not_make_the_registry_grow() {
    let _dog = watchdog(120);
    let root = Root::new();
    let r = root.join();
    for _ in 0..30 {
        let mut peer = Peer::spawn(root.path(), "live");
        peer.hear().expect("ready");
        peer.kill();
        r.sweep_now();
    }
    assert_eq!(r.usage(), Usage { contexts: 1, slots: 0, slots_committed: 64 });
}

fn talker(root: &Root) -> (Peer, u32) {
    let mut peer = Peer::spawn(root.path(), "talk");
    let index = peer.hear().expect("ready").parse().expect("index");
    (peer, index)
}

fn reader(r: &Registry, depth: u32) -> SlotId {
    let reg = registration(Kind::Subscription, "/talk", 9);
    let s = r.claim(&Registration { qos: Qos { depth, ..reg.qos }, ..reg }).expect("claim");
    r.publish(s);
    s
}

#[test]
fn samples_of_a_killed_publisher_stay_until_its_readers_have_them() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let s = reader(&r, 10);
    let (mut peer, index) = talker(&root);
    peer.kill();
    let armed = r.doorbell().arm();
    r.sweep_now();
    let hot = r.hot(s.index).expect("hot");
    assert_eq!(hot.pending().load(SeqCst), 1 << (index % 64), "marked on behalf of the dead");
    assert_ne!(r.doorbell().word().load(SeqCst), armed);
    assert_eq!(found(&r, Kind::Publisher, "/talk").iter().map(|f| f.1).collect::<Vec<_>>(), [SlotState::Closed]);
    assert_eq!(r.snapshot().len(), 1, "only the reader is in the graph");
    assert_eq!(files(&r).len(), 3, "its memory stays");
    let quiet = r.graph_generation();
    r.sweep_now();
    assert_eq!(r.graph_generation(), quiet, "looking again is no news");
    // The reader takes the mark but has not read yet.
    hot.draining().store(hot.pending().swap(0, SeqCst), SeqCst);
    r.sweep_now();
    assert_eq!(files(&r).len(), 3);
    hot.draining().store(0, SeqCst);
    r.sweep_now();
    assert_eq!((found(&r, Kind::Publisher, "/talk"), files(&r).len(), r.usage().contexts), (vec![], 2, 1));
}

#[test]
fn a_reader_that_leaves_lets_the_samples_go() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let s = reader(&r, 10);
    let best_effort = Registration {
        qos: Qos { reliability: Reliability::BestEffort, ..Qos::default() },
        ..registration(Kind::Publisher, "/talk", 3)
    };
    let incompatible = r.claim(&best_effort).expect("claim");
    r.publish(incompatible);
    r.hot(incompatible.index).expect("hot").head().store(1, SeqCst);
    r.hot(s.index).expect("hot").pending().store(u64::MAX, SeqCst);
    assert!(r.is_drained(incompatible), "a reader that does not match holds nothing back");
    let (mut peer, _) = talker(&root);
    peer.kill();
    r.sweep_now();
    assert_eq!(r.usage().contexts, 2);
    r.withdraw(s);
    r.sweep_now();
    assert_eq!((r.usage().contexts, files(&r).len()), (1, 2));
}

#[test]
fn no_more_closed_outlets_are_kept_than_the_deepest_reader_could_take() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    reader(&r, 2);
    let mut indices = Vec::new();
    for _ in 0..4 {
        // All alive at once, so that no slot is used twice.
        indices.push(talker(&root));
    }
    for (peer, _) in &mut indices {
        peer.kill();
        r.sweep_now();
    }
    r.sweep_now();
    let mut kept: Vec<u32> = found(&r, Kind::Publisher, "/talk").iter().map(|f| f.0.index).collect();
    kept.sort();
    let mut newest: Vec<u32> = indices[2..].iter().map(|i| i.1).collect();
    newest.sort();
    assert_eq!(kept, newest);
    assert_eq!(files(&r).len(), 4);
}

#[test]
fn a_publisher_that_leaves_in_order_is_reaped_only_after_its_readers_drained() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let s = reader(&r, 10);
    let hot = r.hot(s.index).expect("hot");
    let (mut peer, index) = talker(&root);
    hot.pending().fetch_or(1 << (index % 64), SeqCst);
    peer.tell("leave");
    assert_eq!(peer.hear().as_deref(), Some("left"));
    r.sweep_now();
    assert_eq!(files(&r).len(), 3, "it still lives");
    assert!(peer.finish());
    r.sweep_now();
    assert_eq!(files(&r).len(), 3, "it is gone, but its samples are wanted");
    hot.pending().store(0, SeqCst);
    r.sweep_now();
    assert_eq!(files(&r).len(), 2);
}

#[test]
fn a_reader_and_its_publisher_killed_together_are_gone_after_one_sweep() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    // The publisher's context comes first in the table, the reader's second.
    let mut peer = Peer::spawn(root.path(), "live");
    peer.hear().expect("ready");
    let theirs = found(&r, Kind::Publisher, "/t")[0].0;
    let mut other = Peer::spawn(root.path(), "live");
    other.hear().expect("ready");
    r.hot(theirs.index).expect("hot").head().store(1, SeqCst);
    peer.kill();
    other.kill();
    r.sweep_now();
    assert_eq!((r.usage().contexts, r.usage().slots), (1, 0));
}

#[test]
fn responses_of_a_killed_service_stay_until_its_client_has_them() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let c = enter(&r, Kind::Client, "/t", 1);
    let mut peer = Peer::spawn(root.path(), "live");
    peer.hear().expect("ready");
    let service = found(&r, Kind::Service, "/t")[0].0;
    // The service has a response table.
    r.hot(service.index).expect("hot").ring().store(1, SeqCst);
    peer.kill();
    r.sweep_now();
    assert_eq!(found(&r, Kind::Service, "/t"), [(service, SlotState::Closed)]);
    assert_eq!(found(&r, Kind::Client, "/t"), [(c, SlotState::Live)], "requests of the dead are dropped");
    r.hot(c.index).expect("hot").pending().store(0, SeqCst);
    r.sweep_now();
    assert_eq!(found(&r, Kind::Service, "/t"), []);
}

#[test]
fn a_stopped_process_blocks_nobody_and_stays_in_the_graph() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let mut peer = Peer::spawn(root.path(), "live");
    peer.hear().expect("ready");
    peer.signal("STOP");
    let start = Instant::now();
    let other = root.join();
    enter(&other, Kind::Node, "n", 0);
    r.sweep_now();
    assert_eq!(r.snapshot().len(), 7);
    other.leave();
    drop(other);
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    peer.kill();
    r.sweep_now();
    assert_eq!(r.usage().slots, 0);
}

#[test]
fn a_forked_child_neither_acts_for_its_parent_nor_keeps_it_alive() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let mut peer = Peer::spawn(root.path(), "fork");
    let grandchild = peer.hear().expect("pid");
    r.sweep_now();
    assert_eq!(names(&r.snapshot()), [(Kind::Node, "forked")], "what the fork did had no effect");
    peer.kill();
    r.sweep_now();
    let is_there = Path::new("/proc").join(&grandchild).exists();
    assert_eq!((r.snapshot(), is_there), (vec![], true));
    assert!(std::process::Command::new("kill").args(["-KILL", &grandchild]).status().expect("kill").success());
}

#[test]
fn processes_of_another_pid_namespace_live_and_die_alike() {
    let _dog = watchdog(60);
    let root = Root::new();
    let mut command = std::process::Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child=KILL"]).arg(std::env::current_exe().expect("own path"));
    Peer::arguments(&mut command, root.path(), "live");
    let r = root.join();
    let mut peer = Peer::start(command);
    if peer.hear().is_none() {
        println!("skipped: this system does not permit PID namespaces");
        return;
    }
    r.sweep_now();
    assert_eq!(r.snapshot().len(), 6);
    peer.kill();
    // The namespace dies of unshare's death, a moment later; the watchdog bounds the wait.
    while r.usage().slots > 0 {
        r.sweep_now();
        std::thread::yield_now();
    }
    assert_eq!(files(&r).len(), 2);
}

/// The twin with a full file system.
#[test]
fn a_full_file_system_is_an_error_that_names_the_bytes() {
    let _dog = watchdog(60);
    let root = Root::new();
    let Some(_mount) = SmallMount::over(root.path(), "256k") else {
        println!("skipped: this system does not permit mounting a tmpfs");
        return;
    };
    let r = root.join();
    let mut n = 0;
    let e = loop {
        match r.claim(&registration(Kind::Publisher, "/t", n)) {
            Ok(_) => n += 1,
            Err(e) => break e,
        }
    };
    assert!(matches!(e, ClaimError::NoSpace { needed: 70_144, .. }), "{e}");
    assert_eq!((n % 64, r.snapshot().len()), (0, n as usize));
    let file = std::fs::File::create(root.path().join("fill")).expect("create");
    while std::io::Write::write_all(&mut &file, &[1; 4096]).is_ok() {}
    let other = JoinOptions { domain: "43".into(), ..options(root.path()) };
    let e = Registry::join(&other).err().expect("no room for another domain");
    assert!(matches!(e, JoinError::Create(shoal_shm::segment::CreateError::NoSpace { .. })), "{e}");
}

struct SmallMount(std::path::PathBuf);

impl SmallMount {
    fn over(path: &Path, size: &str) -> Option<SmallMount> {
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"]).arg(path);
        mount.status().is_ok_and(|s| s.success()).then(|| SmallMount(path.to_owned()))
    }
}

impl Drop for SmallMount {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[cfg(feature = "crash-steps")]
mod crash_steps {
    use super::*;

    fn crash_at(root: &Root, role: &str, step: u32) -> bool {
        let mut command = Peer::command(root.path(), role);
        command.env("SHOAL_CRASH_STEP", step.to_string()).stderr(std::process::Stdio::null());
        Peer::start(command).finish()
    }

    /// Runs `f` with 1, 2, 3, … until the child ends by itself; at least `least` steps must have crashed.
    fn at_every_step(least: u32, mut f: impl FnMut(u32) -> bool) {
        let steps = (1..1000).find(|&step| f(step)).expect("the child ends some time") - 1;
        println!("{steps} crashes");
        assert!(steps >= least, "only {steps} crash points were passed");
    }

    /// Waits until the child is stopped (true) or has ended.
    fn is_stopped(peer: &mut Peer) -> bool {
        loop {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", peer.process.id())).unwrap_or_default();
            match stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next()) {
                Some('T') => return true,
                Some('Z' | 'X') | None => return false,
                Some(_) => std::thread::yield_now(),
            }
        }
    }

    /// A visitor is stopped at a step; meanwhile its host leaves (removing everything, if it thinks it is alone) and
    /// comes back; then the visitor goes on. It must see the host and must not harm the new domain.
    fn stopped_visitor_and_returning_host(keep_directory: bool) {
        let root = Root::new();
        at_every_step(8, |step| {
            let host = root.join();
            if keep_directory {
                // Something that nobody removes, so that the new domain is made in the same directory.
                std::fs::create_dir_all(host.dir().path().join("kept")).expect("dir");
            }
            enter(&host, Kind::Node, "host", 0);
            let mut command = Peer::command(root.path(), "visit");
            command.env("SHOAL_CRASH_STEP", step.to_string()).env("SHOAL_CRASH_ACTION", "stop");
            let mut visitor = Peer::start(command);
            let stopped = is_stopped(&mut visitor);
            drop(host);
            let host = root.join();
            enter(&host, Kind::Node, "host", 0);
            if stopped {
                visitor.signal("CONT");
            }
            assert_eq!(visitor.hear().as_deref(), Some("1"), "step {step}: the visitor sees its host");
            assert!(visitor.finish(), "step {step}");
            assert!(host.dir().is_current(), "step {step}");
            assert_eq!(names(&root.join().snapshot()), [(Kind::Node, "host")], "step {step}: one domain");
            !stopped
        });
    }

    #[test]
    fn a_visitor_that_sleeps_through_the_end_of_a_domain_finds_the_next_one() {
        let _dog = watchdog(300);
        stopped_visitor_and_returning_host(false);
    }

    #[test]
    fn a_visitor_that_sleeps_through_the_end_of_a_domain_finds_the_next_one_in_the_same_directory() {
        let _dog = watchdog(300);
        stopped_visitor_and_returning_host(true);
    }

    #[test]
    fn whoever_dies_at_any_step_leaves_a_clean_domain_to_the_others() {
        let _dog = watchdog(300);
        let root = Root::new();
        let r = root.join();
        at_every_step(20, |step| {
            let ended = crash_at(&root, "crash", step);
            r.sweep_now();
            assert_eq!(r.usage(), Usage { contexts: 1, slots: 0, slots_committed: 64 }, "step {step}");
            assert_eq!(files(&r), ["lock", "registry"], "step {step}");
            ended
        });
    }

    #[test]
    fn a_lonely_process_that_dies_at_any_step_stops_nobody_from_joining() {
        let _dog = watchdog(300);
        let root = Root::new();
        at_every_step(25, |step| {
            let ended = crash_at(&root, "crash", step);
            let r = root.join();
            assert_eq!((files(&r), r.usage().contexts), (vec!["lock".into(), "registry".into()], 1), "step {step}");
            ended
        });
    }

    #[test]
    fn a_reaper_that_dies_at_any_step_is_replaced_by_the_next() {
        let _dog = watchdog(300);
        let root = Root::new();
        let r = root.join();
        let s = reader(&r, 10);
        at_every_step(20, |step| {
            let mut victim = Peer::spawn(root.path(), "live");
            victim.hear().expect("ready");
            let (mut talker, _) = talker(&root);
            victim.kill();
            talker.kill();
            let ended = crash_at(&root, "reaper", step);
            r.sweep_now();
            assert_eq!(r.usage().slots, 2, "step {step}: the reader and what it has not read");
            let hot = r.hot(s.index).expect("hot");
            assert_ne!(hot.pending().swap(0, SeqCst), 0, "step {step}");
            r.sweep_now();
            assert_eq!((r.usage().slots, r.usage().contexts), (1, 1), "step {step}");
            assert_eq!(files(&r), ["lock", "registry"], "step {step}");
            ended
        });
    }
}

#[test]
fn who_is_kept_out_by_a_stopped_process_is_told_which() {
    let _dog = watchdog(60);
    let root = Root::new();
    let mut initialiser = Peer::spawn(root.path(), "initialiser");
    assert_eq!(initialiser.hear().as_deref(), Some("holding"));
    initialiser.signal("STOP");
    let e = Registry::join(&options(root.path())).err().expect("busy").to_string();
    let pid = initialiser.process.id();
    assert!(e.contains(&format!("process {pid} (")) && e.contains(", stopped)") && e.contains("kill -CONT"), "{e}");
    initialiser.signal("CONT");
    assert!(initialiser.finish());
    root.join();
}
