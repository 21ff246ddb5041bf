//! What came, for deadlines: whether or not somebody has taken it.

use shoal_registry::{SlotId, SlotState};
use shoal_shm::ring;

use super::read::views_of;
use super::Inlet;

/// The newest samples of an outlet that a look at what came reads the times of.
const ARRIVALS_LOOKED_AT: u64 = 64;

/// What came since somebody last asked, whether or not it was taken.
pub(crate) struct Arrivals {
    /// Source times in ns since 1970, sorted; not before the reader joined.
    pub(crate) times: Vec<i64>,
    /// No sample is missing in between.
    pub(crate) complete: bool,
    /// A matched outlet is in the graph.
    pub(crate) any_outlet: bool,
}

impl Inlet {
    /// Looks at what came, without taking anything; `heads` is what the last call saw.
    pub(crate) fn arrivals(&self, heads: &mut Vec<(SlotId, u64)>) -> Arrivals {
        let registry = self.context.registry();
        let mut arrivals = Arrivals { times: Vec::new(), complete: true, any_outlet: false };
        let Ok(_using) = self.context.using() else { return arrivals };
        let state = &mut *self.state.lock();
        self.scan_if_moved(state);
        let mut now = Vec::with_capacity(state.sources.len());
        for source in state.sources.iter().filter(|source| !source.muted) {
            let Some(head) = self.head(source) else { continue };
            arrivals.any_outlet |= registry.slot_state(source.slot) == Some(SlotState::Live);
            let seen = heads.iter().find(|(slot, _)| *slot == source.slot).map_or(source.start, |(_, head)| *head);
            let next = seen.saturating_add(1);
            let first = next.max(head.saturating_sub(ARRIVALS_LOOKED_AT - 1));
            arrivals.complete &= first == next;
            let views = views_of(&mut state.views, source.context_id);
            let reach = state.views[views].reach(self.context.peers());
            for sequence in first..=head {
                let meta =
                    registry.hot(source.slot.index).and_then(|outlet| ring::read_meta(&reach, outlet.ring(), sequence));
                arrivals.complete &= meta.is_some();
                arrivals.times.extend(meta.map(|meta| meta.source_timestamp.max(self.joined_at)));
            }
            now.push((source.slot, head));
        }
        *heads = now;
        arrivals.times.sort_unstable();
        arrivals
    }
}
