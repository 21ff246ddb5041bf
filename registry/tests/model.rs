//! Random operations of several contexts, compared with a plain map.

mod common;
use common::*;
use proptest::prelude::*;
use shoal_registry::*;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::Arc;

const TOPICS: [&str; 3] = ["/a", "/b", "/c"];
const KINDS: [Kind; 5] = [Kind::Node, Kind::Publisher, Kind::Subscription, Kind::Service, Kind::Client];
const CONTEXTS: usize = 3;

#[derive(Clone, Debug)]
enum Op {
    Claim {
        ctx: usize,
        kind: usize,
        topic: usize,
    },
    Publish {
        nth: usize,
    },
    Close {
        nth: usize,
    },
    Withdraw {
        nth: usize,
    },
    /// By a context that does not own the slot.
    Meddle {
        nth: usize,
    },
    Commit {
        nth: usize,
    },
    Rejoin {
        ctx: usize,
    },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0..CONTEXTS, 0..5usize, 0..3usize).prop_map(|(ctx, kind, topic)| Op::Claim { ctx, kind, topic }),
        3 => any::<usize>().prop_map(|nth| Op::Publish { nth }),
        2 => any::<usize>().prop_map(|nth| Op::Close { nth }),
        2 => any::<usize>().prop_map(|nth| Op::Withdraw { nth }),
        1 => any::<usize>().prop_map(|nth| Op::Meddle { nth }),
        1 => any::<usize>().prop_map(|nth| Op::Commit { nth }),
        1 => (0..CONTEXTS).prop_map(|ctx| Op::Rejoin { ctx }),
    ]
}

#[derive(Clone, Debug, PartialEq)]
struct Entry {
    ctx: usize,
    kind: Kind,
    topic: &'static str,
    endpoint: u32,
    state: SlotState,
}

/// The domain, and what it should be.
struct World {
    root: Root,
    contexts: Vec<Arc<Registry>>,
    model: BTreeMap<(u32, u32), Entry>,
    next: u32,
}

impl World {
    fn new() -> World {
        let root = Root::new();
        let contexts = (0..CONTEXTS).map(|_| root.join()).collect();
        World { root, contexts, model: BTreeMap::new(), next: 0 }
    }

    fn pick(&self, nth: usize) -> Option<(SlotId, Entry)> {
        let ((index, incarnation), e) = self.model.iter().nth(nth.checked_rem(self.model.len())?)?;
        Some((SlotId { index: *index, incarnation: *incarnation }, e.clone()))
    }

    fn set(&mut self, s: SlotId, state: SlotState) {
        if let Some(e) = self.model.get_mut(&(s.index, s.incarnation)) {
            e.state = state;
        }
    }

    /// Runs one operation; true when the graph must have changed.
    fn run(&mut self, op: &Op) -> bool {
        use SlotState::{Closed, Joining, Live};
        match *op {
            Op::Claim { ctx, kind, topic } => {
                let (kind, topic, endpoint) = (KINDS[kind], TOPICS[topic], self.next);
                self.next += 1;
                let s = self.contexts[ctx].claim(&registration(kind, topic, endpoint)).expect("claim");
                let e = Entry { ctx, kind, topic, endpoint, state: Joining };
                assert_eq!(self.model.insert((s.index, s.incarnation), e), None, "a slot given twice");
                true
            }
            Op::Publish { nth } => self.on(nth, |w, s, e| {
                w.contexts[e.ctx].publish(s);
                (e.state == Joining).then(|| w.set(s, Live)).is_some()
            }),
            Op::Close { nth } => self.on(nth, |w, s, e| {
                w.contexts[e.ctx].close(s);
                (e.state != Closed).then(|| w.set(s, Closed)).is_some()
            }),
            Op::Withdraw { nth } => self.on(nth, |w, s, e| {
                w.contexts[e.ctx].withdraw(s);
                w.model.remove(&(s.index, s.incarnation)).is_some()
            }),
            Op::Meddle { nth } => self.on(nth, |w, s, e| {
                let other = &w.contexts[(e.ctx + 1) % CONTEXTS];
                other.publish(s);
                other.close(s);
                other.withdraw(s);
                false
            }),
            Op::Commit { nth } => self.on(nth, |w, s, _| {
                w.contexts[0].hot(s.index).expect("hot").head().store(1, SeqCst);
                false
            }),
            Op::Rejoin { ctx } => {
                let changed = self.model.values().any(|e| e.ctx == ctx);
                self.model.retain(|_, e| e.ctx != ctx);
                let fresh = self.root.join();
                std::mem::replace(&mut self.contexts[ctx], fresh).leave();
                changed
            }
        }
    }

    fn on(&mut self, nth: usize, f: impl FnOnce(&mut World, SlotId, Entry) -> bool) -> bool {
        self.pick(nth).is_some_and(|(s, e)| f(self, s, e))
    }

    fn check(&self, by: usize) {
        let r = &self.contexts[by % CONTEXTS];
        let graph: BTreeMap<(u32, u32), Entry> =
            r.snapshot().into_iter().map(|d| ((d.slot.index, d.slot.incarnation), self.entry_of(&d))).collect();
        let expected: BTreeMap<_, _> =
            self.model.iter().filter(|(_, e)| e.state != SlotState::Closed).map(|(k, e)| (*k, e.clone())).collect();
        assert_eq!(graph, expected);
        assert_eq!(r.usage().slots, self.model.len());
        for topic in TOPICS {
            for kind in KINDS {
                let mut scan = Vec::new();
                r.for_each_matching(&[kind], TopicHash::of(topic), 0, &mut |f| {
                    scan.push((f.slot.index, f.slot.incarnation, f.state));
                });
                let is_it = |e: &Entry| e.kind == kind && e.topic == topic;
                let expected: Vec<_> =
                    self.model.iter().filter(|(_, e)| is_it(e)).map(|(k, e)| (k.0, k.1, e.state)).collect();
                assert_eq!(scan, expected);
            }
        }
    }

    fn entry_of(&self, d: &Detail) -> Entry {
        let ctx = self.contexts.iter().position(|r| r.context_id() == d.ctx_id).expect("a context of ours");
        let topic = TOPICS.into_iter().find(|t| *t == d.name).expect("a topic of ours");
        assert_eq!(d.gid, gid(d.ctx_id, d.kind, d.endpoint));
        Entry { ctx, kind: d.kind, topic, endpoint: d.endpoint, state: d.state }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_graph_is_what_a_plain_map_says(ops in prop::collection::vec(op(), 1..60)) {
        let _dog = watchdog(120);
        let mut world = World::new();
        for (i, op) in ops.iter().enumerate() {
            let before = world.contexts[0].graph_generation();
            let changed = world.run(op);
            let after = world.contexts[0].graph_generation();
            // The context that was replaced may be the one asked; the generation is the domain's.
            prop_assert_eq!(after != before, changed, "{:?}", op);
            world.check(i);
        }
    }
}
