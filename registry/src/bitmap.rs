//! One bit for each context.

use shoal_shm::sync::{fence, AtomicU64, Ordering};

/// The word and the bit of a context.
pub(crate) fn bit_of(words: &[AtomicU64], ctx: usize) -> Option<(&AtomicU64, u64)> {
    words.get(ctx / 64).map(|word| (word, 1 << (ctx % 64)))
}

/// Sets a context's bit.
pub(crate) fn set(words: &[AtomicU64], ctx: usize) {
    if let Some((word, bit)) = bit_of(words, ctx) {
        // ORDERING(registry.leavers): before the slots of the context go, by stores with Release; meets `marked`.
        word.fetch_or(bit, Ordering::Relaxed);
    }
}

/// Clears a context's bit.
pub(crate) fn clear(words: &[AtomicU64], ctx: usize) {
    if let Some((word, bit)) = bit_of(words, ctx) {
        word.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// The contexts whose bit is set.
pub(crate) fn members(words: &[AtomicU64]) -> impl Iterator<Item = u16> + '_ {
    words.iter().enumerate().flat_map(|(i, word)| bits(word.load(Ordering::Relaxed), i))
}

/// The contexts whose bit is set, for who has found their slots gone.
pub(crate) fn marked(words: &[AtomicU64]) -> impl Iterator<Item = u16> + '_ {
    marked_with(words, || fence(Ordering::Acquire))
}

fn marked_with(words: &[AtomicU64], fence: impl FnOnce()) -> impl Iterator<Item = u16> + '_ {
    // ORDERING(registry.leavers): Acquire: a scan, which passes over foreign words with relaxed loads, comes before; who
    // found a slot gone in it finds the bit. Meets `set`.
    fence();
    members(words)
}

/// Context numbers of the bits of word `i` of a bitmap.
fn bits(mut word: u64, i: usize) -> impl Iterator<Item = u16> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some((i * 64 + bit as usize) as u16)
    })
}

#[cfg(test)]
mod models {
    use super::*;
    use crate::hash::TopicHash;
    use crate::ident::Kind;
    use crate::layout::{seqlock, SlotState, Word, HASH_FIELD};
    use shoal_shm::model;
    use shoal_shm::sync::{thread, Arc};

    /// A context leaves while a writer, which has to look who reads, looks for its reader there.
    fn leaver_and_writer(fence: fn()) {
        let word = |state| Word::of(state, Kind::Subscription, 0, TopicHash(5));
        let scene = Arc::new((AtomicU64::new(word(SlotState::Live).0), [AtomicU64::new(0)]));
        let theirs = scene.clone();
        let leaver = thread::spawn(move || {
            let (cell, leavers) = &*theirs;
            set(leavers, 9);
            seqlock::store(cell, word(SlotState::Dying));
            seqlock::release(cell, word(SlotState::Dying));
        });
        let (cell, leavers) = &*scene;
        let of_topic = (cell.load(Ordering::Relaxed) ^ word(SlotState::Free).0) & HASH_FIELD == 0;
        if !of_topic || !seqlock::load(cell).is_readable() {
            assert_eq!(marked_with(leavers, fence).collect::<Vec<_>>(), [9], "a reader that left is nowhere");
        }
        leaver.join().expect("the leaver");
    }

    model! {
        a_reader_that_is_gone_is_among_those_that_left {
            edges: ["registry.leavers"],
            claim: "a writer that no longer finds a reader's slot finds the context's mark, and so its hazards",
            scenes: [|| leaver_and_writer(|| fence(Ordering::Acquire))],
            twins: ["the fence before the look": || leaver_and_writer(|| ()) => "a reader that left is nowhere"],
        }
    }
}
