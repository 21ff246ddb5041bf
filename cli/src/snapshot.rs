//! A domain as it is at one moment.

use shoal_registry::{ContextLife, ContextView, Detail, Kind, Observer, SlotId, SlotState, Usage};
use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A context and what is its own.
pub struct ContextEntry {
    pub view: ContextView,
    /// Bytes of its files.
    pub memory: u64,
    pub nodes: usize,
    /// Endpoints in the graph.
    pub endpoints: usize,
    /// Endpoints that are closed, kept because somebody still has to read them.
    pub closed: usize,
}

pub struct Snapshot {
    pub domain: String,
    pub path: PathBuf,
    pub contexts: Vec<ContextEntry>,
    /// Nodes and endpoints in the graph whose process lives by the kernel's word.
    pub live: Vec<Detail>,
    /// Those whose process does not live, and that nobody has cleared away yet.
    pub dead: Vec<Detail>,
    pub usage: Usage,
    pub generation: u64,
    /// Bytes of all files of the domain.
    pub memory: u64,
}

impl Snapshot {
    pub fn take(observer: &Observer, domain: &str) -> Snapshot {
        let (usage, generation) = (observer.usage(), observer.graph_generation());
        // The slots before their owners: who is found dead then was dead when its slots were shown as alive.
        let slots = observer.slots();
        let views = observer.contexts();
        let path = observer.dir().path().to_owned();
        let files = files(&path);
        let lives: HashMap<(u16, u64), ContextLife> = views.iter().map(|c| ((c.index, c.id), c.life)).collect();
        let owner = |d: &Detail| lives.get(&(d.ctx, d.ctx_id)).copied();
        let own = |c: &ContextView, f: &dyn Fn(&Detail) -> bool| {
            slots.iter().filter(|d| (d.ctx, d.ctx_id) == (c.index, c.id) && f(d)).count()
        };
        let contexts = views.iter().map(|view| ContextEntry {
            memory: files.get(&format!("{:016x}", view.id)).copied().unwrap_or(0),
            nodes: own(view, &|d| d.kind == Kind::Node),
            endpoints: own(view, &|d| d.kind != Kind::Node && d.state != SlotState::Closed),
            closed: own(view, &|d| d.state == SlotState::Closed),
            view: view.clone(),
        });
        let contexts = contexts.collect();
        let memory = files.values().sum();
        let in_graph = |d: &&Detail| d.state == SlotState::Live && owner(d) == Some(ContextLife::Alive);
        let live = slots.iter().filter(in_graph).cloned().collect();
        let dead = slots.iter().filter(|d| owner(d).is_none_or(|life| life == ContextLife::Dead)).cloned().collect();
        Snapshot { domain: domain.to_owned(), path, contexts, live, dead, usage, generation, memory }
    }

    /// The living nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &Detail> {
        self.live.iter().filter(|d| d.kind == Kind::Node)
    }

    /// The living endpoints of these kinds by name, then by type.
    pub fn by_name(&self, kinds: [Kind; 2]) -> BTreeMap<(&str, &str), Vec<&Detail>> {
        let mut topics: BTreeMap<(&str, &str), Vec<&Detail>> = BTreeMap::new();
        for d in self.live.iter().filter(|d| kinds.contains(&d.kind)) {
            topics.entry((&d.name, &d.type_name)).or_default().push(d);
        }
        topics
    }

    /// Full names of nodes by their slots.
    pub fn node_names(&self) -> HashMap<SlotId, String> {
        self.nodes().map(|node| (node.slot, full_name(node))).collect()
    }
}

/// Namespace and name of a node.
pub fn full_name(node: &Detail) -> String {
    format!("{}/{}", node.type_name.trim_end_matches('/'), node.name)
}

/// Bytes that the files of a domain take, by what stands before the dot in their names: the context's id.
fn files(dir: &Path) -> BTreeMap<String, u64> {
    let mut sizes = BTreeMap::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.split('.').next().unwrap_or_default().to_owned();
        // A file that was removed meanwhile takes nothing.
        *sizes.entry(owner).or_insert(0) += entry.metadata().map_or(0, |m| m.blocks() * 512);
    }
    sizes
}
