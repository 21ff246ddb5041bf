//! What an entity of the graph is called: its kind, its slot, its GID.

/// What stands in a slot.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// A node.
    Node = 1,
    /// An outlet of samples.
    Publisher = 2,
    /// An inlet of samples.
    Subscription = 3,
    /// An inlet of requests (and the source of responses).
    Service = 4,
    /// An outlet of requests (and a reader of responses).
    Client = 5,
}

/// Which generation of its topic's bucket a change of this kind moves.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum Side {
    Outlet,
    Inlet,
    Neither,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] = [Kind::Node, Kind::Publisher, Kind::Subscription, Kind::Service, Kind::Client];

    pub(crate) fn from_bits(bits: u64) -> Option<Kind> {
        Kind::ALL.into_iter().find(|k| *k as u64 == bits)
    }

    pub(crate) fn side(self) -> Side {
        match self {
            Kind::Node => Side::Neither,
            Kind::Publisher | Kind::Client => Side::Outlet,
            Kind::Subscription | Kind::Service => Side::Inlet,
        }
    }

    /// The kind at the other end of a topic; `None` for what has no events.
    pub(crate) fn topic_peer(self) -> Option<Kind> {
        match self {
            Kind::Publisher => Some(Kind::Subscription),
            Kind::Subscription => Some(Kind::Publisher),
            Kind::Node | Kind::Service | Kind::Client => None,
        }
    }

    /// The kind whose `pending` and `draining` words say whether what this kind wrote is still unread. A client's
    /// requests are not kept for a service once the client is gone: nobody could answer them.
    pub(crate) fn lingers_for(self) -> Option<Kind> {
        match self {
            Kind::Publisher => Some(Kind::Subscription),
            Kind::Service => Some(Kind::Client),
            Kind::Node | Kind::Subscription | Kind::Client => None,
        }
    }
}

/// A slot and which of its successive tenants is meant.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub struct SlotId {
    /// Place in the directory.
    pub index: u32,
    /// Counts the tenants of that place, wrapping: the next one with the same number comes after 2^32 of them.
    pub incarnation: u32,
}

impl SlotId {
    /// In one word, which is never 0.
    pub fn word(self) -> u64 {
        PRESENT | u64::from(self.incarnation) << 24 | u64::from(self.index)
    }

    /// What [`word`](SlotId::word) made; `None` for a word that it never makes.
    pub fn of_word(word: u64) -> Option<SlotId> {
        let (index, incarnation) = ((word & 0xff_ffff) as u32, (word >> 24) as u32);
        (word >> 56 == PRESENT >> 56).then_some(SlotId { index, incarnation })
    }
}

/// The bit that keeps a packed slot from being 0.
const PRESENT: u64 = 1 << 63;

/// The GID of an endpoint: its context's random id, then its kind and its number within the context. Little endian.
pub fn gid(ctx_id: u64, kind: Kind, endpoint: u32) -> [u8; 16] {
    let mut out = [0; 16];
    out[..8].copy_from_slice(&ctx_id.to_le_bytes());
    out[8..].copy_from_slice(&((kind as u64) << 56 | u64::from(endpoint)).to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gids_differ_by_context_kind_and_number() {
        let g = gid(7, Kind::Publisher, 1);
        assert_ne!(g, gid(8, Kind::Publisher, 1));
        assert_ne!(g, gid(7, Kind::Subscription, 1));
        assert_ne!(g, gid(7, Kind::Publisher, 2));
        assert_eq!(g, gid(7, Kind::Publisher, 1));
    }

    #[test]
    fn unknown_kinds_are_refused() {
        assert_eq!(Kind::from_bits(5), Some(Kind::Client));
        assert_eq!(Kind::from_bits(0), None);
        assert_eq!(Kind::from_bits(6), None);
    }
}
