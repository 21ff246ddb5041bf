use crate::segment::{DomainDir, OpenError, Segment, View};
use crate::sync::Ordering;
use crate::testing::{role, role_root, watched, Scratch};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

const PAGES: usize = 4;
const LEN: usize = PAGES * 4096;

/// Cuts a file as whoever may write there can: its owner, who may give himself the right, and root.
fn cut(dir: &DomainDir, name: &str, len: u64) {
    let path = dir.path_of(name);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    File::options().write(true).open(path).unwrap().set_len(len).unwrap();
}

/// The first word of each page.
fn firsts(words: &[crate::sync::AtomicU64]) -> Vec<u64> {
    words.iter().step_by(4096 / 8).map(|word| word.load(Ordering::Relaxed)).collect()
}

#[test]
fn a_file_that_is_cut_short_under_its_readers_and_its_owner_reads_as_zeros() {
    let scratch = Scratch::new();
    let dir = scratch.domain();
    let segment = Segment::create(&dir, "a", LEN).unwrap();
    let view = View::open(&dir, "a").unwrap();
    let other = Segment::create(&dir, "b", LEN).unwrap();
    segment.words(0, LEN / 8).unwrap().iter().for_each(|word| word.store(7, Ordering::Relaxed));
    cut(&dir, "a", 4096);
    assert!(view.is_whole() && segment.is_whole(), "nobody has looked yet");
    assert_eq!(firsts(view.words(0, LEN / 8).unwrap()), [7, 0, 0, 0]);
    assert!(!view.is_whole() && segment.is_whole());
    let own = segment.words(0, LEN / 8).unwrap();
    own.iter().for_each(|word| word.store(9, Ordering::Relaxed));
    assert_eq!(firsts(own), [9; PAGES], "who stores there sees it, and nobody else");
    assert!(!segment.is_whole());
    assert_eq!(firsts(view.words(0, LEN / 8).unwrap()), [9, 0, 0, 0]);
    assert!(other.is_whole() && firsts(other.words(0, LEN / 8).unwrap()) == [0; PAGES]);
}

#[test]
fn a_file_that_was_cut_short_before_it_is_opened_is_an_error() {
    let scratch = Scratch::new();
    let dir = scratch.domain();
    drop(Segment::create(&dir, "a", LEN).unwrap());
    cut(&dir, "a", 100);
    let refused = Segment::open_rw(&dir, "a", LEN).unwrap_err();
    assert!(matches!(refused, OpenError::TooSmall { len: 100, .. }), "{refused}");
    assert_eq!(View::open(&dir, "a").unwrap().words(0, 13).map(<[_]>::len), None, "100 bytes are 12 words");
    cut(&dir, "a", 0);
    assert!(matches!(View::open(&dir, "a"), Err(OpenError::TooSmall { .. })));
}

#[test]
fn a_file_longer_than_any_segment_is_not_mapped() {
    let scratch = Scratch::new();
    let dir = scratch.domain();
    drop(Segment::create(&dir, "a", LEN).unwrap());
    cut(&dir, "a", super::MOST_BYTES as u64 + 1);
    assert!(matches!(View::open(&dir, "a"), Err(OpenError::AddressSpace { .. })));
    cut(&dir, "a", super::MOST_BYTES as u64);
    assert_eq!(View::open(&dir, "a").unwrap().len(), super::MOST_BYTES);
}

#[test]
fn threads_that_read_while_the_file_is_cut_and_grown_again_go_on() {
    watched(|| {
        let scratch = Scratch::new();
        let dir = scratch.domain();
        let segment = Segment::create(&dir, "a", LEN).unwrap();
        segment.words(0, LEN / 8).unwrap().iter().for_each(|word| word.store(7, Ordering::Relaxed));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let view = View::open(&dir, "a");
                        let Ok(view) = view else { continue };
                        let seen = firsts(view.words(0, view.len() / 8).unwrap());
                        assert!(seen.iter().all(|word| matches!(word, 0 | 7)), "{seen:?}");
                    }
                });
            }
            for _ in 0..200 {
                cut(&dir, "a", 4096);
                cut(&dir, "a", LEN as u64);
            }
        });
    });
}

/// Faults in a mapping that is none of ours, after ours was cut.
fn fault_elsewhere(root: &Path) {
    let scratch = DomainDir::open_or_create(root, crate::segment::Access::Owner, "7").unwrap();
    let segment = Segment::create(&scratch, "a", LEN).unwrap();
    cut(&scratch, "a", 0);
    assert_eq!(firsts(segment.words(0, LEN / 8).unwrap()), [0; PAGES]);
    let file = File::options().read(true).write(true).create(true).truncate(true).open(root.join("foreign")).unwrap();
    // SAFETY: a new mapping, longer than its empty file: the read is meant to fault.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0);
        at.cast::<u8>().read_volatile();
    }
}

#[test]
#[ignore = "a role of a_fault_that_is_not_ours_has_the_effect_it_had"]
fn default_role() {
    if let Some(root) = role_root() {
        // SAFETY: the default action is a valid one. (The test harness has a handler of its own.)
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
        fault_elsewhere(&root);
    }
}

extern "C" fn leave(_: libc::c_int) {
    // SAFETY: ends the process, and is async-signal-safe.
    unsafe { libc::_exit(42) };
}

#[test]
#[ignore = "a role of a_fault_that_is_not_ours_has_the_effect_it_had"]
fn handled_role() {
    if let Some(root) = role_root() {
        let handler: extern "C" fn(libc::c_int) = leave;
        // SAFETY: a handler of the right type that is async-signal-safe.
        unsafe { libc::signal(libc::SIGBUS, handler as libc::sighandler_t) };
        fault_elsewhere(&root);
    }
}

#[test]
#[ignore = "a role of a_fault_that_is_not_ours_has_the_effect_it_had"]
fn sent_role() {
    if let Some(root) = role_root() {
        // SAFETY: the default action is a valid one.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
        let dir = DomainDir::open_or_create(&root, crate::segment::Access::Owner, "7").unwrap();
        let _segment = Segment::create(&dir, "a", LEN).unwrap();
        // SAFETY: takes no pointer.
        unsafe { libc::raise(libc::SIGBUS) };
    }
}

#[test]
fn a_fault_that_is_not_ours_has_the_effect_it_had() {
    watched(|| {
        for (name, signal, code) in
            [("default", Some(libc::SIGBUS), None), ("handled", None, Some(42)), ("sent", Some(libc::SIGBUS), None)]
        {
            let scratch = Scratch::new();
            let name = format!("segment::fault::tests::{name}_role");
            let ended = role(&name, scratch.path(), &[]).output().unwrap();
            assert_eq!((ended.status.signal(), ended.status.code()), (signal, code), "{name}: {ended:?}");
        }
    });
}

#[test]
#[ignore = "a role of a_hole_for_which_there_is_no_room_reads_as_zeros"]
fn full_role() {
    let Some(root) = role_root() else { return };
    let target = std::ffi::CString::new(root.to_str().unwrap()).unwrap();
    let (tmpfs, size) = (c"tmpfs".as_ptr(), c"size=256k".as_ptr());
    // SAFETY: NUL-terminated texts that live through the call. The mount is this process's alone (unshare).
    let mounted = unsafe { libc::mount(tmpfs, target.as_ptr(), tmpfs, 0, size.cast()) };
    assert_eq!(mounted, 0, "{}", std::io::Error::last_os_error());
    let dir = DomainDir::open_or_create(&root, crate::segment::Access::Owner, "7").unwrap();
    let sparse = Segment::create_sparse(&dir, "sparse", 1 << 20).unwrap();
    let _hog = Segment::create(&dir, "hog", 200 << 10).unwrap();
    let seen = firsts(sparse.words(0, (1 << 20) / 8).unwrap());
    assert!(seen.iter().all(|word| *word == 0) && !sparse.is_whole());
}

#[test]
fn a_hole_for_which_there_is_no_room_reads_as_zeros() {
    watched(|| {
        let through = ["unshare", "-Urm"];
        let may = std::process::Command::new(through[0]).args(&through[1..]).arg("true").output();
        if !may.is_ok_and(|tried| tried.status.success()) {
            println!("skipped: this user may not make a mount namespace");
            return;
        }
        let scratch = Scratch::new();
        let ended = role("segment::fault::tests::full_role", scratch.path(), &through).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    });
}
