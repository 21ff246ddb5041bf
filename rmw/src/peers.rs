//! Read-only mappings of other contexts' segments, made when something is read there and shared within the process.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Weak};

use elsa::FrozenVec;
use parking_lot::Mutex;
use shoal_shm::ring::Segments;
use shoal_shm::segment::{DomainDir, OpenError, View};
use shoal_shm::sync::AtomicU64;

use crate::error::Result;

/// Above this many mapped segments of one peer a reader drops them all and maps anew what it needs.
const VIEWS_PER_PEER: usize = 16;

/// The process's mappings, by context and segment number.
pub(crate) struct Peers {
    dir: Arc<DomainDir>,
    open: Mutex<HashMap<(u64, u16), Weak<View>>>,
}

impl Peers {
    pub(crate) fn new(dir: Arc<DomainDir>) -> Self {
        Self { dir, open: Mutex::new(HashMap::new()) }
    }

    /// The mapping of one segment.
    fn view(&self, context: u64, segment: u16) -> std::result::Result<Arc<View>, OpenError> {
        let mut open = self.open.lock();
        if let Some(view) = open.get(&(context, segment)).and_then(Weak::upgrade) {
            return Ok(view);
        }
        let view = Arc::new(View::open(&self.dir, &format!("{context:016x}.{segment}"))?);
        open.retain(|_, known| known.strong_count() > 0);
        open.insert((context, segment), Arc::downgrade(&view));
        Ok(view)
    }
}

/// One reader's mappings of one peer.
#[derive(Default)]
pub(crate) struct PeerViews {
    context: u64,
    views: FrozenVec<Box<(u16, Arc<View>)>>,
}

impl PeerViews {
    pub(crate) fn new(context: u64) -> Self {
        Self { context, views: FrozenVec::new() }
    }

    pub(crate) fn context(&self) -> u64 {
        self.context
    }

    /// The peer's memory, for one look. Forgets mappings when there are many, as segments that were given up would otherwise
    /// stay mapped.
    pub(crate) fn reach<'a>(&'a mut self, peers: &'a Peers) -> Reach<'a> {
        if self.views.len() > VIEWS_PER_PEER {
            self.views = FrozenVec::new();
        }
        Reach { peers, views: self, refusal: Cell::new(None) }
    }
}

/// A peer's memory as the ring reader wants it: segments are mapped on first use.
pub(crate) struct Reach<'a> {
    peers: &'a Peers,
    views: &'a PeerViews,
    /// Why a segment that may well be there was not mapped.
    refusal: Cell<Option<OpenError>>,
}

impl Reach<'_> {
    fn view(&self, segment: u16) -> Option<&Arc<View>> {
        if let Some((_, view)) = self.views.views.iter().find(|(number, _)| *number == segment) {
            return Some(view);
        }
        let view = match self.peers.view(self.views.context, segment) {
            Ok(view) => view,
            Err(error) => {
                if error.is_refusal() {
                    self.refusal.set(Some(error));
                }
                return None;
            }
        };
        Some(&self.views.views.push_get(Box::new((segment, view))).1)
    }

    /// For who found nothing: an error where that was this process's lack of files or memory, and no word on the sample.
    pub(crate) fn granted(&self) -> Result<()> {
        self.refusal.take().map_or(Ok(()), |refusal| Err(refusal.into()))
    }

    /// The mapping of a segment, for who needs it longer than the reader does.
    pub(crate) fn shared(&self, segment: u16) -> Option<Arc<View>> {
        self.view(segment).map(Arc::clone)
    }
}

impl Segments for Reach<'_> {
    fn words(&self, segment: u16, offset: u64, count: usize) -> Option<&[AtomicU64]> {
        self.view(segment)?.words(usize::try_from(offset).ok()?, count)
    }

    fn bytes(&self, segment: u16, offset: u64, len: usize) -> Option<*const u8> {
        self.view(segment)?.bytes_ptr(usize::try_from(offset).ok()?, len)
    }
}
