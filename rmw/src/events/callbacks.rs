//! Callbacks for events: each kind of an endpoint has its place among the callbacks of the context.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{EventKind, Events};
use crate::context::Context;
use crate::error::Result;
use crate::notify::{Callback, Countable, Tally, Watch};

/// The callbacks that were ever set for the events of one endpoint. To be dropped before what the events look at.
#[derive(Default)]
pub(crate) struct EventCallbacks(Mutex<Vec<(EventKind, Arc<Watch>)>>);

impl EventCallbacks {
    pub(super) fn set(
        &self,
        context: &Arc<Context>,
        events: &Arc<Events>,
        kind: EventKind,
        callback: Option<Callback>,
    ) -> Result<()> {
        // Not while our lock is held: it may wait for a call that sets another one.
        let watch = self.place(context, kind);
        watch.set(callback, || Arc::new(Counted { events: events.clone(), kind }))
    }

    fn place(&self, context: &Arc<Context>, kind: EventKind) -> Arc<Watch> {
        let mut places = self.0.lock();
        if let Some((_, watch)) = places.iter().find(|(known, _)| *known == kind) {
            return watch.clone();
        }
        let watch = Arc::new(Watch::new(context));
        places.push((kind, watch.clone()));
        watch
    }
}

struct Counted {
    events: Arc<Events>,
    kind: EventKind,
}

impl Countable for Counted {
    fn tally(&self) -> Tally {
        let (happened, taken) = self.events.counts(self.kind);
        Tally { arrived: happened, available: happened - taken }
    }

    fn next_moment(&self) -> Option<u64> {
        self.events.next_moment(self.kind)
    }

    fn depends_on_the_living(&self) -> bool {
        self.events.depends_on_the_living(self.kind)
    }
}
