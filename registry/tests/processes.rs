//! Real processes that join, leave, are stopped and are killed.

mod common;
use common::roles::*;
use common::*;
use shoal_registry::*;
use std::path::Path;
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

/// Not a test: what a child process does.
#[test]
fn child() {
    play();
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
