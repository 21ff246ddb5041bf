//! Other things than a domain's files in their places.

use std::io::Write;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};

use shoal_registry::{JoinOptions, Registry};
use shoal_shm::lock::LockFile;
use shoal_shm::segment::{Access, DomainDir, Segment, View};

use super::world::root;
use crate::input::Input;

const MAGIC: u64 = u64::from_le_bytes(*b"SHOALREG");
const REGISTRY: u64 = 4096 + 2048 * 16 + 4096 * 1024 + 65_536 * (8 + 64 + 1024);

fn options() -> JoinOptions {
    JoinOptions { root: root().join("files"), access: Access::Owner, domain: "d".into(), enclave: "/".into() }
}

/// Puts something under a name: a link, a folder, a pipe, or a file of some length that begins with some words.
fn put(input: &mut Input<'_>, path: &Path) {
    let outcome = match input.byte() % 8 {
        0 => symlink(root().join("elsewhere"), path),
        1 => symlink(path, path),
        2 => std::fs::create_dir(path),
        3 => pipe(path),
        _ => file(input, path),
    };
    // What stands there already stays, and so it should.
    let _ = outcome;
}

fn pipe(path: &Path) -> std::io::Result<()> {
    let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())?;
    // SAFETY: a NUL-terminated name that lives through the call.
    match unsafe { libc::mkfifo(name.as_ptr(), 0o600) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

fn file(input: &mut Input<'_>, path: &Path) -> std::io::Result<()> {
    let lengths = [0, 1, 8, 4095, 4096, 8192, REGISTRY - 1, REGISTRY, REGISTRY + 1, 1 << 40, u64::from(input.byte())];
    let len = input.pick(&lengths);
    let words =
        [input.pick(&[MAGIC, MAGIC, MAGIC, 0]), input.changed(1), input.changed(REGISTRY), input.changed(1 << 44)];
    let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    let mut file = std::fs::File::options().write(true).create_new(true).open(path)?;
    file.write_all(&bytes)?;
    file.set_permissions(PermissionsExt::from_mode(input.pick(&[0o600, 0o600, 0o400, 0o666])))?;
    file.set_len(len)
}

/// Every opener on every name; what opens is looked at.
fn open_all(dir: &DomainDir, input: &mut Input<'_>) {
    for name in ["registry", "lock", "0000000000000001.0", "~", "none"] {
        if let Ok(view) = View::open(dir, name) {
            let at = input.word() as usize % (view.len() + 9);
            for at in [0, at, view.len() - 1, view.len(), usize::MAX - 7] {
                assert!(view.words(at, 1).is_none() || at + 8 <= view.len());
                assert!(view.bytes_ptr(at, 2).is_none() || at + 2 <= view.len());
            }
            view.words(0, 1).map(|words| words[0].load(std::sync::atomic::Ordering::Relaxed));
        }
        let len = input.pick(&[1, 4096, REGISTRY as usize]);
        if let Ok(segment) = Segment::open_rw(dir, name, len) {
            assert_eq!(segment.len(), len);
        }
        assert!(Segment::create(dir, "new", 4096).is_ok() && dir.unlink("new").is_ok());
    }
}

fn user(root: &Path) -> PathBuf {
    let uid = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(root).expect("our own directory"));
    root.join(format!("shoal-{uid}"))
}

pub(super) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let top = options().root;
    std::fs::create_dir_all(&top).expect("shared memory can be written");
    let parent = user(&top);
    match input.byte() % 16 {
        0 => put(&mut input, &parent),
        1 => {
            std::fs::create_dir(&parent).expect("an empty directory");
            let _ = std::fs::set_permissions(&parent, PermissionsExt::from_mode(u32::from(input.byte())));
        }
        _ => in_the_domain(&mut input, &top),
    }
    if let Ok(registry) = Registry::join(&options()) {
        registry.snapshot();
        assert!(registry.is_whole());
    }
    let _ = std::fs::set_permissions(&parent, PermissionsExt::from_mode(0o700));
    std::fs::remove_dir_all(&top).expect("our own directory");
}

fn in_the_domain(input: &mut Input<'_>, top: &Path) {
    let dir = DomainDir::open_or_create(top, Access::Owner, "d").expect("an empty directory");
    let inhabited = input.byte() % 2 == 0;
    for _ in 0..input.below(4) {
        let name = input.pick(&["registry", "lock", "registry", "0000000000000001.0", "~"]);
        put(input, &dir.path_of(name));
    }
    open_all(&dir, input);
    // Somebody lives there: then what lies there is theirs, and must be refused where it is not what it should be. An
    // unfinished registry is waited for, which takes seconds: not here.
    let lock = LockFile::open(&dir, "lock").ok();
    let shared = lock.as_ref().is_some_and(|lock| lock.try_shared(0).unwrap_or(false));
    let begun = std::fs::metadata(dir.path_of("registry")).is_ok_and(|found| found.is_file() && found.len() >= 4096);
    let sealed = View::open(&dir, "registry").is_ok_and(|view| {
        view.words(0, 1).is_some_and(|words| words[0].load(std::sync::atomic::Ordering::Relaxed) == MAGIC)
    });
    if inhabited && shared && begun && sealed {
        if let Ok(registry) = Registry::join(&options()) {
            registry.snapshot();
            registry.sweep_now();
        }
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let seed = |step: u8| -> Vec<u8> { (0..60).map(|i: u8| i.wrapping_mul(step)).collect() };
    (1..12).map(seed).chain([vec![], vec![2, 0, 2, 0, 4, 7, 0, 1, 1, 0, 0]]).collect()
}
