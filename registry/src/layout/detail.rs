//! The detail slot: what graph queries show. Read as a whole under the directory word, then checked.
//!
//! ```text
//! words   0..32   topic, service or node name, NUL-padded
//!        32..64   type name, or the node's namespace
//!        64       node: a slot in one word (`SlotId::word`), or 0
//!        65       version of the type hash
//!        66..70   type hash
//!        70..78   QoS: history, depth, reliability, durability, liveliness, deadline, lifespan, lease
//!        78       flags (the user's)
//!        79       closed at: graph generation when an outlet closed, 0 until then; not part of a snapshot
//!        80..88   ends of a publisher's days (`shoal_shm::ending`); not part of a snapshot
//! ```

use crate::ident::SlotId;
use crate::layout::{read_text, write_text};
use crate::qos::{from_words, to_words, Qos, QOS_WORDS};
use crate::Registration;

/// Words of a detail slot that are in use.
pub(crate) const DETAIL_WORDS: usize = 80;
/// Of the words from here on, each changes while the slot keeps its tenant.
pub(crate) const CLOSED_AT: usize = 79;
/// The words about the ends of days.
pub(crate) const DAYS: std::ops::Range<usize> = 80..80 + shoal_shm::ending::WORDS;
/// Longest name, type name or namespace in bytes.
pub(crate) const MAX_NAME: usize = 255;

const NAME: usize = 0;
const TYPE: usize = 32;
const NODE: usize = 64;
const HASH: usize = 65;
const QOS: usize = 70;
const FLAGS: usize = 78;

/// A private copy of a detail slot, not yet believed.
pub(crate) struct DetailWords(pub(crate) [u64; DETAIL_WORDS]);

impl DetailWords {
    pub(crate) fn name(&self) -> Option<String> {
        read_text(&self.0[NAME..TYPE])
    }

    pub(crate) fn type_name(&self) -> Option<String> {
        read_text(&self.0[TYPE..NODE])
    }

    pub(crate) fn node(&self) -> Option<SlotId> {
        SlotId::of_word(self.0[NODE])
    }

    pub(crate) fn type_hash(&self) -> (u8, [u8; 32]) {
        let mut hash = [0; 32];
        for (i, w) in self.0[HASH + 1..QOS].iter().enumerate() {
            hash[i * 8..(i + 1) * 8].copy_from_slice(&w.to_le_bytes());
        }
        (self.0[HASH] as u8, hash)
    }

    pub(crate) fn qos(&self) -> Option<Qos> {
        let words: &[u64; QOS_WORDS] = self.0[QOS..FLAGS].try_into().ok()?;
        from_words(words)
    }

    pub(crate) fn flags(&self) -> u64 {
        self.0[FLAGS]
    }
}

/// `None` when a name does not fit or holds a NUL; the caller has the better error.
pub(crate) fn pack_detail(r: &Registration<'_>) -> Option<DetailWords> {
    let mut w = [0; DETAIL_WORDS];
    if !write_text(&mut w[NAME..TYPE], r.name) || !write_text(&mut w[TYPE..NODE], r.type_name) {
        return None;
    }
    w[NODE] = r.node.map_or(0, SlotId::word);
    w[HASH] = u64::from(r.type_hash.0);
    for (word, bytes) in w[HASH + 1..QOS].iter_mut().zip(r.type_hash.1.chunks_exact(8)) {
        *word = bytes.iter().rev().fold(0, |acc, &b| acc << 8 | u64::from(b));
    }
    w[QOS..FLAGS].copy_from_slice(&to_words(&r.qos));
    w[FLAGS] = r.flags;
    Some(DetailWords(w))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn a_detail_slot_gives_back_what_was_packed() {
        let mut hash = [0; 32];
        (0..32).for_each(|i| hash[i] = i as u8 + 1);
        let r = Registration {
            kind: Kind::Publisher,
            name: "/chatter",
            type_name: "std_msgs/msg/String",
            node: Some(SlotId { index: 65535, incarnation: 65535 }),
            type_hash: (1, hash),
            qos: Qos { depth: 3, deadline: 77, ..Qos::default() },
            endpoint: 9,
            flags: 5,
        };
        let d = pack_detail(&r).expect("fits");
        assert_eq!(d.name().as_deref(), Some("/chatter"));
        assert_eq!(d.type_name().as_deref(), Some("std_msgs/msg/String"));
        assert_eq!((d.node(), d.type_hash()), (r.node, r.type_hash));
        assert_eq!((d.qos(), d.flags()), (Some(r.qos), 5));
        assert!(pack_detail(&Registration { name: &"x".repeat(MAX_NAME), ..r }).is_some());
        assert!(pack_detail(&Registration { name: &"x".repeat(MAX_NAME + 1), ..r }).is_none());
    }
}
