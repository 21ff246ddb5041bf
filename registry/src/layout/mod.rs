//! The registry file: where everything lies, and checked access to it. All unsafe code of this crate is here.
//!
//! ```text
//! header 4 KiB | buckets 2048 x 16 B | contexts 4096 x 1 KiB | directory 65536 x 8 B | hot 65536 x 64 B | details 65536 x 1 KiB
//! counters 1024 x 8 B
//! ```
//! The file is sparse: pages are reserved before their first use, and nobody touches an entry at or above the
//! committed counts of the header. Words are little endian, every field lies on an 8-byte grid.

mod context;
mod detail;
mod header;
mod hot;
mod map;
pub(crate) mod seqlock;
mod sys;
mod word;

pub(crate) use context::{ContextEntry, ContextState};
pub(crate) use detail::{pack_detail, DetailWords, CLOSED_AT, DAYS, DETAIL_WORDS, MAX_NAME};
pub(crate) use header::{Header, Identity};
pub use hot::HotCell;
pub(crate) use hot::DIED;
pub(crate) use map::Map;
pub(crate) use sys::{effective_uid, random_u64};
pub use word::SlotState;
pub(crate) use word::{Word, HASH_FIELD};

/// Name of the registry file in a domain directory.
pub(crate) const FILE: &str = "registry";
/// Version of everything this crate and the ring protocol lay out in shared memory.
pub(crate) const LAYOUT_VERSION: u64 = 4;
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"SHOALREG");

pub(crate) const MAX_CONTEXTS: usize = 4096;
pub(crate) const MAX_SLOTS: usize = 65536;
/// Slots whose pages are reserved together.
pub(crate) const SLOT_BATCH: usize = 64;
pub(crate) const BUCKETS: usize = 2048;
pub(crate) const HAZARDS: usize = 64;
/// Counters that the whole domain shares.
pub(crate) const COUNTERS: usize = 1024;

pub(crate) const HEADER_LEN: usize = 4096;
pub(crate) const BUCKET_LEN: usize = 16;
pub(crate) const CONTEXT_LEN: usize = 1024;
pub(crate) const HOT_LEN: usize = 64;
pub(crate) const DETAIL_LEN: usize = 1024;

pub(crate) const BUCKETS_AT: usize = HEADER_LEN;
pub(crate) const CONTEXTS_AT: usize = BUCKETS_AT + BUCKETS * BUCKET_LEN;
pub(crate) const DIRECTORY_AT: usize = CONTEXTS_AT + MAX_CONTEXTS * CONTEXT_LEN;
pub(crate) const HOT_AT: usize = DIRECTORY_AT + MAX_SLOTS * 8;
pub(crate) const DETAILS_AT: usize = HOT_AT + MAX_SLOTS * HOT_LEN;
pub(crate) const COUNTERS_AT: usize = DETAILS_AT + MAX_SLOTS * DETAIL_LEN;
pub(crate) const REGISTRY_LEN: usize = COUNTERS_AT + COUNTERS * 8;

const _: () = assert!(CONTEXTS_AT % 4096 == 0 && DIRECTORY_AT % 4096 == 0 && HOT_AT % 4096 == 0);
const _: () = assert!(COUNTERS_AT % 4096 == 0);
const _: () = assert!(DETAILS_AT % 4096 == 0 && MAX_SLOTS % SLOT_BATCH == 0);

/// Writes a NUL-padded string over `out`; false when it does not leave room for the final NUL or holds one itself.
fn write_text(out: &mut [u64], text: &str) -> bool {
    if text.len() >= out.len() * 8 || text.as_bytes().contains(&0) {
        return false;
    }
    for (i, word) in out.iter_mut().enumerate() {
        let mut bytes = [0; 8];
        let rest = text.as_bytes().get(i * 8..).unwrap_or(&[]);
        let n = rest.len().min(8);
        bytes[..n].copy_from_slice(&rest[..n]);
        *word = u64::from_le_bytes(bytes);
    }
    true
}

/// Reads a NUL-padded string; `None` unless it ends within `words` and is UTF-8.
fn read_text(words: &[u64]) -> Option<String> {
    let mut bytes = Vec::with_capacity(64);
    for word in words {
        let word = word.to_le_bytes();
        match word.iter().position(|&b| b == 0) {
            None => bytes.extend_from_slice(&word),
            Some(end) => {
                bytes.extend_from_slice(&word[..end]);
                return String::from_utf8(bytes).ok();
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_bounded_terminated_and_utf8() {
        let mut words = [u64::MAX; 4];
        assert!(write_text(&mut words, "/a/Ünïcode"));
        assert_eq!(read_text(&words).as_deref(), Some("/a/Ünïcode"));
        assert!(write_text(&mut words, &"x".repeat(31)));
        assert_eq!(read_text(&words), Some("x".repeat(31)));
        assert!(!write_text(&mut words, &"x".repeat(32)), "no room for the NUL");
        assert!(!write_text(&mut words, "a\0b"));
        assert_eq!(read_text(&[u64::MAX; 4]), None, "never ends");
        assert_eq!(read_text(&[0x00ff]), None, "not UTF-8");
    }
}
