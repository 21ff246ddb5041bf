//! Writing over the files of a domain.

use shoal_shm::segment::{DomainDir, Segment};
use shoal_shm::sync::{AtomicU64, Ordering};

use crate::input::Input;

const HEADER: usize = 4096;
const BUCKETS: usize = 2048 * 16;
const CONTEXTS: usize = 4096 * 1024;
const DIRECTORY: usize = 65_536 * 8;
const HOT: usize = 65_536 * 64;
const DETAILS: usize = 65_536 * 1024;
const REGISTRY: usize = HEADER + BUCKETS + CONTEXTS + DIRECTORY + HOT + DETAILS;

/// Entries of each table that are in use, or might be.
const ENTRIES: usize = 24;

/// A domain's files, writable. Every word of the registry but its identity may be damaged.
pub(super) struct Files {
    registry: Segment,
    segments: Vec<Segment>,
}

impl Files {
    /// Opens them as whoever owns them can.
    pub(super) fn open(dir: &DomainDir) -> Files {
        let writable = |name: &str, len: Option<usize>| {
            let path = dir.path_of(name);
            let found = std::fs::metadata(&path).expect("a file of the domain");
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&path, mode).expect("a file of our own");
            let len = len.unwrap_or_else(|| usize::try_from(found.len()).expect("a short file"));
            Segment::open_rw(dir, name, len).expect("a file of our own")
        };
        let mut names = dir.names().expect("the domain's directory");
        names.sort();
        let segments = names.iter().filter(|name| name.contains('.')).map(|name| writable(name, None)).collect();
        Files { registry: writable("registry", Some(REGISTRY)), segments }
    }

    /// Changes words, for as long as the input says so.
    pub(super) fn damage(&self, input: &mut Input<'_>) {
        for _ in 0..1 + input.below(6) {
            let Some(word) = self.choose(input) else { continue };
            let now = word.load(Ordering::Relaxed);
            let value = match input.byte() % 4 {
                // What stands elsewhere is plausible.
                0 => self.choose(input).map_or(0, |other| other.load(Ordering::Relaxed)),
                _ => input.changed(now),
            };
            word.store(value, Ordering::Relaxed);
        }
    }

    fn choose(&self, input: &mut Input<'_>) -> Option<&AtomicU64> {
        let (tables, entry) = (HEADER + BUCKETS, input.below(ENTRIES));
        let (directory, hot) = (tables + CONTEXTS, tables + CONTEXTS + DIRECTORY);
        let at = match input.byte() % 16 {
            0 => 64 + 8 * input.below(HEADER / 8 - 8),
            1 => HEADER + 8 * input.below(BUCKETS / 8),
            2 => tables + entry % 4 * 1024 + 8 * input.below(128),
            3..=5 => directory + entry * 8,
            6..=8 => hot + entry * 64 + 8 * input.below(8),
            9..=10 => hot + HOT + entry * 1024 + 8 * input.below(80),
            11 => [128, 136][entry % 2],
            _ => return self.of_segment(input),
        };
        self.registry.words(at, 1)?.first()
    }

    fn of_segment(&self, input: &mut Input<'_>) -> Option<&AtomicU64> {
        let segment = self.segments.get(input.below(self.segments.len().max(1)))?;
        // The beginning of each line, where states, sizes and identities are, more often than not.
        let line = input.below((segment.len() / 64).min(1 << 16));
        segment.words(line * 64 + 8 * input.below(8), 1)?.first()
    }
}
