//! The hot cell: what peers of an endpoint touch for every sample. One cache line a slot.

use crate::layout::HOT_LEN;
use crate::qos::{HotQos, FINISHED};
use shoal_shm::ending;
use shoal_shm::sync::{AtomicU64, Ordering};

/// What stands in [`HotCell::asserted`] after the death of a publisher's process.
pub(crate) const DIED: u64 = u64::MAX;

const WORDS: usize = HOT_LEN / 8;

/// One line of shared words. It belongs to whoever holds the slot, so a value read here counts only while the slot's
/// directory word is unchanged, or once [`ctx_id`](HotCell::ctx_id) has been compared.
#[repr(transparent)]
pub struct HotCell([AtomicU64; WORDS]);

impl HotCell {
    /// The cell in the first eight of `words`.
    pub(crate) fn of(words: &[AtomicU64]) -> Option<&HotCell> {
        let array: &[AtomicU64; WORDS] = words.get(..WORDS)?.try_into().ok()?;
        // SAFETY: HotCell is repr(transparent) over this array, so layout and validity are the array's; the reference
        // keeps the lifetime and stays shared.
        Some(unsafe { &*(std::ptr::from_ref(array).cast::<HotCell>()) })
    }

    /// Classes of outlets that committed something; peers set bits (`slot index % 64`), the reader takes them.
    pub fn pending(&self) -> &AtomicU64 {
        &self.0[0]
    }

    /// When a publisher last asserted that it is alive, in ns of CLOCK_MONOTONIC; 0 before the first time, [`DIED`] once
    /// its process was found dead. Only the owner writes, and its reaper. (A publisher has nothing pending.)
    pub fn asserted(&self) -> &AtomicU64 {
        &self.0[0]
    }

    /// Classes that the reader has taken and not read to the end; only the owner writes.
    pub fn draining(&self) -> &AtomicU64 {
        &self.0[1]
    }

    /// Last committed sequence number of the outlet; only the owner writes. 0 before the first.
    pub fn head(&self) -> &AtomicU64 {
        &self.0[2]
    }

    /// Ring descriptor of the outlet, or of a service's response table; only the owner writes. 0 for none.
    pub fn ring(&self) -> &AtomicU64 {
        &self.0[3]
    }

    /// See [`match_key`](crate::match_key).
    pub fn match_key(&self) -> u64 {
        self.0[4].load(Ordering::Relaxed)
    }

    /// The part of the QoS profile that every peer needs. The depth of an inlet can be more than its profile's: see
    /// [`Registry::set_reach`](crate::Registry::set_reach).
    pub fn qos(&self) -> HotQos {
        HotQos(self.0[5].load(Ordering::Relaxed))
    }

    /// The last sequence number of a publisher that has finished its stream; `None`: it goes on.
    pub fn last_of_finished(&self) -> Option<u64> {
        ending::last(&self.0[5], FINISHED, self.head())
    }

    /// Only the owner does this, after its last commit.
    pub(crate) fn finish(&self) {
        ending::finish(&self.0[5], FINISHED);
    }

    /// The word in which the owner, and nobody else, sets what it wants to be woken for.
    pub(crate) fn wishes(&self) -> &AtomicU64 {
        &self.0[5]
    }

    /// Only the owner does this.
    pub(crate) fn set_depth(&self, depth: u32) {
        let mut qos = self.qos();
        // Another thread of the owner may add an interest meanwhile.
        while let Err(now) =
            self.0[5].compare_exchange_weak(qos.0, qos.with_depth(depth).0, Ordering::Relaxed, Ordering::Relaxed)
        {
            qos = HotQos(now);
        }
    }

    /// Index of the owning context and number of the endpoint in it.
    pub fn owner(&self) -> (u16, u32) {
        let w = self.0[6].load(Ordering::Relaxed);
        (w as u16, (w >> 32) as u32)
    }

    /// Random id of the owning context.
    pub fn ctx_id(&self) -> u64 {
        self.0[7].load(Ordering::Relaxed)
    }

    /// Makes the cell the claimer's: nothing pending, no ring, the given identity.
    pub(crate) fn reset(&self, match_key: u64, qos: HotQos, owner: (u16, u32), ctx_id: u64) {
        let owner = u64::from(owner.0) | u64::from(owner.1) << 32;
        for (word, value) in self.0.iter().zip([0, 0, 0, 0, match_key, qos.0, owner, ctx_id]) {
            word.store(value, Ordering::Relaxed);
        }
    }
}
