//! Queries. Each reads under the directory word and gives a consistent answer or none.

use crate::context::Registry;
use crate::hash::{TopicHash, HASH_MASK};
use crate::ident::{gid, Kind, SlotId};
use crate::layout::{seqlock, ContextState, DetailWords, HotCell, Map, SlotState, Word, DETAIL_WORDS, HASH_FIELD};
use crate::qos::Qos;
use shoal_shm::sync::{AtomicU64, Ordering};

/// Directory words that a scan compares between two branches.
const GROUP: usize = 16;

/// An endpoint that a scan found. The hot cell may change hands at any time: compare its `ctx_id` when it is used later.
pub struct Found<'a> {
    /// Where it is.
    pub slot: SlotId,
    /// What it is.
    pub kind: Kind,
    /// JOINING, LIVE or CLOSED.
    pub state: SlotState,
    /// Its hot cell.
    pub hot: &'a HotCell,
}

/// All that a slot says, as an owned copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Detail {
    /// Where it is.
    pub slot: SlotId,
    /// What it is.
    pub kind: Kind,
    /// JOINING, LIVE or CLOSED.
    pub state: SlotState,
    /// Index of the owning context.
    pub ctx: u16,
    /// Id of the owning context.
    pub ctx_id: u64,
    /// Number within the context.
    pub endpoint: u32,
    /// The endpoint's node.
    pub node: Option<SlotId>,
    /// Topic, service or node name.
    pub name: String,
    /// Type name, or a node's namespace.
    pub type_name: String,
    /// Version and value of the type hash.
    pub type_hash: (u8, [u8; 32]),
    /// The resolved profile.
    pub qos: Qos,
    /// See [`gid`].
    pub gid: [u8; 16],
    /// As registered.
    pub flags: u64,
}

/// How full a domain is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Context entries that are not free: living contexts, and dead ones whose samples are still wanted.
    pub contexts: usize,
    /// Slots that are not free.
    pub slots: usize,
    /// Slots whose pages are reserved.
    pub slots_committed: usize,
}

/// A private copy of a slot, consistent but not yet parsed.
struct Copied {
    word: Word,
    words: DetailWords,
    owner: (u16, u32),
    ctx_id: u64,
}

impl Registry {
    /// The hot cell of a slot; `None` for an index that was never in use.
    pub fn hot(&self, index: u32) -> Option<&HotCell> {
        self.map.hot(index)
    }

    /// State of a slot; `None` when it has another tenant or is not visible.
    #[inline]
    pub fn slot_state(&self, s: SlotId) -> Option<SlotState> {
        self.word(s.index).filter(|word| word.incarnation() == s.incarnation && word.is_readable())?.state()
    }

    /// Shows every visible slot of these kinds and this topic whose match key equals `match_key` (0: any key). A linear
    /// scan of the dense directory; contexts are not asked whether they live. The callback must not be slow on behalf
    /// of others: it holds nothing, but what it sees ages.
    pub fn for_each_matching(&self, kinds: &[Kind], topic: TopicHash, match_key: u64, f: &mut dyn FnMut(Found<'_>)) {
        let wanted = Word::of(SlotState::Free, Kind::Node, 0, topic).0;
        let distance = |cell: &AtomicU64| (cell.load(Ordering::Relaxed) ^ wanted) & HASH_FIELD;
        for (i, group) in self.map.directory().chunks(GROUP).enumerate() {
            // One branch a group: almost none holds a hit.
            if group.iter().fold(u64::MAX, |least, cell| least.min(distance(cell))) != 0 {
                continue;
            }
            for (j, cell) in group.iter().enumerate().filter(|(_, cell)| distance(cell) == 0) {
                self.visit((i * GROUP + j) as u32, cell, kinds, topic, match_key, f);
            }
        }
    }

    fn visit(
        &self,
        index: u32,
        cell: &AtomicU64,
        kinds: &[Kind],
        topic: TopicHash,
        match_key: u64,
        f: &mut dyn FnMut(Found<'_>),
    ) {
        let Some(hot) = self.map.hot(index) else { return };
        let is_wanted = |w: Word| w.topic().0 == topic.0 & HASH_MASK && w.kind().is_some_and(|k| kinds.contains(&k));
        let Some((word, key)) = seqlock::read(cell, |w| is_wanted(w).then(|| hot.match_key())) else { return };
        let (Some(kind), Some(state)) = (word.kind(), word.state()) else { return };
        if match_key == 0 || key == match_key {
            f(Found { slot: SlotId { index, incarnation: word.incarnation() }, kind, state, hot });
        }
    }

    /// What a slot says; `None` when it has another tenant, is not visible, or holds what no writer of this version
    /// writes.
    pub fn detail(&self, s: SlotId) -> Option<Detail> {
        self.map.detail_of(s.index).filter(|detail| detail.slot == s)
    }

    /// Every JOINING or LIVE slot of a context that is live by the table ([`sweep`](Registry::sweep) removes the dead).
    pub fn snapshot(&self) -> Vec<Detail> {
        self.snapshot_of(&Kind::ALL)
    }

    /// As [`snapshot`](Registry::snapshot), of these kinds. What is of other kinds is not copied: in a large domain that
    /// is almost everything.
    pub fn snapshot_of(&self, kinds: &[Kind]) -> Vec<Detail> {
        let live = self.live_ids();
        let in_graph = |d: &Detail| {
            d.state != SlotState::Closed && live.get(usize::from(d.ctx)).is_some_and(|id| *id == Some(d.ctx_id))
        };
        let slots = self.map.directory().iter().enumerate();
        let wanted = slots
            .filter(|(_, cell)| Word(cell.load(Ordering::Relaxed)).kind().is_some_and(|kind| kinds.contains(&kind)));
        wanted.filter_map(|(index, _)| self.map.detail_of(index as u32)).filter(in_graph).collect()
    }

    /// How full the domain is, for tools and tests.
    pub fn usage(&self) -> Usage {
        self.map.usage()
    }

    fn live_ids(&self) -> Vec<Option<u64>> {
        let id = |e: crate::layout::ContextEntry<'_>| (e.word().state() == Some(ContextState::Live)).then(|| e.id());
        (0..self.map.header().contexts_high()).map(|i| self.map.context(i).and_then(id)).collect()
    }

    /// The profile of a visible slot; `None` as for [`detail`](Registry::detail). Allocates nothing.
    pub fn qos_of(&self, s: SlotId) -> Option<Qos> {
        let copied = self.map.copy(s.index)?;
        (copied.word.incarnation() == s.incarnation).then(|| copied.words.qos()).flatten()
    }
}

impl Map {
    /// What every visible slot says, whoever owns it.
    pub(crate) fn details(&self) -> impl Iterator<Item = Detail> + '_ {
        (0..self.directory().len() as u32).filter_map(|index| self.detail_of(index))
    }

    fn detail_of(&self, index: u32) -> Option<Detail> {
        parse(index, &self.copy(index)?)
    }

    pub(crate) fn usage(&self) -> Usage {
        let directory = self.directory();
        let is_free = |w: Word| w.state() == Some(SlotState::Free);
        let is_taken = |i: &usize| self.context(*i).is_some_and(|e| e.word().state() != Some(ContextState::Free));
        Usage {
            contexts: (0..self.header().contexts_high()).filter(is_taken).count(),
            slots: directory.iter().filter(|cell| !is_free(Word(cell.load(Ordering::Relaxed)))).count(),
            slots_committed: directory.len(),
        }
    }

    fn copy(&self, index: u32) -> Option<Copied> {
        let cell = self.directory().get(index as usize)?;
        let (source, hot) = (self.detail(index)?, self.hot(index)?);
        let (word, (words, owner, ctx_id)) = seqlock::read(cell, |_| {
            let mut words = [0; DETAIL_WORDS];
            for (to, from) in words.iter_mut().zip(source) {
                *to = from.load(Ordering::Relaxed);
            }
            Some((words, hot.owner(), hot.ctx_id()))
        })?;
        Some(Copied { word, words: DetailWords(words), owner, ctx_id })
    }
}

fn parse(index: u32, c: &Copied) -> Option<Detail> {
    let kind = c.word.kind()?;
    let (ctx, endpoint) = c.owner;
    Some(Detail {
        slot: SlotId { index, incarnation: c.word.incarnation() },
        kind,
        state: c.word.state()?,
        ctx,
        ctx_id: c.ctx_id,
        endpoint,
        node: c.words.node(),
        name: c.words.name()?,
        type_name: c.words.type_name()?,
        type_hash: c.words.type_hash(),
        qos: c.words.qos()?,
        gid: gid(c.ctx_id, kind, endpoint),
        flags: c.words.flags(),
    })
}
