//! Two looks and what lies between them.

use crate::snapshot::Snapshot;
use shoal_registry::{qos_compatible, Detail, Kind, Observer, SlotId};
use shoal_rmw::observe::{Lag, Peek};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Of an outlet.
struct Head {
    head: u64,
    size: Option<u32>,
}

/// One look.
pub struct Sample {
    at: Instant,
    snapshot: Snapshot,
    heads: HashMap<(SlotId, u64), Head>,
    /// How far behind each reader is with what it is furthest behind.
    lags: HashMap<SlotId, Lag>,
}

impl Sample {
    pub fn take(observer: &Observer, peek: &Peek, snapshot: Snapshot) -> Sample {
        let mut heads = HashMap::new();
        for outlet in snapshot.live.iter().filter(|d| is_outlet(d.kind)) {
            if let Some(hot) = observer.hot(outlet.slot.index) {
                let head = hot.head().load(Ordering::Acquire);
                let size = (head > 0).then(|| peek.newest_size(observer, outlet)).flatten();
                heads.insert((outlet.slot, outlet.ctx_id), Head { head, size });
            }
        }
        let lags = lags(observer, peek, &snapshot);
        Sample { at: Instant::now(), snapshot, heads, lags }
    }
}

fn is_outlet(kind: Kind) -> bool {
    matches!(kind, Kind::Publisher | Kind::Client)
}

fn lags(observer: &Observer, peek: &Peek, s: &Snapshot) -> HashMap<SlotId, Lag> {
    let mut lags = HashMap::new();
    for endpoints in s.by_name([Kind::Publisher, Kind::Subscription]).values() {
        let of = |kind| endpoints.iter().filter(move |e| e.kind == kind);
        for reader in of(Kind::Subscription) {
            let matched = of(Kind::Publisher).filter(|outlet| {
                outlet.type_hash == reader.type_hash && qos_compatible(&outlet.qos, &reader.qos).is_ok()
            });
            if let Some(worst) = matched.filter_map(|outlet| peek.lag(observer, reader, outlet)).max_by_key(rank) {
                lags.insert(reader.slot, worst);
            }
        }
    }
    lags
}

fn rank(lag: &Lag) -> u64 {
    match lag {
        Lag::None => 0,
        Lag::Some => 1,
        Lag::Samples(n) => 1 + n,
    }
}

/// How a topic or service moved.
pub struct Flow {
    pub name: String,
    /// Publishers or clients, subscriptions or services.
    pub outlets: usize,
    pub inlets: usize,
    /// Samples or requests in a second, of all outlets.
    pub rate: f64,
    /// Bytes of the newest sample, where one is to be had.
    pub size: Option<u32>,
    /// Of the reader that is furthest behind; `None` without readers.
    pub lag: Option<Lag>,
    /// Readers that have something unread.
    pub behind: usize,
}

/// How a context moved.
pub struct Process {
    pub id: u64,
    pub pid: u32,
    pub memory: u64,
    /// Wake-ups by others in a second.
    pub rings: f64,
    pub parked: bool,
    pub endpoints: usize,
}

/// What lies between two looks.
pub struct Rates {
    pub domain: String,
    pub seconds: f64,
    pub memory: u64,
    pub nodes: usize,
    /// Busiest first.
    pub topics: Vec<Flow>,
    pub services: Vec<Flow>,
    pub processes: Vec<Process>,
}

impl Rates {
    pub fn between(before: &Sample, now: &Sample) -> Rates {
        let seconds = (now.at - before.at).as_secs_f64().max(1e-9);
        let flows = |kinds| {
            let mut flows: Vec<Flow> = by_name(&now.snapshot, kinds)
                .into_iter()
                .map(|(name, endpoints)| flow(name, &endpoints, before, now, seconds))
                .collect();
            flows.sort_by(|a, b| b.rate.total_cmp(&a.rate).then_with(|| a.name.cmp(&b.name)));
            flows
        };
        let (topics, services) = (flows([Kind::Publisher, Kind::Subscription]), flows([Kind::Client, Kind::Service]));
        Rates {
            domain: now.snapshot.domain.clone(),
            seconds,
            memory: now.snapshot.memory,
            nodes: now.snapshot.nodes().count(),
            topics,
            services,
            processes: processes(before, now, seconds),
        }
    }
}

fn by_name(s: &Snapshot, kinds: [Kind; 2]) -> BTreeMap<String, Vec<&Detail>> {
    let mut all: BTreeMap<String, Vec<&Detail>> = BTreeMap::new();
    for ((name, _), endpoints) in s.by_name(kinds) {
        all.entry(name.to_owned()).or_default().extend(endpoints);
    }
    all
}

fn flow(name: String, endpoints: &[&Detail], before: &Sample, now: &Sample, seconds: f64) -> Flow {
    let outlets: Vec<_> = endpoints.iter().filter(|d| is_outlet(d.kind)).collect();
    let lags: Vec<Lag> = endpoints.iter().filter_map(|d| now.lags.get(&d.slot)).copied().collect();
    let mut samples = 0;
    let mut size = None;
    for outlet in &outlets {
        let key = (outlet.slot, outlet.ctx_id);
        let Some(head) = now.heads.get(&key) else { continue };
        // One that came in between began at 0.
        let old = before.heads.get(&key).map_or(0, |old| old.head);
        samples += head.head.saturating_sub(old);
        size = size.max(head.size);
    }
    Flow {
        name,
        outlets: outlets.len(),
        inlets: endpoints.len() - outlets.len(),
        rate: samples as f64 / seconds,
        size,
        behind: lags.iter().filter(|lag| **lag != Lag::None).count(),
        lag: lags.into_iter().max_by_key(rank),
    }
}

fn processes(before: &Sample, now: &Sample, seconds: f64) -> Vec<Process> {
    let old: HashMap<u64, u32> = before.snapshot.contexts.iter().map(|c| (c.view.id, c.view.rings)).collect();
    let mut processes: Vec<Process> = now
        .snapshot
        .contexts
        .iter()
        .map(|c| {
            let rings = c.view.rings.wrapping_sub(old.get(&c.view.id).copied().unwrap_or(0)) & (u32::MAX >> 2);
            Process {
                id: c.view.id,
                pid: c.view.pid,
                memory: c.memory,
                rings: f64::from(rings) / seconds,
                parked: c.view.parked,
                endpoints: c.endpoints,
            }
        })
        .collect();
    processes.sort_by(|a, b| b.rings.total_cmp(&a.rings).then(b.memory.cmp(&a.memory)));
    processes
}
