//! Who matches and who does not: each peer is counted once, when it is first seen in the graph.

use parking_lot::Mutex;
use shoal_registry::{qos_compatible, Found, Interest, Kind, PolicyKind, Qos, SlotId, SlotState};
use shoal_shm::sync::{AtomicU32, Ordering};

use super::count::Count;
use super::liveliness::{Life, Living};
use super::unread::Unread;
use super::{Endpoint, EventKind, MatchedStatus, Status};
use crate::clock::mono_ns;

/// An endpoint's peers as of a generation of its topic, and what was counted about them.
pub(super) struct PeerEvents {
    topic: Box<str>,
    /// Kinds that are watched, by their bits.
    watched: AtomicU32,
    /// Kinds of which something happened that was not taken: most looks need no more than this.
    unread: Unread,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By slot.
    peers: Vec<Peer>,
    ever: Count,
    current: u64,
    current_taken: u64,
    /// Peers that came, and peers that went.
    moves: Count,
    qos: Count,
    policy: Option<PolicyKind>,
    types: Count,
    living: Living,
}

#[derive(Clone, Copy)]
struct Peer {
    slot: SlotId,
    relation: Relation,
    context_id: u64,
    /// Of a publisher that matches.
    life: Option<Life>,
}

#[derive(Clone, Copy, PartialEq)]
enum Relation {
    Matched,
    Mismatch,
    OtherType,
    /// Of another topic with the same hash.
    Stranger,
}

impl PeerEvents {
    pub(super) fn new(topic: &str) -> Self {
        Self {
            topic: topic.into(),
            watched: AtomicU32::new(0),
            unread: Unread::new(),
            state: Mutex::new(State::default()),
        }
    }

    /// Makes peers ring for this kind of event, and looks who is there.
    pub(super) fn watch(&self, endpoint: &Endpoint, kind: EventKind) {
        let Some(interest) = interest(endpoint, kind) else { return };
        let bit = bit(kind);
        if self.watched.load(Ordering::Relaxed) & bit == 0 {
            endpoint.registry.want(endpoint.slot, interest);
            self.watched.fetch_or(bit, Ordering::Relaxed);
            self.refresh(endpoint);
        }
    }

    /// Whether something happened that was not taken.
    pub(super) fn is_ready(&self, endpoint: &Endpoint, kind: EventKind) -> bool {
        if kind == EventKind::Liveliness {
            let (happened, taken) = self.counts(endpoint, kind);
            return happened != taken;
        }
        self.refresh(endpoint);
        self.unread.has(bit(kind))
    }

    pub(super) fn counts(&self, endpoint: &Endpoint, kind: EventKind) -> (u64, u64) {
        self.refresh(endpoint);
        let state = &mut *self.state.lock();
        match kind {
            EventKind::IncompatibleQos => state.qos.counts(),
            EventKind::IncompatibleType => state.types.counts(),
            EventKind::Liveliness => {
                state.pulse(endpoint);
                state.living.counts()
            }
            _ => state.moves.counts(),
        }
    }

    pub(super) fn take(&self, endpoint: &Endpoint, kind: EventKind) -> Status {
        self.refresh(endpoint);
        let state = &mut *self.state.lock();
        self.unread.take(bit(kind));
        match kind {
            EventKind::IncompatibleQos => Status::IncompatibleQos(state.qos.take(), state.policy),
            EventKind::IncompatibleType => Status::Counted(state.types.take()),
            EventKind::Liveliness => {
                state.pulse(endpoint);
                Status::Liveliness(state.living.take())
            }
            _ => Status::Matched(state.take_matched()),
        }
    }

    /// When the next lease of a publisher ends.
    pub(super) fn next_moment(&self) -> Option<u64> {
        let state = self.state.lock();
        state.peers.iter().filter_map(|peer| peer.life?.next_moment()).min()
    }

    /// Looks again where the topic has changed since the last look.
    fn refresh(&self, endpoint: &Endpoint) {
        let generation = match endpoint.kind {
            Kind::Publisher => endpoint.registry.inlets_generation(endpoint.channel.topic),
            _ => endpoint.registry.outlets_generation(endpoint.channel.topic),
        };
        // ORDERING(registry.generation): read before the scan, so that a change during it is looked at again.
        let now = generation.load(Ordering::Acquire);
        if !endpoint.registry.is_forked() {
            self.unread.refresh(now, |unread| self.scan(endpoint, unread));
        }
    }

    #[cold]
    fn scan(&self, endpoint: &Endpoint, unread: &AtomicU32) {
        let state = &mut *self.state.lock();
        let known = std::mem::take(&mut state.peers);
        let peers = match endpoint.kind {
            Kind::Publisher => Kind::Subscription,
            _ => Kind::Publisher,
        };
        endpoint.registry.for_each_matching(&[peers], endpoint.channel.topic, 0, &mut |found| {
            if found.state != SlotState::Live {
                return;
            }
            match find(&known, found.slot) {
                Some(peer) => state.peers.push(peer),
                // One that cannot be read is going: that moves the generation.
                None => self.meet(state, endpoint, &found).unwrap_or_default(),
            }
        });
        for peer in known.iter().filter(|peer| peer.relation == Relation::Matched) {
            if find(&state.peers, peer.slot).is_none() {
                state.went(endpoint, peer);
            }
        }
        unread.store(state.unread(), Ordering::Relaxed);
    }

    /// Counts a peer that is seen for the first time.
    fn meet(&self, state: &mut State, endpoint: &Endpoint, found: &Found<'_>) -> Option<()> {
        let context_id = found.hot.ctx_id();
        let detail = || endpoint.registry.detail(found.slot);
        if found.hot.match_key() != endpoint.channel.match_key {
            let same = *detail()?.name == *self.topic;
            let relation = if same { Relation::OtherType } else { Relation::Stranger };
            state.types.add(u64::from(same));
            state.peers.push(Peer { slot: found.slot, relation, context_id, life: None });
            return Some(());
        }
        let peer: Qos = match found.hot.qos().for_match() {
            Some(qos) => qos,
            None => detail()?.qos,
        };
        let verdict = match endpoint.kind {
            Kind::Publisher => qos_compatible(&endpoint.qos, &peer),
            _ => qos_compatible(&peer, &endpoint.qos),
        };
        let (relation, life) = match verdict {
            Ok(()) => (Relation::Matched, state.matched(endpoint, &peer)),
            Err(policy) => (state.mismatched(policy), None),
        };
        state.peers.push(Peer { slot: found.slot, relation, context_id, life });
        Some(())
    }
}

fn interest(endpoint: &Endpoint, kind: EventKind) -> Option<Interest> {
    match kind {
        EventKind::Liveliness => (endpoint.kind == Kind::Subscription).then_some(Interest::MATCHED),
        EventKind::Matched => Some(Interest::MATCHED),
        EventKind::IncompatibleQos => Some(Interest::INCOMPATIBLE_QOS),
        EventKind::IncompatibleType => Some(Interest::INCOMPATIBLE_TYPE),
        EventKind::DeadlineMissed | EventKind::MessageLost => None,
    }
}

fn bit(kind: EventKind) -> u32 {
    1 << kind as u32
}

impl State {
    /// The kinds with something that was not taken.
    fn unread(&self) -> u32 {
        let kinds = [
            (EventKind::Matched, self.moves.counts()),
            (EventKind::IncompatibleQos, self.qos.counts()),
            (EventKind::IncompatibleType, self.types.counts()),
        ];
        kinds.iter().filter(|(_, (happened, taken))| happened != taken).fold(0, |bits, (kind, _)| bits | bit(*kind))
    }

    fn matched(&mut self, endpoint: &Endpoint, peer: &Qos) -> Option<Life> {
        self.ever.add(1);
        self.moves.add(1);
        self.current += 1;
        (endpoint.kind == Kind::Subscription).then(|| self.living.came(peer))
    }

    fn mismatched(&mut self, policy: PolicyKind) -> Relation {
        self.qos.add(1);
        self.policy = Some(policy);
        Relation::Mismatch
    }

    fn went(&mut self, endpoint: &Endpoint, peer: &Peer) {
        self.current -= 1;
        self.moves.add(1);
        if let Some(life) = peer.life {
            self.living.went(life, endpoint.registry.died(peer.slot, peer.context_id));
        }
    }

    /// Looks at what the manual publishers said last.
    fn pulse(&mut self, endpoint: &Endpoint) {
        let now = mono_ns();
        for peer in &mut self.peers {
            if let (Some(life), Some(hot)) = (&mut peer.life, endpoint.registry.hot(peer.slot.index)) {
                self.living.pulse(life, hot.asserted(), now);
            }
        }
    }

    fn take_matched(&mut self) -> MatchedStatus {
        self.moves.take();
        let before = std::mem::replace(&mut self.current_taken, self.current);
        let current_change = self.current as i64 - before as i64;
        MatchedStatus { ever: self.ever.take(), current: self.current, current_change }
    }
}

/// The directory is scanned in the order of its slots, so the list is sorted by index.
fn find(peers: &[Peer], slot: SlotId) -> Option<Peer> {
    let at = peers.binary_search_by_key(&slot.index, |peer| peer.slot.index).ok()?;
    peers.get(at).copied().filter(|peer| peer.slot == slot)
}
