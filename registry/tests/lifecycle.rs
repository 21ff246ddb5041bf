//! One process, several contexts: what a slot's life looks like from the outside.

mod common;
use common::*;
use shoal_registry::*;
use shoal_shm::lock::LockFile;
use shoal_shm::segment::DomainDir;
use std::sync::atomic::Ordering::SeqCst;

#[test]
fn an_endpoint_is_seen_by_writers_first_then_by_the_graph_then_by_nobody() {
    let root = Root::new();
    let (a, b) = (root.join(), root.join());
    let s = a.claim(&registration(Kind::Subscription, "/t", 1)).expect("claim");
    assert_eq!(found(&b, Kind::Subscription, "/t"), [(s, SlotState::Joining)]);
    assert_eq!(b.snapshot().iter().map(|d| d.state).collect::<Vec<_>>(), [SlotState::Joining]);
    a.publish(s);
    assert_eq!(found(&b, Kind::Subscription, "/t"), [(s, SlotState::Live)]);
    let d = b.detail(s).expect("detail");
    assert_eq!((d.name.as_str(), d.type_name.as_str(), d.type_hash), ("/t", "std_msgs/msg/String", (1, [7; 32])));
    assert_eq!((d.ctx, d.ctx_id, d.endpoint), (a.context_index(), a.context_id(), 1));
    assert_eq!(d.gid, gid(a.context_id(), Kind::Subscription, 1));
    assert_eq!(d.qos, Qos::default());
    a.close(s);
    assert_eq!(found(&b, Kind::Subscription, "/t"), [(s, SlotState::Closed)]);
    assert_eq!(b.snapshot(), []);
    a.withdraw(s);
    assert_eq!(found(&b, Kind::Subscription, "/t"), []);
    assert_eq!(b.detail(s), None, "another tenant may come");
    let again = a.claim(&registration(Kind::Subscription, "/t", 2)).expect("claim");
    assert_eq!((again.index, again.incarnation), (s.index, s.incarnation + 1));
    assert_eq!(b.detail(s), None);
}

#[test]
fn only_the_owner_changes_a_slot() {
    let root = Root::new();
    let (a, b) = (root.join(), root.join());
    let s = enter(&a, Kind::Publisher, "/t", 1);
    b.withdraw(s);
    b.close(s);
    assert_eq!(found(&b, Kind::Publisher, "/t"), [(s, SlotState::Live)]);
    a.withdraw(SlotId { incarnation: s.incarnation + 1, ..s });
    assert_eq!(found(&b, Kind::Publisher, "/t"), [(s, SlotState::Live)], "another incarnation is not meant");
}

#[test]
fn a_change_moves_the_generation_of_its_side_and_rings_who_watches() {
    let root = Root::new();
    let (a, b) = (root.join(), root.join());
    let t = TopicHash::of("/t");
    let gens = || (b.outlets_generation(t).load(SeqCst), b.inlets_generation(t).load(SeqCst), b.graph_generation());
    let before = gens();
    let armed = b.doorbell().arm();
    let s = a.claim(&registration(Kind::Publisher, "/t", 1)).expect("claim");
    let joined = gens();
    assert!(joined.0 > before.0 && joined.1 == before.1 && joined.2 > before.2);
    assert_eq!(b.doorbell().word().load(SeqCst), armed, "b does not watch");
    b.watch_graph();
    a.publish(s);
    assert!(gens().0 > joined.0);
    assert_ne!(b.doorbell().word().load(SeqCst), armed, "b watches and is rung");
    for (kind, side) in [(Kind::Client, 0), (Kind::Subscription, 1), (Kind::Service, 1), (Kind::Node, 2)] {
        let g = gens();
        let s = enter(&a, kind, "/t", 9);
        let h = gens();
        assert_eq!((h.0 > g.0, h.1 > g.1, h.2 > g.2), (side == 0, side == 1, true), "{kind:?}");
        a.withdraw(s);
        assert!(gens().2 > h.2);
    }
}

#[test]
fn a_scan_asks_for_kind_topic_and_match_key() {
    let root = Root::new();
    let a = root.join();
    let s = enter(&a, Kind::Publisher, "/t", 1);
    enter(&a, Kind::Subscription, "/t", 2);
    enter(&a, Kind::Publisher, "/u", 3);
    let other = Registration { type_name: "std_msgs/msg/Int8", ..registration(Kind::Publisher, "/t", 4) };
    let o = a.claim(&other).expect("claim");
    assert_eq!(found(&a, Kind::Publisher, "/t"), [(s, SlotState::Live)]);
    let mut any = Vec::new();
    a.for_each_matching(&[Kind::Publisher], TopicHash::of("/t"), 0, &mut |f| any.push(f.slot));
    assert_eq!(any, [s, o], "key 0 asks for any type");
    let mut both = 0;
    a.for_each_matching(&[Kind::Publisher, Kind::Subscription], TopicHash::of("/t"), 0, &mut |_| both += 1);
    assert_eq!(both, 3);
}

#[test]
fn names_beyond_their_field_are_refused_with_the_limit() {
    let root = Root::new();
    let a = root.join();
    let long = "x".repeat(256);
    for r in [
        registration(Kind::Publisher, &long, 1),
        Registration { type_name: &long, ..registration(Kind::Publisher, "/t", 1) },
        registration(Kind::Publisher, "/a\0b", 1),
    ] {
        let e = a.claim(&r).expect_err("too long");
        assert!(matches!(e, ClaimError::NameTooLong { limit: 255, .. }), "{e}");
    }
    assert_eq!(a.usage().slots, 0);
    let s = a.claim(&registration(Kind::Publisher, &long[..255], 1)).expect("255 bytes fit");
    assert_eq!(a.detail(s).expect("detail").name.len(), 255);
    let e = Registry::join(&JoinOptions { enclave: long, ..options(root.path()) }).err().expect("enclave");
    assert!(matches!(e, JoinError::Enclave { len: 256, limit: 255 }));
}

#[test]
fn a_full_domain_says_what_is_full() {
    let _dog = watchdog(120);
    let root = Root::new();
    let a = root.join();
    let mut last = None;
    for n in 0..65536 {
        last = Some(a.claim(&registration(Kind::Publisher, "/t", n)).expect("claim"));
    }
    let e = a.claim(&registration(Kind::Publisher, "/t", 0)).expect_err("full");
    assert!(matches!(e, ClaimError::Full { limit: 65536, .. }), "{e}");
    a.withdraw(last.expect("some"));
    a.claim(&registration(Kind::Publisher, "/t", 0)).expect("one is free again");
}

#[test]
fn who_left_is_gone_and_claims_nothing() {
    let root = Root::new();
    let (a, b) = (root.join(), root.join());
    enter(&a, Kind::Node, "n", 0);
    let s = enter(&a, Kind::Publisher, "/t", 1);
    assert_eq!(b.enclave_of(a.context_index()).as_deref(), Some("/test"));
    assert!(b.context_alive(a.context_index(), a.context_id()));
    assert!(!b.context_alive(a.context_index(), a.context_id() ^ 1));
    a.leave();
    a.leave();
    assert_eq!(b.snapshot(), []);
    assert!(!b.context_alive(a.context_index(), a.context_id()));
    assert_eq!(b.enclave_of(a.context_index()), None);
    assert!(matches!(a.claim(&registration(Kind::Node, "n", 0)), Err(ClaimError::Left)));
    a.withdraw(s);
    drop(a);
    assert_eq!(b.usage().contexts, 1);
    let c = root.join();
    assert_eq!(c.context_index(), 0, "the entry is free again");
}

#[test]
fn the_last_one_out_removes_the_directory() {
    let root = Root::new();
    let (a, b) = (root.join(), root.join());
    let dir = a.dir().path().to_owned();
    assert!(dir.join("registry").exists() && dir.join("lock").exists());
    a.leave();
    assert!(dir.join("registry").exists());
    b.leave();
    assert!(!dir.exists());
    let c = root.join();
    assert!(dir.exists());
    drop((a, b));
    assert_eq!(found(&c, Kind::Node, "n"), []);
    enter(&c, Kind::Node, "n", 0);
    assert!(dir.join("registry").exists(), "the old contexts' drop touches nothing of the new domain");
    assert_eq!(names(&root.join().snapshot()), [(Kind::Node, "n")]);
}

#[test]
fn leftovers_of_any_version_are_wiped_by_the_first_one_in() {
    use std::fs::{create_dir_all, read, set_permissions, write, Permissions};
    use std::os::unix::fs::PermissionsExt;
    let root = Root::new();
    let a = root.join();
    let dir = a.dir().path().to_owned();
    let mut registry = read(dir.join("registry")).expect("read");
    drop(a);
    // As if everybody had been killed: all files are there, nobody holds a lock, the version is another.
    registry[8] = 99;
    create_dir_all(&dir).expect("dir");
    for level in [dir.parent().expect("parent"), &dir] {
        set_permissions(level, Permissions::from_mode(0o700)).expect("mode");
    }
    for (name, bytes) in [("registry", &registry[..]), ("lock", b""), ("0123456789abcdef.0", b"leftover")] {
        write(dir.join(name), bytes).expect("write");
        set_permissions(dir.join(name), Permissions::from_mode(0o600)).expect("mode");
    }
    assert_eq!(files(&root.join()), ["lock", "registry"]);
}

#[test]
fn a_living_domain_of_another_layout_version_is_refused() {
    use std::os::unix::fs::FileExt;
    let _dog = watchdog(60);
    let root = Root::new();
    let a = root.join();
    let path = a.dir().path().join("registry");
    let file = std::fs::File::options().write(true).open(&path).expect("open");
    file.write_all_at(&99u64.to_le_bytes(), 8).expect("write");
    let e = Registry::join(&options(root.path())).err().expect("other version");
    let own = shoal_registry::layout_version();
    assert!(matches!(e, JoinError::Version { theirs: 99, ours, .. } if ours == own), "{e}");
    // Also when the other version's file is too short for our layout.
    file.set_len(4096).expect("shrink");
    let e = Registry::join(&options(root.path())).err().expect("other version");
    assert!(matches!(e, JoinError::Version { theirs: 99, .. }), "{e}");
    // The refused one has not removed anything, and `a` must not be touched any more: its mapping is cut short.
    assert!(path.exists());
    std::mem::forget(a);
}

#[test]
fn a_stopped_initialiser_is_an_error_after_a_bounded_wait() {
    let _dog = watchdog(60);
    let root = Root::new();
    let o = options(root.path());
    let dir = DomainDir::open_or_create(&o.root, o.access, &o.domain).expect("dir");
    // What an initialiser holds that got no further.
    let holder = LockFile::open(&dir, "lock").expect("open");
    assert!(holder.try_exclusive(0).expect("lock"));
    let e = Registry::join(&o).err().expect("busy");
    assert!(matches!(e, JoinError::Busy { .. }), "{e}");
    let me = format!("process {} (", std::process::id());
    assert!(e.to_string().contains(&me) && !e.to_string().contains(", stopped"), "{e}");
    drop(holder);
    root.join();
}

#[test]
fn an_unfinished_registry_is_made_again_once_its_maker_is_dead() {
    let _dog = watchdog(60);
    let root = Root::new();
    let o = options(root.path());
    let dir = DomainDir::open_or_create(&o.root, o.access, &o.domain).expect("dir");
    let other = LockFile::open(&dir, "lock").expect("open");
    // Another newcomer that has found the unfinished file and is about to let go of the lock.
    assert!(other.try_shared(0).expect("lock"));
    std::fs::write(dir.path().join("registry"), b"").expect("write");
    std::fs::set_permissions(dir.path().join("registry"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .expect("mode");
    std::thread::scope(|scope| {
        let joiner = scope.spawn(|| root.join());
        drop(other);
        enter(&joiner.join().expect("join"), Kind::Node, "n", 0);
    });
}

#[test]
fn an_owner_learns_when_its_closed_outlet_is_drained() {
    let root = Root::new();
    let (a, b) = (root.join(), root.join());
    let s = enter(&a, Kind::Publisher, "/t", 1);
    let reader = enter(&b, Kind::Subscription, "/t", 2);
    let hot = b.hot(reader.index).expect("hot");
    hot.pending().store(1 << (s.index % 64), SeqCst);
    assert!(a.is_drained(s), "it never committed anything");
    a.hot(s.index).expect("hot").head().store(1, SeqCst);
    a.close(s);
    assert!(!a.is_drained(s));
    hot.draining().store(hot.pending().swap(0, SeqCst), SeqCst);
    assert!(!a.is_drained(s));
    hot.draining().store(1 << ((s.index + 1) % 64), SeqCst);
    assert!(a.is_drained(s), "what is left is of another class");
    a.withdraw(s);
    assert!(a.is_drained(s), "gone");
}

#[test]
fn claims_of_many_threads_and_contexts_never_share_a_slot() {
    let _dog = watchdog(120);
    let root = Root::new();
    let contexts: Vec<_> = (0..4).map(|_| root.join()).collect();
    let slots: Vec<SlotId> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|t| {
                let r = &contexts[t % 4];
                scope.spawn(move || (0..200).map(|n| enter(r, Kind::Publisher, "/t", n)).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|t| t.join().expect("thread")).collect()
    });
    let unique: std::collections::HashSet<u32> = slots.iter().map(|s| s.index).collect();
    assert_eq!(unique.len(), 1600);
    assert_eq!(found(&contexts[0], Kind::Publisher, "/t").len(), 1600);
    assert_eq!(contexts[0].snapshot().len(), 1600);
}

/// Every field of a slot is derived from one number, so a mixture of two tenants cannot pass.
#[test]
fn a_reader_never_sees_a_mixture_of_two_tenants() {
    let _dog = watchdog(120);
    let root = Root::new();
    let (a, b) = (root.join(), root.join());
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for r in [&a, &b] {
            let stop = &stop;
            scope.spawn(move || {
                let mut n = 0u32;
                while !stop.load(SeqCst) {
                    n += 1;
                    let name = format!("/{}", "n".repeat(n as usize % 200));
                    let qos = Qos { depth: n, deadline: i64::from(n), ..Qos::default() };
                    let s = r.claim(&Registration {
                        kind: Kind::Publisher,
                        name: &name,
                        type_name: &name,
                        node: None,
                        type_hash: (1, [n as u8; 32]),
                        qos,
                        endpoint: n,
                        flags: u64::from(n),
                    });
                    let s = s.expect("claim");
                    r.publish(s);
                    r.withdraw(s);
                }
            });
        }
        let mut seen = 0;
        while seen < 50_000 {
            for d in a.snapshot() {
                seen += 1;
                let n = d.endpoint;
                assert_eq!(d.name.len(), n as usize % 200 + 1);
                assert_eq!((&d.type_name, d.qos.depth, d.flags), (&d.name, n, u64::from(n)));
                assert_eq!((d.type_hash, d.qos.deadline), ((1, [n as u8; 32]), i64::from(n)));
            }
        }
        stop.store(true, SeqCst);
    });
}
