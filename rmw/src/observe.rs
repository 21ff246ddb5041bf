//! Looking at samples and at readers' progress from outside of a domain: nothing is announced, nothing is changed.

use std::sync::Arc;

use shoal_registry::{Detail, Observer};
use shoal_shm::drain;
use shoal_shm::ring;
use shoal_shm::segment::DomainDir;
use shoal_shm::sync::Ordering;

use crate::acks::read_by;
use crate::matching::{class_bit, is_lossless};
use crate::peers::{PeerViews, Peers};

/// How far a reader is behind an outlet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Lag {
    /// It has read everything.
    None,
    /// Something is unread, of this outlet or of another in the same of 64 classes. Only the reader knows how much.
    Some,
    /// So many samples. Readers say it where a publisher may have to wait for them (reliable, KEEP_ALL).
    Samples(u64),
}

/// Looks into the memory of a domain's contexts. What it maps is unmapped after each look.
pub struct Peek {
    peers: Peers,
}

impl Peek {
    /// Of the domain in this directory.
    pub fn new(dir: &Arc<DomainDir>) -> Peek {
        Peek { peers: Peers::new(dir.clone()) }
    }

    /// Bytes of an outlet's newest sample; `None` when there is none, or it is being replaced.
    pub fn newest_size(&self, domain: &Observer, outlet: &Detail) -> Option<u32> {
        let hot = domain.hot(outlet.slot.index)?;
        let head = hot.head().load(Ordering::Acquire);
        let mut views = PeerViews::new(outlet.ctx_id);
        ring::read_size(&views.reach(&self.peers), hot.ring(), head)
    }

    /// How far `reader` is behind `outlet`, which it matches. `None` when one of them is gone.
    pub fn lag(&self, domain: &Observer, reader: &Detail, outlet: &Detail) -> Option<Lag> {
        let (from, to) = (domain.hot(outlet.slot.index)?, domain.hot(reader.slot.index)?);
        if from.ctx_id() != outlet.ctx_id || to.ctx_id() != reader.ctx_id {
            return None;
        }
        if is_lossless(&outlet.qos) && is_lossless(&reader.qos) {
            let head = from.head().load(Ordering::Acquire);
            let mut views = PeerViews::new(reader.ctx_id);
            let read = read_by(&views.reach(&self.peers), to.ring(), outlet.slot)?;
            return Some(samples(head.saturating_sub(read)));
        }
        let drained = drain::is_drained(to.pending(), to.draining(), class_bit(outlet.slot));
        Some(if drained { Lag::None } else { Lag::Some })
    }
}

fn samples(n: u64) -> Lag {
    match n {
        0 => Lag::None,
        n => Lag::Samples(n),
    }
}
