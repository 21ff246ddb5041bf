use super::{Access, CreateError, DirError, DomainDir, OpenError, Segment, View};
use crate::sync::Ordering;
use crate::testing::{watched, Scratch};
use std::fs::Permissions;
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().mode() & 0o7777
}

fn uid() -> u32 {
    super::sys::effective_uid()
}

fn open(root: &Path) -> Result<DomainDir, DirError> {
    DomainDir::open_or_create(root, Access::Owner, "7")
}

#[test]
fn the_domain_is_closed_to_others_whatever_the_umask() {
    let scratch = Scratch::new();
    // SAFETY: umask cannot fail. Other tests running beside this one set all their modes themselves.
    let before = unsafe { libc::umask(0o277) };
    let dir = open(scratch.path());
    let segment = Segment::create(dir.as_ref().unwrap(), "a", 4096);
    let shared = Segment::create_sparse(dir.as_ref().unwrap(), "b", 4096);
    // SAFETY: as above.
    unsafe { libc::umask(before) };
    let dir = dir.unwrap();
    segment.and(shared).unwrap();
    assert_eq!(dir.path(), scratch.path().join(format!("shoal-{}", uid())).join("7"));
    assert_eq!((mode(dir.path()), mode(dir.path().parent().unwrap())), (0o700, 0o700));
    assert_eq!((mode(&dir.path_of("a")), mode(&dir.path_of("b"))), (0o400, 0o600));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 1, "no temporary directory is left");
}

#[test]
fn a_group_domain_is_open_to_its_group() {
    let scratch = Scratch::new();
    // SAFETY: getegid cannot fail.
    let gid = unsafe { libc::getegid() };
    let dir = DomainDir::open_or_create(scratch.path(), Access::Group(gid), "7").unwrap();
    Segment::create(&dir, "a", 4096).unwrap();
    Segment::create_sparse(&dir, "b", 4096).unwrap();
    assert!(dir.path().parent().unwrap().ends_with(format!("shoal-g{gid}")));
    assert_eq!((mode(dir.path()), mode(&dir.path_of("a")), mode(&dir.path_of("b"))), (0o2770, 0o440, 0o660));
}

#[test]
fn names_that_leave_the_directory_are_refused() {
    let scratch = Scratch::new();
    for name in ["", ".", "..", "a/b", "../x", ".hidden", "a\0b", &"x".repeat(201)] {
        let refused = DomainDir::open_or_create(scratch.path(), Access::Owner, name);
        assert!(matches!(refused, Err(DirError::BadName { .. })), "{name:?}");
    }
}

#[test]
fn symlinks_are_refused_and_named() {
    let scratch = Scratch::new();
    let parent = scratch.path().join(format!("shoal-{}", uid()));
    symlink("/tmp", &parent).unwrap();
    assert!(matches!(open(scratch.path()), Err(DirError::Symlink { path }) if path == parent));
    std::fs::remove_file(&parent).unwrap();
    let dir = open(scratch.path()).unwrap();
    symlink("/etc/hostname", dir.path_of("a")).unwrap();
    assert!(matches!(View::open(&dir, "a"), Err(OpenError::Symlink { .. })));
    assert!(matches!(Segment::create(&dir, "a", 64), Err(CreateError::Exists { .. })));
    assert!(matches!(Segment::open_rw(&dir, "a", 64), Err(OpenError::Symlink { .. })));
}

#[test]
fn a_file_in_the_place_of_the_directory_is_refused() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path().join(format!("shoal-{}", uid())), "x").unwrap();
    assert!(matches!(open(scratch.path()), Err(DirError::NotDirectory { .. })));
}

#[test]
fn a_directory_open_to_others_is_refused() {
    let scratch = Scratch::new();
    let path = open(scratch.path()).unwrap().path().to_owned();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(open(scratch.path()), Err(DirError::Mode { mode: 0o755, wanted: 0o700, .. })));
}

#[test]
fn strangers_are_refused_by_name() {
    let scratch = Scratch::new();
    let dir = open(scratch.path()).unwrap();
    Segment::create(&dir, "a", 4096).unwrap();
    if std::os::unix::fs::chown(dir.path_of("a"), Some(12345), None).is_err() {
        println!("skipped: giving files away needs root");
        return;
    }
    let refused = View::open(&dir, "a").unwrap_err();
    assert!(matches!(&refused, OpenError::NotOwner { owner, .. } if owner == "uid 12345"), "{refused}");
    std::os::unix::fs::chown(dir.path(), Some(12345), None).unwrap();
    let refused = open(scratch.path()).unwrap_err();
    assert!(matches!(&refused, DirError::NotOwner { owner, .. } if owner == "uid 12345"), "{refused}");
    assert!(refused.to_string().contains("SHOAL_GROUP"), "{refused}");
}

#[test]
fn creators_and_removers_may_race() {
    watched(|| {
        let scratch = Arc::new(Scratch::new());
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let scratch = scratch.clone();
                std::thread::spawn(move || (0..100).for_each(|_| open(scratch.path()).unwrap().remove_self()))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    });
}

#[test]
fn a_removed_directory_is_not_current() {
    let scratch = Scratch::new();
    let dir = open(scratch.path()).unwrap();
    assert!(dir.is_current());
    dir.remove_self();
    assert!(!dir.is_current());
    open(scratch.path()).unwrap();
    assert!(!dir.is_current(), "another directory of the same name is not ours");
}

#[test]
fn what_dead_creators_left_unfinished_goes_with_the_last_directory() {
    let scratch = Scratch::new();
    let dir = open(scratch.path()).unwrap();
    let user = dir.path().parent().unwrap().to_path_buf();
    let level = user.file_name().unwrap().to_str().unwrap();
    let unfinished = |name: &str| super::sys::temporary_name(name).unwrap();
    let dead = [user.join(unfinished("7")), user.join(unfinished("8")), scratch.path().join(unfinished(level))];
    let others = [scratch.path().join("other~0123456789abcdef"), scratch.path().join(format!("{level}~old"))];
    dead.iter().chain(&others).for_each(|path| std::fs::create_dir(path).unwrap());
    dir.remove_self();
    assert!(dead.iter().all(|path| !path.exists()) && !user.exists());
    assert!(others.iter().all(|path| path.exists()), "not ours");
}

#[test]
fn a_view_sees_what_the_owner_writes() {
    let scratch = Scratch::new();
    let dir = open(scratch.path()).unwrap();
    let owner = Segment::create(&dir, "a", 8192).unwrap();
    let view = View::open(&dir, "a").unwrap();
    owner.words(8184, 1).unwrap()[0].store(42, Ordering::Relaxed);
    assert_eq!(view.words(8184, 1).unwrap()[0].load(Ordering::Relaxed), 42);
    dir.unlink("a").unwrap();
    drop(owner);
    assert_eq!(view.words(8184, 1).unwrap()[0].load(Ordering::Relaxed), 42, "a view outlives its file");
    assert_eq!(dir.names().unwrap(), Vec::<String>::new());
}

#[test]
fn no_range_outside_or_askew_is_given() {
    let scratch = Scratch::new();
    let dir = open(scratch.path()).unwrap();
    let file = Segment::create(&dir, "a", 4096).unwrap();
    let view = View::open(&dir, "a").unwrap();
    for segment in [&file, &Segment::heap(4096)] {
        for (off, n) in
            [(4096, 1), (4, 1), (4089, 1), (0, 513), (8, usize::MAX / 8), (usize::MAX - 7, 1), (0, usize::MAX)]
        {
            assert!(segment.words(off, n).is_none() && view.words(off, n).is_none(), "{off} {n}");
        }
        for (off, len) in [(0, 4097), (4097, 0), (usize::MAX, 1), (1, usize::MAX)] {
            assert!(segment.bytes_mut_ptr(off, len).is_none() && view.bytes_ptr(off, len).is_none(), "{off} {len}");
        }
        assert!(segment.words(0, 512).is_some() && segment.words(4096, 0).is_some());
        assert!(!segment.punch(0, 4097) && !segment.punch(usize::MAX, 2) && !segment.punch(1, 4095));
    }
    assert!(view.words(0, 512).is_some());
    assert!(file.commit(4096, 1).is_err() && file.commit(usize::MAX, 2).is_err());
}

#[test]
fn odd_files_are_refused() {
    let scratch = Scratch::new();
    let dir = open(scratch.path()).unwrap();
    std::fs::write(dir.path_of("empty"), "").unwrap();
    std::fs::write(dir.path_of("short"), "12345").unwrap();
    std::fs::create_dir(dir.path_of("dir")).unwrap();
    let fifo = std::ffi::CString::new(dir.path_of("fifo").to_str().unwrap()).unwrap();
    // SAFETY: a NUL-terminated path.
    assert_eq!(unsafe { libc::mkfifo(fifo.as_ptr(), 0o600) }, 0);
    assert!(matches!(View::open(&dir, "empty"), Err(OpenError::TooSmall { .. })));
    assert!(matches!(Segment::open_rw(&dir, "short", 6), Err(OpenError::TooSmall { len: 5, needed: 6, .. })));
    for odd in ["dir", "fifo"] {
        assert!(matches!(watched_open(&dir, odd), Err(OpenError::NotRegular { .. })), "{odd}");
        assert!(matches!(Segment::open_rw(&dir, odd, 1), Err(OpenError::NotRegular { .. })), "{odd}");
    }
    assert!(matches!(View::open(&dir, "none"), Err(OpenError::Missing { .. })));
}

fn watched_open(dir: &DomainDir, name: &'static str) -> Result<View, OpenError> {
    let root = dir.path().parent().unwrap().parent().unwrap().to_owned();
    watched(move || View::open(&open(&root).unwrap(), name))
}

fn blocks(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().blocks() * 512
}

#[test]
fn a_sparse_segment_takes_space_where_it_is_committed_until_it_is_punched() {
    let scratch = Scratch::new();
    let dir = open(scratch.path()).unwrap();
    let segment = Segment::create_sparse(&dir, "a", 1 << 20).unwrap();
    let path = dir.path_of("a");
    assert_eq!(blocks(&path), 0);
    segment.commit(4096, 8192).unwrap();
    segment.words(4096, 1).unwrap()[0].store(7, Ordering::Relaxed);
    segment.commit(0, 16384).unwrap();
    assert_eq!(segment.words(4096, 1).unwrap()[0].load(Ordering::Relaxed), 7, "committing again keeps the content");
    let before = blocks(&path);
    assert!(before >= 16384);
    let page = super::sys::page_size();
    if !segment.punch(1, 2 * page) {
        println!("skipped: this file system cannot punch holes");
        return;
    }
    assert_eq!(before - blocks(&path), page as u64, "only the whole page inside is given back");
}

#[test]
fn a_failed_creation_leaves_no_file() {
    let scratch = Scratch::new();
    let dir = open(scratch.path()).unwrap();
    for len in [usize::MAX, 0] {
        assert!(Segment::create(&dir, "a", len).is_err(), "{len}");
    }
    assert!(dir.names().unwrap().is_empty());
}
