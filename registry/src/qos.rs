//! Resolved QoS profiles and the request/offer rules (DDS 1.4, section 2.2.3) that decide whether two endpoints match.

use crate::interest::Interest;

/// Which samples a ring keeps.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default)]
#[repr(u8)]
pub enum History {
    /// The last `depth` samples.
    #[default]
    KeepLast = 0,
    /// Every sample, up to the resource limit that `depth` names.
    KeepAll = 1,
}

/// Whether a sample may be dropped.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default)]
#[repr(u8)]
pub enum Reliability {
    /// Dropped when that is easier.
    BestEffort = 0,
    /// Kept for the reader as far as its history depth goes.
    #[default]
    Reliable = 1,
}

/// Whether a late reader gets what was published before it came.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default)]
#[repr(u8)]
pub enum Durability {
    /// It does not.
    #[default]
    Volatile = 0,
    /// It gets the last `depth` samples.
    TransientLocal = 1,
}

/// How a writer says that it is alive.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default)]
#[repr(u8)]
pub enum Liveliness {
    /// By its process being alive.
    #[default]
    Automatic = 0,
    /// By any writer of its node asserting it.
    ManualByNode = 1,
    /// By asserting it itself.
    ManualByTopic = 2,
}

/// A resolved profile: no system defaults, no "unknown". Durations are nanoseconds, [`Qos::INFINITE`] for none.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub struct Qos {
    /// Which samples are kept.
    pub history: History,
    /// How many samples are kept.
    pub depth: u32,
    /// Whether samples may be dropped.
    pub reliability: Reliability,
    /// Whether late readers get history.
    pub durability: Durability,
    /// How liveliness is asserted.
    pub liveliness: Liveliness,
    /// Longest time between two samples (offered: promised; requested: accepted).
    pub deadline: i64,
    /// Age after which a sample is not delivered any more.
    pub lifespan: i64,
    /// Time after which a silent writer counts as not alive.
    pub lease: i64,
}

impl Qos {
    /// A duration that never ends.
    pub const INFINITE: i64 = i64::MAX;
}

impl Default for Qos {
    /// The default profile of ROS 2: the last 10 samples, reliable, volatile.
    fn default() -> Qos {
        Qos {
            history: History::KeepLast,
            depth: 10,
            reliability: Reliability::Reliable,
            durability: Durability::Volatile,
            liveliness: Liveliness::Automatic,
            deadline: Qos::INFINITE,
            lifespan: Qos::INFINITE,
            lease: Qos::INFINITE,
        }
    }
}

/// The policy that keeps two endpoints apart (the names of `rmw_qos_policy_kind_t`).
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub enum PolicyKind {
    /// A best-effort writer and a reader that asked for reliable.
    Reliability,
    /// A volatile writer and a reader that asked for history.
    Durability,
    /// A writer that promises less often than its reader expects.
    Deadline,
    /// A writer that asserts its liveliness in a weaker way than asked.
    Liveliness,
    /// A writer that asserts its liveliness less often than asked.
    LivelinessLeaseDuration,
}

/// Whether a reader that requests `requested` may read from a writer that offers `offered`; else the first policy
/// that forbids it. History, depth and lifespan are local matters and never forbid a match.
pub fn qos_compatible(offered: &Qos, requested: &Qos) -> Result<(), PolicyKind> {
    let rules = [
        (offered.reliability >= requested.reliability, PolicyKind::Reliability),
        (offered.durability >= requested.durability, PolicyKind::Durability),
        (offered.deadline <= requested.deadline, PolicyKind::Deadline),
        (offered.liveliness >= requested.liveliness, PolicyKind::Liveliness),
        (offered.lease <= requested.lease, PolicyKind::LivelinessLeaseDuration),
    ];
    rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, policy)| Err(*policy))
}

/// Where the interest stands in the packed word.
pub(crate) const INTEREST: u32 = 12;

/// The bit of the packed word in which a publisher says that its stream is finished.
pub(crate) const FINISHED: u64 = 1 << 16;

/// The bit in which a publisher asks its readers to say how far they are.
pub(crate) const ASKS: u64 = 1 << 17;

/// The bit in which a subscription says that it has a bound: publishers keep no more samples for it than the depth in its
/// hot cell, whatever its history, and wait for none of them to be read.
pub(crate) const BOUNDED: u64 = 1 << 18;

/// The bit in which a bounded subscription says that publishers are to wait a while before they go beyond its bound.
pub(crate) const WAITS: u64 = 1 << 19;

/// The part of a profile that stands in a hot cell: `{reliability:2, durability:2, history:2, liveliness:3,
/// has_deadline:1, has_lifespan:1, has_lease:1, interest:4, finished:1, asks:1, bounded:1, waits:1, spare:12, depth:32}` from the low bit up. Interest,
/// end and question are no part of the profile: the owner sets them when it wants to be told of its peers ([`Interest`]), and when its
/// stream is finished.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
pub struct HotQos(pub(crate) u64);

/// The most samples that KEEP_ALL keeps for a reader that is behind, whatever depth its profile names.
pub const KEEP_ALL_DEPTH: u32 = 65_536;

/// The most samples that a service or client keeps for a peer that has not read them: a request or response that was
/// sent is not lost because nine others were sent at the same moment.
pub const SERVICE_DEPTH: u32 = 4_096;

impl HotQos {
    /// Packs a profile.
    pub fn pack(q: &Qos) -> HotQos {
        let has = |ns: i64, bit: u32| u64::from(ns != Qos::INFINITE) << bit;
        HotQos(
            q.reliability as u64
                | (q.durability as u64) << 2
                | (q.history as u64) << 4
                | (q.liveliness as u64) << 6
                | has(q.deadline, 9)
                | has(q.lifespan, 10)
                | has(q.lease, 11)
                | u64::from(q.depth) << 32,
        )
    }

    /// The same with another depth.
    pub(crate) fn with_depth(self, depth: u32) -> HotQos {
        HotQos(self.0 & u64::from(u32::MAX) | u64::from(depth) << 32)
    }

    /// History depth in samples.
    pub fn depth(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Whether samples may be dropped; a value no writer of this version stores reads as best effort.
    pub fn reliability(self) -> Reliability {
        if self.0 & 3 == Reliability::Reliable as u64 {
            Reliability::Reliable
        } else {
            Reliability::BestEffort
        }
    }

    /// Whether late readers get history; an unknown value reads as volatile.
    pub fn durability(self) -> Durability {
        if (self.0 >> 2) & 3 == Durability::TransientLocal as u64 {
            Durability::TransientLocal
        } else {
            Durability::Volatile
        }
    }

    /// Which samples are kept; an unknown value, and what has a bound, reads as keep last.
    pub fn history(self) -> History {
        if (self.0 >> 4) & 3 == History::KeepAll as u64 && self.0 & BOUNDED == 0 {
            History::KeepAll
        } else {
            History::KeepLast
        }
    }

    /// What decides a match, unless a duration that matters to it stands in the detail slot alone: then `None`. The
    /// lifespan does not matter and reads as infinite.
    pub fn for_match(self) -> Option<Qos> {
        if self.has_deadline() || self.has_lease() {
            return None;
        }
        let kinds = [Liveliness::Automatic, Liveliness::ManualByNode, Liveliness::ManualByTopic];
        Some(Qos {
            history: self.history(),
            depth: self.depth(),
            reliability: self.reliability(),
            durability: self.durability(),
            liveliness: pick(self.0 >> 6 & 7, &kinds)?,
            ..Qos::default()
        })
    }

    /// What the endpoint wants to be woken for.
    pub fn interest(self) -> Interest {
        Interest(self.0 >> INTEREST & Interest::ALL)
    }

    /// Whether the publisher asks its readers to say how far they are.
    pub fn asks_progress(self) -> bool {
        self.0 & ASKS != 0
    }

    /// Whether publishers are to wait a while before they go beyond the bound of this subscription.
    pub fn is_waited_for(self) -> bool {
        self.0 & (BOUNDED | WAITS) == BOUNDED | WAITS
    }

    /// Whether the publisher has finished its stream.
    pub fn is_finished(self) -> bool {
        self.0 & FINISHED != 0
    }

    /// Whether the detail slot names a finite deadline.
    pub fn has_deadline(self) -> bool {
        self.0 >> 9 & 1 == 1
    }

    /// Whether the detail slot names a finite lifespan.
    pub fn has_lifespan(self) -> bool {
        self.0 >> 10 & 1 == 1
    }

    /// Whether the detail slot names a finite liveliness lease.
    pub fn has_lease(self) -> bool {
        self.0 >> 11 & 1 == 1
    }
}

/// Words a profile takes in a detail slot.
pub(crate) const QOS_WORDS: usize = 8;

pub(crate) fn to_words(q: &Qos) -> [u64; QOS_WORDS] {
    [
        q.history as u64,
        u64::from(q.depth),
        q.reliability as u64,
        q.durability as u64,
        q.liveliness as u64,
        q.deadline as u64,
        q.lifespan as u64,
        q.lease as u64,
    ]
}

/// `None` for a word that no writer of this layout version stores.
pub(crate) fn from_words(w: &[u64; QOS_WORDS]) -> Option<Qos> {
    Some(Qos {
        history: pick(w[0], &[History::KeepLast, History::KeepAll])?,
        depth: u32::try_from(w[1]).ok()?,
        reliability: pick(w[2], &[Reliability::BestEffort, Reliability::Reliable])?,
        durability: pick(w[3], &[Durability::Volatile, Durability::TransientLocal])?,
        liveliness: pick(w[4], &[Liveliness::Automatic, Liveliness::ManualByNode, Liveliness::ManualByTopic])?,
        deadline: w[5] as i64,
        lifespan: w[6] as i64,
        lease: w[7] as i64,
    })
}

fn pick<T: Copy>(word: u64, values: &[T]) -> Option<T> {
    values.get(usize::try_from(word).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every combination of offered and requested values, against the table of DDS 1.4 section 2.2.3.
    #[test]
    fn request_offer_rules_follow_the_dds_table() {
        let q = Qos::default();
        let rel = |r| Qos { reliability: r, ..q };
        use {Durability::*, Liveliness::*, Reliability::*};
        assert_eq!(qos_compatible(&rel(BestEffort), &rel(Reliable)), Err(PolicyKind::Reliability));
        assert_eq!(qos_compatible(&rel(Reliable), &rel(BestEffort)), Ok(()));
        let dur = |d| Qos { durability: d, ..q };
        assert_eq!(qos_compatible(&dur(Volatile), &dur(TransientLocal)), Err(PolicyKind::Durability));
        assert_eq!(qos_compatible(&dur(TransientLocal), &dur(Volatile)), Ok(()));
        let dl = |ns| Qos { deadline: ns, ..q };
        assert_eq!(qos_compatible(&dl(10), &dl(9)), Err(PolicyKind::Deadline));
        assert_eq!(qos_compatible(&dl(Qos::INFINITE), &dl(9)), Err(PolicyKind::Deadline));
        assert_eq!(qos_compatible(&dl(9), &dl(9)), Ok(()));
        let kinds = [Automatic, ManualByNode, ManualByTopic];
        for (i, &o) in kinds.iter().enumerate() {
            for (j, &r) in kinds.iter().enumerate() {
                let (o, r) = (Qos { liveliness: o, ..q }, Qos { liveliness: r, ..q });
                assert_eq!(qos_compatible(&o, &r).is_ok(), i >= j, "{o:?} {r:?}");
            }
        }
        let lease = |ns| Qos { lease: ns, ..q };
        assert_eq!(qos_compatible(&lease(2), &lease(1)), Err(PolicyKind::LivelinessLeaseDuration));
        assert_eq!(qos_compatible(&lease(1), &lease(2)), Ok(()));
        let local = Qos { history: History::KeepAll, depth: 1, lifespan: 1, ..q };
        assert_eq!(qos_compatible(&local, &q), Ok(()));
        assert_eq!(qos_compatible(&q, &local), Ok(()));
    }

    #[test]
    fn a_profile_survives_both_packings() {
        let q = Qos {
            history: History::KeepAll,
            depth: u32::MAX,
            reliability: Reliability::Reliable,
            durability: Durability::TransientLocal,
            liveliness: Liveliness::ManualByTopic,
            deadline: 5,
            lifespan: 6,
            lease: Qos::INFINITE,
        };
        assert_eq!(from_words(&to_words(&q)), Some(q));
        let hot = HotQos::pack(&q);
        assert_eq!((hot.depth(), hot.reliability(), hot.durability()), (q.depth, q.reliability, q.durability));
        assert_eq!((hot.history(), hot.has_deadline(), hot.has_lease()), (q.history, true, false));
        assert!(hot.has_lifespan());
        let deep = hot.with_depth(7);
        assert_eq!((deep.depth(), deep.with_depth(q.depth)), (7, hot));
        let mut bad = to_words(&q);
        bad[4] = 3;
        assert_eq!(from_words(&bad), None);
    }
}
