//! std atomics, which may lie in mapped memory, and parking_lot locks.

pub use parking_lot::{Mutex, MutexGuard};
pub use std::sync::atomic::{fence, AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub use std::sync::Arc;
pub use std::thread;

/// Whether a model explores every interleaving (loom) or only runs it many times (std).
pub const EXHAUSTIVE: bool = false;

/// Bytes of an arena's first segment.
pub const FIRST_SEGMENT: usize = 32 * 1024;

/// How often a scene of a model is played.
const RUNS: u64 = 200;

/// Plays a scene of a model many times on real threads, and answers how often.
pub fn explore(f: impl Fn() + Send + Sync + 'static) -> u64 {
    (0..RUNS).for_each(|_| f());
    RUNS
}

/// Real threads cannot be relied on to refute anything.
pub fn refute(_: impl Fn() + Send + Sync + 'static) -> Option<String> {
    None
}

/// Memory that a protocol protects, as models see it: with std's atomics it is nothing.
#[derive(Debug, Default)]
pub struct Witness(());

impl Witness {
    /// What loom says when accesses race.
    pub const RACE: &'static str = "Causality violation";

    /// Looks at the memory.
    pub fn read(&self) {}

    /// Changes the memory.
    pub fn write(&self) {}
}

/// The `n` words at `at`; `None` when `at` is not aligned for them.
///
/// # Safety
/// `at` must point to `8 * n` bytes that stay mapped for `'a` and are only ever accessed atomically, or by their
/// single owner under the protocol of the caller. Read-only memory is allowed as long as nobody stores to it.
pub unsafe fn words_at<'a>(at: *const u8, n: usize) -> Option<&'a [AtomicU64]> {
    if (at as usize) % align_of::<AtomicU64>() != 0 {
        return None;
    }
    // SAFETY: aligned by the check above; mapped, long enough and atomically accessed by the caller's promise. An
    // AtomicU64 has the size and representation of a u64 and every bit pattern is valid.
    Some(unsafe { std::slice::from_raw_parts(at.cast::<AtomicU64>(), n) })
}

/// Heap memory as words, for segments without a file.
pub(crate) struct HeapWords(Box<[AtomicU64]>);

impl HeapWords {
    /// `n` zeroed words.
    pub(crate) fn new(n: usize) -> HeapWords {
        HeapWords((0..n).map(|_| AtomicU64::new(0)).collect())
    }

    /// All the words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.0
    }

    /// The same memory as bytes. Writing through it is allowed: the words are interior-mutable.
    pub(crate) fn bytes(&self) -> *mut u8 {
        self.0.as_ptr().cast::<u8>().cast_mut()
    }
}

/// The address a futex call needs, or `None` where the word has none (loom).
pub fn address(word: &AtomicU32) -> Option<*const u32> {
    Some(word.as_ptr().cast_const())
}

/// One half of a 64-bit word as a futex word: the low half in memory order.
pub fn low_half(word: &AtomicU64) -> Option<&AtomicU32> {
    // SAFETY: an AtomicU64 is eight aligned bytes, so its first four are an aligned AtomicU32 of the same lifetime.
    // Whoever uses a word through this treats it as 32-bit throughout, so no access of two sizes meets.
    Some(unsafe { &*(std::ptr::from_ref(word).cast::<AtomicU32>()) })
}
