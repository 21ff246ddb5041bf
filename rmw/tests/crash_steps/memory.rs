//! Processes that die while they make or remove files and directories.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use shoal_registry::{Registry, Usage};

use crate::common::{context, depth, domain, files, node, publisher, send, subscription, take_all};
use crate::scene::{options, root, Scene};
use crate::victim::{Stage, Victim};

/// A victim that makes its first file, and another one for a long sample, which it then removes.
pub fn make_files(stage: &Stage) {
    stage.arm();
    let node = node(&context(stage.domain), "victim");
    stage.say("ready");
    stage.hear();
    let (short, long) = (publisher(&node, "/t", depth(10)), publisher(&node, "/long", depth(10)));
    send(&short, [1]);
    send(&long, vec![2; 8 << 20]);
    drop(long);
    stage.say("survived");
}

/// A victim that joins.
pub fn join(stage: &Stage) {
    stage.hear();
    stage.arm();
    context(stage.domain);
}

#[test]
fn files_that_nothing_names_go_with_the_dead() {
    for (step, sent) in [("segment.created", vec![]), ("arena.unlinked", vec![vec![1]])] {
        let scene = Scene::new();
        let mut victim = scene.start("file maker", step);
        let reader = subscription(&scene.node, "/t", depth(1));
        victim.expect("ready");
        victim.tell("go on");
        victim.dies();
        assert_eq!(scene.files_of_the_dead().len(), 1, "{step}: its first file, and no other");
        scene.look_for_the_dead();
        assert_eq!(take_all(&reader), sent, "{step}");
        scene.is_clean_after_a_look(step);
    }
}

/// Joins a domain, and answers how full it is and which files it has.
fn found_by_the_next(domain: usize) -> (Usage, Vec<String>) {
    let registry = Registry::join(&options(root(), domain)).expect("the domain can be joined");
    let mut files = files(domain);
    files.sort();
    (registry.usage(), files)
}

#[test]
fn files_that_nothing_names_are_no_obstacle_for_the_next_to_join() {
    // The first file of who is alone is the registry.
    for (step, role) in [("segment.created", "newcomer"), ("arena.unlinked", "file maker")] {
        let domain = domain();
        let victim = Victim::start(&root(), domain, role, step, 1);
        victim.tell("go on");
        victim.dies();
        let (usage, files) = found_by_the_next(domain);
        assert_eq!((usage.contexts, usage.slots), (1, 0), "{step}");
        assert_eq!(files, ["lock", "registry"], "{step}");
        assert_eq!(crate::common::files(domain), Vec::<String>::new(), "{step}: the last one out removes all");
    }
}

/// A place of its own for domains.
fn own_root() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    domain();
    let path = root().join(format!("own-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    std::fs::create_dir(&path).expect("shared memory can be written");
    path
}

/// Every directory below, at any depth.
fn directories(below: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(below).expect("a directory").flatten().map(|entry| entry.path());
    entries.flat_map(|path| directories(&path).into_iter().chain([path])).collect()
}

#[test]
fn a_directory_whose_maker_died_before_it_had_its_name_goes_with_the_last_one_out() {
    let step = "dir.made";
    // The user's directory, and the domain's in it.
    for pass in [1, 2] {
        let root = own_root();
        let victim = Victim::start(&root, 1, "newcomer", step, pass);
        victim.tell("join");
        victim.dies();
        assert_eq!(directories(&root).len(), pass as usize, "pass {pass}: the last one has no name yet");
        let other = Registry::join(&options(root.clone(), 2)).expect("a domain beside it can be joined");
        let same = Registry::join(&options(root.clone(), 1)).expect("the same domain can be joined");
        drop((same, other));
        assert_eq!(directories(&root), Vec::<PathBuf>::new(), "pass {pass}: nothing is left");
    }
}
