//! What is in a domain, counted by a process that joins it for a moment.

use super::board::Board;
use super::survivors::LARGE;
use super::talk::{streams, DOMAIN};
use shoal_registry::{Detail, JoinOptions, Kind, Registry};
use shoal_shm::lock::LockFile;
use shoal_shm::ring::RingDesc;
use shoal_shm::segment::{Access, DomainDir};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Idle bytes that a context keeps in any case (`shoal_shm::arena`).
const IDLE: u64 = 1 << 20;

/// Bytes of the responses that the server keeps for a client: a victim leaves at most 30 of them unread, in a ring of 32
/// slots of 256 bytes.
const RESPONSES: u64 = 32 * 256;

/// A look at a domain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Audit {
    pub contexts: u64,
    pub slots: u64,
    pub life_bytes: u64,
    pub files: u64,
    /// Of all files but the registry, which keeps what it has once committed.
    pub bytes: u64,
    /// Of these, the ones that nothing explains: see [`explained`].
    pub unexplained: u64,
}

impl Audit {
    /// Joins the domain, looks for the dead, and counts all but itself.
    pub fn of_domain(root: &Path) -> Self {
        let options =
            JoinOptions { root: root.into(), access: Access::Owner, domain: DOMAIN.to_string(), enclave: "/".into() };
        let registry = Registry::join(&options).expect("a domain that can be joined");
        registry.sweep_now();
        let usage = registry.usage();
        let dir = DomainDir::open_or_create(root, Access::Owner, &options.domain).expect("its directory");
        let lock = LockFile::open(&dir, "lock").expect("its lock file");
        let is_held = |index: &u64| lock.is_held_by_another(1 + index).expect("a look at a lock");
        let life_bytes = (0..4096).filter(is_held).count() as u64 - 1;
        let files = dir.names().expect("its files");
        let sizes = sizes_by_context(&dir, &files);
        let slots = registry.snapshot();
        let unexplained = sizes.iter().map(|(id, bytes)| bytes.saturating_sub(explained(&registry, &slots, *id))).sum();
        Self {
            contexts: usage.contexts as u64 - 1,
            slots: usage.slots as u64,
            life_bytes,
            files: files.len() as u64,
            bytes: sizes.values().sum(),
            unexplained,
        }
    }

    /// Whether nothing of the victims is left, as far as it can be counted.
    pub fn is_like(&self, before: &Self) -> bool {
        let counts = |audit: &Self| (audit.contexts, audit.slots, audit.life_bytes);
        counts(self) == counts(before) && self.unexplained == 0
    }

    fn words(&self) -> [u64; 6] {
        [self.contexts, self.slots, self.life_bytes, self.files, self.bytes, self.unexplained]
    }

    /// Leaves it where [`read`](Self::read) finds it.
    pub fn write(&self, board: &Board) {
        board.audit.iter().zip(self.words()).for_each(|(word, value)| word.store(value, Ordering::Release));
    }

    /// What the last auditor has left.
    pub fn read(board: &Board) -> Self {
        let [contexts, slots, life_bytes, files, bytes, unexplained] =
            std::array::from_fn(|index| board.audit[index].load(Ordering::Acquire));
        Self { contexts, slots, life_bytes, files, bytes, unexplained }
    }
}

/// The bytes of each context's files; those of a file with another name count as context 0's.
fn sizes_by_context(dir: &DomainDir, files: &[String]) -> BTreeMap<u64, u64> {
    let mut sizes = BTreeMap::new();
    for name in files.iter().filter(|name| *name != "registry") {
        let id = name.split_once('.').and_then(|(id, _)| u64::from_str_radix(id, 16).ok()).unwrap_or(0);
        let size = std::fs::metadata(dir.path().join(name)).map_or(0, |found| found.blocks() * 512);
        *sizes.entry(id).or_default() += size;
    }
    sizes
}

/// The most bytes that a context holds at rest: its rings, which stay as long as they once had to be; the chunks in them;
/// and as much again, or [`IDLE`], that is idle. None for a context that is not in the graph. What a hazard of the dead kept
/// in a survivor's memory would come on top.
fn explained(registry: &Registry, slots: &[Detail], id: u64) -> u64 {
    let own: Vec<_> = slots.iter().filter(|slot| slot.ctx_id == id).collect();
    if own.is_empty() {
        return 0;
    }
    let in_use: u64 = own.iter().map(|slot| held_by(registry, slot)).sum();
    in_use + in_use.max(IDLE)
}

/// The bytes that an endpoint needs for what it keeps.
fn held_by(registry: &Registry, slot: &Detail) -> u64 {
    let ring = registry.hot(slot.slot.index).map_or(0, |hot| hot.ring().load(Ordering::Acquire));
    let Some(ring) = RingDesc::checked(ring) else { return 0 };
    let (each, chunks) = match (slot.kind, slot.name.as_str()) {
        (Kind::Service, _) => (RESPONSES, 0),
        // Its window, and the sample that is being written.
        (Kind::Publisher, "/large") => (0, (u64::from(streams()[2].1.depth) + 1) * LARGE as u64),
        _ => (0, 0),
    };
    ring.capacity() * (ring.stride() as u64 + each) + chunks
}
