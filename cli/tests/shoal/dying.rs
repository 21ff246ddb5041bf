//! What it shows of the dead, and what it removes.

use crate::peer::{Peer, Root};
use std::os::unix::fs::PermissionsExt;

/// A killed node is gone from the listing with the very next look, although nobody has cleared it away.
#[test]
fn ls_shows_no_ghosts() {
    let root = Root::new();
    let _stays = Peer::start(&root, "talker");
    for round in 0..10 {
        let mut goes: Vec<Peer> = (0..3).map(|i| Peer::start(&root, &format!("n{round}_{i}"))).collect();
        let mut alive = vec![format!("/n{round}_0"), format!("/n{round}_1"), format!("/n{round}_2"), "/talker".into()];
        assert_eq!(root.nodes(), alive);
        while let Some(mut peer) = goes.pop() {
            peer.kill();
            alive.remove(goes.len());
            assert_eq!(root.nodes(), alive);
        }
    }
}

/// While nodes come and die at random no listing fails, and none shows one that was dead before it was asked for.
#[test]
fn ls_is_right_while_nodes_die() {
    let root = Root::new();
    let _stays = Peer::start(&root, "talker");
    let dead = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let killers: Vec<_> = (0..2)
            .map(|killer| {
                let (root, dead) = (&root, &dead);
                scope.spawn(move || {
                    for i in 0..12 {
                        let name = format!("k{killer}_{i}");
                        Peer::start(root, &name).kill();
                        dead.lock().expect("lock").push(format!("/{name}"));
                    }
                })
            })
            .collect();
        while killers.iter().any(|killer| !killer.is_finished()) {
            let gone = dead.lock().expect("lock").clone();
            let shown = root.nodes();
            assert!(shown.contains(&"/talker".to_owned()), "{shown:?}");
            let ghosts: Vec<_> = shown.iter().filter(|name| gone.contains(name)).collect();
            assert!(ghosts.is_empty(), "{ghosts:?}");
        }
    });
}

#[test]
fn clean_removes_only_the_dead_and_says_so() {
    let root = Root::new();
    let _lives = Peer::start(&root, "talker");
    let mut dies = Peer::start(&root, "dies");
    let pid = dies.pid();
    dies.kill();
    let said = format!("of dead process {pid} ");
    let would = root.text(&["clean", "--dry-run"]);
    assert!(would.contains(&said) && would.ends_with("would be removed"), "{would}");
    let dead = |listing: serde_json::Value| {
        listing["contexts"].as_array().expect("contexts").iter().filter(|c| c["state"] == "dead").count()
    };
    assert_eq!(dead(root.json(&["ls", "--json"])), 1, "a dry run removes nothing");
    let did = root.text(&["clean"]);
    assert!(did.contains(&said) && did.ends_with("removed"), "{did}");
    assert_eq!(dead(root.json(&["ls", "--json"])), 0);
    assert_eq!(root.nodes(), ["/talker"]);
    assert_eq!(root.lines(&["clean"]), ["nothing to remove"]);
}

#[test]
fn clean_keeps_what_a_living_reader_wants() {
    let root = Root::new();
    let _listener = Peer::start(&root, "listener");
    let mut talker = Peer::start(&root, "talker");
    talker.publish();
    talker.kill();
    let said = root.text(&["clean"]);
    assert!(said.contains("kept: living subscriptions have yet to read"), "{said}");
}

#[test]
fn a_deserted_domain_is_found_and_removed() {
    let root = Root::new();
    Peer::start(&root, "talker").kill();
    let doctor = String::from_utf8(root.shoal(&["doctor"]).stdout).expect("UTF-8");
    assert!(doctor.contains("nobody lives there"), "{doctor}");
    assert!(root.lines(&["ls"])[1].starts_with("0 contexts alive, 0 nodes"), "the dead are not counted");
    assert!(root.text(&["clean", "-n"]).ends_with("nobody lives there"));
    assert!(root.domain().join("registry").exists(), "a dry run removes nothing");
    assert!(root.text(&["clean"]).contains("removed"));
    assert!(!root.domain().exists());
}

#[test]
fn doctor_finds_a_directory_that_others_could_have_changed() {
    let root = Root::new();
    let _peer = Peer::start(&root, "talker");
    // What this machine is like is not the test's business.
    let wrong = || {
        let out = root.shoal(&["doctor", "--json"]);
        let findings: Vec<serde_json::Value> = serde_json::from_slice(&out.stdout).expect("JSON");
        let about =
            |f: &&serde_json::Value| f["level"] == "wrong" && f["what"].as_str().unwrap_or("").contains("domain 0");
        (out.status.code(), findings.iter().filter(about).cloned().collect::<Vec<_>>())
    };
    assert_eq!(wrong().1.len(), 0);
    std::fs::set_permissions(root.domain(), std::fs::Permissions::from_mode(0o777)).expect("chmod");
    let (code, found) = wrong();
    std::fs::set_permissions(root.domain(), std::fs::Permissions::from_mode(0o700)).expect("chmod");
    assert_eq!((code, found.len()), (Some(1), 1), "{found:?}");
    assert!(found[0]["what"].as_str().unwrap_or("").contains("777") && found[0]["advice"] != "", "{found:?}");
}
