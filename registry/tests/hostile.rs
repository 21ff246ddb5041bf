//! A registry file that a peer has overwritten: every query and every action still ends, without a panic.

mod common;
use common::*;
use shoal_registry::*;
use shoal_shm::segment::DirError;
use std::os::unix::fs::FileExt;
use std::path::Path;

const HEADER: u64 = 4096;
const BUCKETS: u64 = 2048 * 16;
const CONTEXTS_AT: u64 = HEADER + BUCKETS;
const DIRECTORY_AT: u64 = CONTEXTS_AT + 4096 * 1024;
const HOT_AT: u64 = DIRECTORY_AT + 65536 * 8;
const DETAILS_AT: u64 = HOT_AT + 65536 * 64;
const KINDS: [Kind; 5] = [Kind::Node, Kind::Publisher, Kind::Subscription, Kind::Service, Kind::Client];

/// How the bytes of one region are made up.
#[derive(Clone, Copy)]
enum Noise {
    /// Anything.
    Random,
    /// Words whose low bits are mostly valid states and kinds, so that the checks behind the first one are reached.
    Plausible,
}

fn words(rng: &mut Rng, noise: Noise, n: usize, topic: u64) -> Vec<u8> {
    let word = |rng: &mut Rng| match noise {
        Noise::Random => rng.next(),
        Noise::Plausible => {
            let upper = if rng.below(4) == 0 { rng.below(4) } else { topic };
            rng.below(6) | (rng.below(5) + 1) << 4 | rng.below(3) << 8 | upper << 24
        }
    };
    (0..n).flat_map(|_| word(rng).to_le_bytes()).collect()
}

fn overwrite(path: &Path, rng: &mut Rng, noise: Noise, with_header: bool) {
    let file = std::fs::File::options().read(true).write(true).open(path).expect("open");
    // The first slot is of the topic that everybody asks for.
    let mut first = [0; 8];
    file.read_exact_at(&mut first, DIRECTORY_AT).expect("read");
    let topic = u64::from_le_bytes(first) >> 24;
    let mut put = |at: u64, len: usize| {
        let bytes = words(rng, noise, len / 8, topic);
        file.write_all_at(&bytes, at).expect("write");
    };
    put(HEADER, BUCKETS as usize);
    put(CONTEXTS_AT, 64 * 1024);
    put(DIRECTORY_AT, 512 * 8);
    put(HOT_AT, 512 * 64);
    put(DETAILS_AT, 512 * 1024);
    if with_header {
        // Behind the identity, which is looked at when joining only.
        put(32, 4096 - 32);
    }
}

fn use_everything(r: &Registry, s: SlotId) {
    let t = TopicHash::of("/t");
    for d in r.snapshot() {
        assert!(d.name.len() < 256 && d.type_name.len() < 256);
    }
    for kind in KINDS {
        r.for_each_matching(&[kind], t, 0, &mut |f| {
            let _ = (f.hot.owner(), f.hot.qos().depth());
        });
        r.for_each_matching(&[kind], t, 1, &mut |f| {
            let _ = f.hot.match_key();
        });
    }
    for index in (0..600).chain([65535, 65536, u32::MAX]) {
        let slot = SlotId { index, incarnation: index % 3 };
        r.detail(slot);
        r.is_drained(slot);
        r.hot(index).map(HotCell::ctx_id);
    }
    for ctx in [0, 1, 2, 3, 63, 64, 4095, 4096, u16::MAX] {
        r.context_alive(ctx, 1);
        r.enclave_of(ctx);
        r.hazard_held(ctx, 1);
        r.doorbell_of(ctx).map(|bell| bell.ring());
    }
    r.usage();
    r.watch_graph();
    r.graph_generation();
    r.outlets_generation(t);
    r.publish(s);
    r.close(s);
    r.withdraw(s);
    r.sweep();
    r.sweep_now();
    // It may succeed or fail, as the noise has it.
    if let Ok(s) = r.claim(&registration(Kind::Publisher, "/t", 1)) {
        r.publish(s);
        r.withdraw(s);
    }
}

fn survive(seed: u64, noise: Noise, with_header: bool) {
    let root = Root::new();
    let (r, other) = (root.join(), root.join());
    let s = enter(&r, Kind::Publisher, "/t", 1);
    r.hot(s.index).expect("hot").head().store(1, std::sync::atomic::Ordering::Relaxed);
    for n in 0..200 {
        enter(&other, KINDS[n as usize % 5], "/t", n);
    }
    let path = r.dir().path().join("registry");
    let mut rng = Rng(seed);
    for _ in 0..2 {
        overwrite(&path, &mut rng, noise, with_header);
        use_everything(&r, s);
    }
    overwrite(&path, &mut rng, noise, with_header);
    let joined = Registry::join(&options(root.path()));
    drop(joined);
    r.leave();
    drop(r);
    other.leave();
    assert!(!path.exists(), "the kernel's locks decide who is the last one out");
}

#[test]
fn random_bytes_in_the_tables_harm_nobody() {
    let _dog = watchdog(120);
    (1..20).for_each(|seed| survive(seed, Noise::Random, false));
}

#[test]
fn plausible_nonsense_in_the_tables_harms_nobody() {
    let _dog = watchdog(120);
    (1..20).for_each(|seed| survive(seed, Noise::Plausible, false));
}

#[test]
fn random_bytes_in_the_header_harm_nobody() {
    let _dog = watchdog(240);
    (1..4).for_each(|seed| survive(seed, Noise::Random, true));
    (1..4).for_each(|seed| survive(seed, Noise::Plausible, true));
}

#[test]
fn a_context_finds_its_own_doorbell_whatever_the_header_says() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let file = std::fs::File::options().write(true).open(r.dir().path().join("registry")).expect("open");
    // The high-water mark of the contexts.
    file.write_all_at(&[0; 8], 17 * 8).expect("write");
    assert!(!r.doorbell().ring(), "nobody is parked");
    drop(r.park());
}

#[test]
fn a_damaged_header_refuses_newcomers_with_a_reason() {
    let _dog = watchdog(60);
    let root = Root::new();
    let r = root.join();
    let path = r.dir().path().join("registry");
    let file = std::fs::File::options().write(true).open(&path).expect("open");
    file.write_all_at(&[0xff; 8], 16).expect("write");
    let e = Registry::join(&options(root.path())).err().expect("damaged");
    assert!(matches!(e, JoinError::Damaged { .. }), "{e}");
}

#[test]
fn something_else_under_the_names_of_a_domain_is_an_error_not_a_visit() {
    let _dog = watchdog(60);
    let root = Root::new();
    let target = root.path().join("target");
    std::fs::create_dir(&target).expect("dir");
    let parent = root.path().join(format!("shoal-{}", users_id(root.path())));
    std::os::unix::fs::symlink(&target, &parent).expect("link");
    let e = Registry::join(&options(root.path())).err().expect("link");
    assert!(matches!(e, JoinError::Dir(shoal_shm::segment::DirError::Symlink { .. })), "{e}");
    assert_eq!(std::fs::read_dir(&target).expect("dir").count(), 0);
}

#[test]
fn another_users_domain_is_refused_with_the_owners_id() {
    let root = Root::new();
    let parent = root.path().join(format!("shoal-{}", users_id(root.path())));
    std::fs::create_dir(&parent).expect("dir");
    if std::os::unix::fs::chown(&parent, Some(12345), None).is_err() {
        println!("skipped: this user may not give files away");
        return;
    }
    let e = Registry::join(&options(root.path())).err().expect("stranger");
    assert!(e.to_string().contains("uid 12345"), "{e}");
}

fn users_id(own: &Path) -> u32 {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(own).expect("own directory"))
}

/// Else the user is told, seconds later, that others are at work there.
#[test]
fn a_place_that_cannot_be_made_is_named_at_once() {
    // Nobody can make a directory in /proc: the kernel says that there is no such file.
    let nowhere = Registry::join(&options(std::path::Path::new("/proc"))).err().expect("no place");
    let text = nowhere.to_string();
    assert!(matches!(nowhere, JoinError::Dir(DirError::Create { .. })), "{text}");
    assert!(text.contains("/proc/shoal-") && text.contains("(os error 2)") && text.contains("SHOAL_DIR"), "{text}");
    let root = Root::new();
    let missing = Registry::join(&options(&root.path().join("missing"))).err().expect("no place");
    let text = missing.to_string();
    assert!(matches!(missing, JoinError::Dir(DirError::NoRoot { .. })), "{text}");
    assert!(text.contains("missing") && text.contains("(os error 2)") && text.contains("SHOAL_DIR"), "{text}");
}
