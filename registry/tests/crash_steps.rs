//! Processes that die, or are stopped, at each step of the registry's protocols.
#![cfg(feature = "crash-steps")]

mod common;
use common::roles::*;
use common::*;
use shoal_registry::*;
use std::sync::atomic::Ordering::SeqCst;

/// Not a test: what a child process does.
#[test]
fn child() {
    play();
}

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
