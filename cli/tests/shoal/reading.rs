//! What it shows of those who live, and that they cannot tell.

use crate::peer::{Peer, Root};
use std::os::unix::fs::FileExt;
use std::sync::mpsc::TryRecvError;

#[test]
fn ls_shows_nodes_topics_and_profiles() {
    let root = Root::new();
    let _peers = [Peer::start(&root, "talker"), Peer::start(&root, "listener")];
    let text = root.lines(&["ls"]).join("\n");
    for part in ["2 contexts alive, 2 nodes, 4 endpoints", "/talker", "topic /chatter   test/msg/Bytes", "RIHS01_0707"]
    {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert!(text.contains("reliable volatile keep_last(10)") && text.contains("reliable volatile keep_all"), "{text}");
    let json = root.json(&["ls", "--json"]);
    assert_eq!(json["contexts"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["contexts"][0]["state"], "alive");
    let publisher = json["endpoints"].as_array().and_then(|all| all.iter().find(|e| e["kind"] == "publisher")).cloned();
    let publisher = publisher.expect("a publisher");
    assert_eq!((&publisher["node"], &publisher["qos"]["reliability"]), (&"/talker".into(), &"reliable".into()));
}

#[test]
fn nobody_is_there_is_an_answer() {
    let root = Root::new();
    assert!(root.lines(&["ls"])[0].starts_with("nobody is in "));
    assert_eq!(root.json(&["ls", "--json"])["contexts"].as_array().map(Vec::len), Some(0));
    assert_eq!(root.lines(&["clean"]), ["nothing to remove"]);
    assert!(!root.domain().exists(), "looking has made a directory");
}

/// Neither a context nor a changed byte nor a lock: the domain is removed by its last node although somebody looked.
#[test]
fn looking_leaves_no_trace() {
    let root = Root::new();
    let mut peer = Peer::start(&root, "talker");
    peer.publish();
    let registry = || std::fs::read(root.domain().join("registry")).expect("the registry");
    let before = registry();
    for arguments in [&["ls"][..], &["top", "--once", "--interval", "0.01"], &["clean", "-n"]] {
        root.lines(arguments);
    }
    root.shoal(&["graph", "--svg"]);
    root.shoal(&["doctor"]);
    assert!(registry() == before, "the registry has changed");
    peer.finish();
    assert!(!root.domain().exists(), "the last one out does not remove the domain");
}

#[test]
fn top_counts_samples_and_says_who_is_behind() {
    let root = Root::new();
    let mut talker = Peer::start(&root, "talker");
    let _listener = Peer::start(&root, "listener");
    let top = || root.json(&["top", "--once", "--interval", "0.3", "--json"]);
    let topic = |top: &serde_json::Value, name: &str| {
        top["topics"].as_array().and_then(|all| all.iter().find(|t| t["name"] == name)).cloned().expect("the topic")
    };
    let idle = top();
    assert_eq!(topic(&idle, "/chatter")["per_second"], 0.0);
    assert_eq!(topic(&idle, "/all")["lag"], 0);
    let counted = std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let publishing = scope.spawn(move || {
            let mut n = 0;
            while stopped.try_recv() == Err(TryRecvError::Empty) {
                talker.publish();
                n += 1;
                // As a robot does; a KEEP_ALL publisher would soon have all that it may have in flight.
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            (talker, n)
        });
        let busy = top();
        drop(stop);
        let (talker, n) = publishing.join().expect("publishing");
        assert!(topic(&busy, "/chatter")["per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{busy}");
        assert_eq!(topic(&busy, "/chatter")["bytes"], 100);
        (talker, n)
    });
    let quiet = top();
    assert_eq!(topic(&quiet, "/all")["lag"], counted.1, "the listener has taken nothing");
    assert_eq!(topic(&quiet, "/chatter")["lag"], "some");
    assert_eq!(topic(&quiet, "/chatter")["readers_behind"], 1);
    root.lines(&["top", "--once", "--interval", "0.01"]);
}

#[test]
fn the_graph_is_drawn_from_publisher_to_subscription() {
    let root = Root::new();
    let _peers = [Peer::start(&root, "talker"), Peer::start(&root, "listener")];
    let dot = String::from_utf8(root.shoal(&["graph", "--dot"]).stdout).expect("UTF-8");
    let id = |name: &str| {
        let line = dot.lines().find(|line| line.contains(&format!("\"{name}\""))).expect("the name");
        line.split_whitespace().next().expect("an id").to_owned()
    };
    for (from, to) in [("/talker", "/chatter"), ("/chatter", "/listener")] {
        assert!(dot.contains(&format!("{} -> {};", id(from), id(to))), "{dot}");
    }
    let svg = String::from_utf8(root.shoal(&["graph", "--svg"]).stdout).expect("UTF-8");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains(">/talker</text>"), "{svg}");
}

#[test]
fn another_layout_is_named_and_left_alone() {
    let root = Root::new();
    let peer = Peer::start(&root, "talker");
    let registry = std::fs::OpenOptions::new().write(true).open(root.domain().join("registry")).expect("the registry");
    registry.write_all_at(&99_u64.to_le_bytes(), 8).expect("another version");
    for command in [&["ls"][..], &["top", "--once"], &["graph", "--dot"]] {
        let out = root.shoal(command);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(said.contains("layout 99") && said.contains("1 of its contexts are alive"), "{said}");
    }
    let doctor = root.shoal(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&doctor.stdout).contains("layout 99"));
    assert!(root.text(&["clean"]).contains("left alone"));
    drop(peer);
    root.lines(&["clean"]);
    assert!(!root.domain().exists(), "once nobody lives there, its layout does not matter");
}
