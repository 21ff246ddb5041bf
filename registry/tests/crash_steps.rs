//! Processes that die, or are stopped, at each step of the registry's protocols.
#![cfg(feature = "crash-steps")]

mod common;
use common::roles::*;
use common::*;
use shoal_registry::*;
use shoal_shm::lock::LockFile;
use shoal_shm::segment::{Access, DomainDir};
use std::collections::BTreeSet;
use std::io::Read;
use std::process::Stdio;
use std::sync::atomic::Ordering::SeqCst;

/// Not a test: what a child process does.
#[test]
fn child() {
    play();
}

fn with_step(root: &Root, role: &str, step: &str) -> std::process::Command {
    let mut command = Peer::command(root.path(), role);
    command.env("SHOAL_CRASH_STEP", step).stderr(Stdio::piped());
    command
}

/// Has a child die at a step, by number or by name. Answers the step's name; `None` when the child ended by itself.
fn crash_at(root: &Root, role: &str, step: &str) -> Option<String> {
    let mut child = Peer::start(with_step(root, role, step));
    let succeeded = child.finish();
    let name = step_of(&mut child);
    assert_eq!(succeeded, name.is_none(), "step {step}: it died of something else");
    name
}

/// The step at which an ended child said that it was stopped or killed.
fn step_of(child: &mut Peer) -> Option<String> {
    let mut said = String::new();
    child.process.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    let line = said.lines().find(|line| line.starts_with("crash point "))?;
    line.split_once(": ").map(|(_, name)| name.to_owned())
}

/// Runs `f` with 1, 2, 3, … until the child ends by itself; `steps` must be among those at which it was stopped or died.
fn at_every_step(steps: &[&str], mut f: impl FnMut(&str) -> Option<String>) {
    let names: BTreeSet<String> = (1..1000).map_while(|step| f(&step.to_string())).collect();
    assert_eq!(f("1000000"), None, "the child ends some time");
    let missed: Vec<_> = steps.iter().filter(|step| !names.contains(**step)).collect();
    assert!(missed.is_empty(), "not passed: {missed:?}; passed: {names:?}");
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
    at_every_step(&["registry.join.opened", "registry.join.inside", "registry.leave.unlocked"], |step| {
        let host = root.join();
        if keep_directory {
            // Something that nobody removes, so that the new domain is made in the same directory.
            std::fs::create_dir_all(host.dir().path().join("kept")).expect("dir");
        }
        enter(&host, Kind::Node, "host", 0);
        let mut command = with_step(&root, "visit", step);
        command.env("SHOAL_CRASH_ACTION", "stop");
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
        let name = step_of(&mut visitor);
        assert_eq!(stopped, name.is_some(), "step {step}");
        name
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

/// What a survivor sees of a process that died, before anybody looks for the dead: contexts and slots in use, and the
/// dead one's endpoints as writers and readers find them.
#[derive(Debug, PartialEq)]
struct Seen(usize, usize, Vec<(Kind, SlotState)>);

fn seen(r: &Registry) -> Seen {
    let of = |kind| found(r, kind, "/crash").into_iter().map(move |(_, state)| (kind, state));
    let endpoints = of(Kind::Publisher).chain(of(Kind::Subscription)).collect();
    Seen(r.usage().contexts, r.usage().slots, endpoints)
}

/// What tells the peers of a topic to look again.
fn generations(r: &Registry) -> u64 {
    let topic = TopicHash::of("/crash");
    r.outlets_generation(topic).load(SeqCst) + r.inlets_generation(topic).load(SeqCst)
}

const ALONE: Usage = Usage { contexts: 1, slots: 0, slots_committed: 64 };

/// A process dies beside a survivor at its first pass through each of the steps, and leaves what is said there; the next
/// look for the dead removes it. `announced`: peers are then told to look again.
fn leaves(steps: &[&str], what: &Seen, announced: bool) {
    let root = Root::new();
    let r = root.join();
    // Reserves the first slots.
    r.withdraw(enter(&r, Kind::Node, "survivor", 0));
    for step in steps {
        assert_eq!(crash_at(&root, "crash", step).as_deref(), Some(*step), "it dies there");
        assert_eq!(&seen(&r), what, "{step}");
        let before = generations(&r);
        r.sweep_now();
        assert_eq!((r.usage(), files(&r)), (ALONE, vec!["lock".into(), "registry".into()]), "{step}");
        assert_eq!(generations(&r) != before, announced, "{step}: whether peers are told");
    }
}

#[test]
fn who_dies_entering_a_domain_leaves_a_context_and_what_it_had_claimed() {
    let _dog = watchdog(300);
    use {Kind::Publisher, SlotState::*};
    leaves(&["registry.join.claimed", "registry.join.live"], &Seen(2, 0, vec![]), false);
    leaves(&["registry.claim.claimed", "registry.claim.filled"], &Seen(2, 1, vec![]), false);
    leaves(&["registry.claim.joining"], &Seen(2, 1, vec![(Publisher, Joining)]), true);
    leaves(&["registry.publish.live"], &Seen(2, 1, vec![(Publisher, Live)]), true);
}

#[test]
fn who_dies_leaving_a_domain_leaves_closed_and_dying_slots_to_the_next_look() {
    let _dog = watchdog(300);
    use {Kind::Publisher, Kind::Subscription, SlotState::*};
    let closed = Seen(2, 3, vec![(Publisher, Closed), (Subscription, Live)]);
    leaves(&["registry.close.closed", "registry.close.announced"], &closed, true);
    let dying = Seen(2, 3, vec![(Publisher, Closed)]);
    leaves(&["registry.withdraw.dying", "registry.withdraw.announced"], &dying, true);
    // Its node is left.
    leaves(&["registry.leave.marked"], &Seen(2, 1, vec![]), false);
    let steps = ["registry.leave.slots", "registry.leave.left", "registry.leave.unlocked", "registry.drop.unlinked"];
    leaves(&steps, &Seen(2, 0, vec![]), false);
}

/// What somebody finds who looks into a domain without joining it.
#[derive(Debug, PartialEq)]
enum Look {
    /// No registry.
    Nobody,
    /// One without a seal.
    Unfinished,
    /// A whole one, with so many contexts in use.
    Whole(usize),
}

fn look(root: &Root) -> Look {
    match Observer::open(root.path(), Access::Owner, DOMAIN) {
        Err(ObserveError::Nobody { .. }) => Look::Nobody,
        Err(ObserveError::Damaged { .. }) => Look::Unfinished,
        Err(other) => panic!("{other}"),
        Ok(observer) => Look::Whole(observer.usage().contexts),
    }
}

/// Whether a domain's directory has a lock file, and nobody holds its byte 0.
fn is_deserted(root: &Root) -> bool {
    let dir = DomainDir::open(root.path(), Access::Owner, DOMAIN).expect("the directory is there");
    let names = dir.names().expect("names");
    names.iter().any(|name| name == "lock")
        && LockFile::open(&dir, "lock").expect("a lock file").try_exclusive(0).expect("it can be asked")
}

#[test]
fn who_dies_making_or_removing_a_domain_leaves_it_to_the_next_to_join() {
    let _dog = watchdog(300);
    let steps = [
        ("registry.join.opened", Look::Nobody),
        ("registry.join.inside", Look::Nobody),
        ("registry.join.wiped", Look::Nobody),
        ("registry.join.committed", Look::Unfinished),
        ("registry.join.sealed", Look::Whole(0)),
        ("registry.leave.left", Look::Whole(1)),
        ("registry.leave.unlocked", Look::Whole(1)),
        ("registry.leave.wiped", Look::Nobody),
    ];
    for (step, what) in steps {
        let root = Root::new();
        assert_eq!(crash_at(&root, "crash", step).as_deref(), Some(step), "it dies there");
        assert_eq!((look(&root), is_deserted(&root)), (what, true), "{step}");
        let r = root.join();
        assert_eq!((r.usage().contexts, r.usage().slots), (1, 0), "{step}");
        assert_eq!(files(&r), ["lock", "registry"], "{step}");
    }
}

#[test]
fn whoever_dies_at_any_step_leaves_a_clean_domain_to_the_others() {
    let _dog = watchdog(300);
    let root = Root::new();
    let r = root.join();
    at_every_step(&["registry.join.opened", "registry.claim.claimed", "registry.drop.unlinked"], |step| {
        let name = crash_at(&root, "crash", step);
        r.sweep_now();
        assert_eq!(r.usage(), ALONE, "step {step}");
        assert_eq!(files(&r), ["lock", "registry"], "step {step}");
        name
    });
}

#[test]
fn a_lonely_process_that_dies_at_any_step_stops_nobody_from_joining() {
    let _dog = watchdog(300);
    let root = Root::new();
    at_every_step(&["registry.join.opened", "registry.claim.claimed", "registry.leave.wiped"], |step| {
        let name = crash_at(&root, "crash", step);
        let r = root.join();
        assert_eq!((files(&r), r.usage().contexts), (vec!["lock".into(), "registry".into()], 1), "step {step}");
        name
    });
}

#[test]
fn a_reaper_that_dies_at_any_step_is_replaced_by_the_next() {
    let _dog = watchdog(300);
    let root = Root::new();
    let r = root.join();
    let s = reader(&r, 10);
    let steps = ["registry.reap.dead", "registry.reap.cleared", "registry.reap.closed", "registry.reap.unlinked"];
    at_every_step(&steps, |step| {
        let mut victim = Peer::spawn(root.path(), "live");
        victim.hear().expect("ready");
        let (mut talker, _) = talker(&root);
        victim.kill();
        talker.kill();
        let name = crash_at(&root, "reaper", step);
        r.sweep_now();
        assert_eq!(r.usage().slots, 2, "step {step}: the reader and what it has not read");
        let hot = r.hot(s.index).expect("hot");
        assert_ne!(hot.pending().swap(0, SeqCst), 0, "step {step}");
        r.sweep_now();
        assert_eq!((r.usage().slots, r.usage().contexts), (1, 1), "step {step}");
        assert_eq!(files(&r), ["lock", "registry"], "step {step}");
        name
    });
}
