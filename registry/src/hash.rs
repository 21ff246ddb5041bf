//! Hashes that every process of a domain computes alike: FNV-1a with a final mix, independent of build and run.

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// How many low bits of a topic hash stand in a directory word.
pub(crate) const HASH_BITS: u32 = 24;
pub(crate) const HASH_MASK: u64 = (1 << HASH_BITS) - 1;

/// Hash of a topic, service or node name; only its low 24 bits are ever compared, its low 11 bits name the bucket.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub struct TopicHash(pub(crate) u64);

impl TopicHash {
    /// The hash of a plain ROS name such as `/chatter`.
    pub fn of(name: &str) -> TopicHash {
        // Not 0, which every free directory word would match.
        TopicHash((mix(absorb(BASIS, name.as_bytes())) & HASH_MASK).max(1))
    }
}

/// Names topic, type name and type hash in one word; never 0. Endpoints whose keys differ do not match.
pub fn match_key(topic: &str, type_name: &str, type_hash: &(u8, [u8; 32])) -> u64 {
    let mut h = absorb(BASIS, topic.as_bytes());
    // A NUL can stand in no name, so it keeps ("ab", "c") and ("a", "bc") apart.
    h = absorb(h, &[0]);
    h = absorb(h, type_name.as_bytes());
    h = absorb(h, &[0, type_hash.0]);
    h = absorb(h, &type_hash.1);
    mix(h).max(1)
}

fn absorb(mut h: u64, bytes: &[u8]) -> u64 {
    for &b in bytes {
        h = (h ^ u64::from(b)).wrapping_mul(PRIME);
    }
    h
}

fn mix(mut h: u64) -> u64 {
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_HASH: (u8, [u8; 32]) = (0, [0; 32]);

    #[test]
    fn hashes_are_the_same_in_every_build() {
        assert_eq!(TopicHash::of("/chatter").0, TopicHash::of("/chatter").0);
        assert_eq!(absorb(BASIS, b"a"), 0xaf63_dc4c_8601_ec8c, "published FNV-1a test vector");
        assert!(TopicHash::of("/rosout").0 <= HASH_MASK);
    }

    #[test]
    fn a_key_differs_when_any_part_differs() {
        let base = match_key("/t", "a/msg/B", &NO_HASH);
        assert_ne!(base, match_key("/u", "a/msg/B", &NO_HASH));
        assert_ne!(base, match_key("/t", "a/msg/C", &NO_HASH));
        assert_ne!(base, match_key("/t", "a/msg/B", &(1, [0; 32])));
        let mut other = [0; 32];
        other[31] = 1;
        assert_ne!(base, match_key("/t", "a/msg/B", &(0, other)));
        assert_ne!(match_key("/ta", "b", &NO_HASH), match_key("/t", "ab", &NO_HASH));
    }
}
