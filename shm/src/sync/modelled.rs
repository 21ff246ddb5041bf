//! loom's atomics, with the names and shapes of the native facade.

pub use loom::sync::atomic::{fence, AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub use loom::sync::{Arc, MutexGuard};
pub use loom::thread;

/// Whether a model explores every interleaving (loom) or only runs it many times (std).
pub const EXHAUSTIVE: bool = true;

/// Bytes of an arena's first segment: small, because every word is an object loom tracks.
pub const FIRST_SEGMENT: usize = 1024;

/// Explores every interleaving of `f`.
pub fn model(f: impl Fn() + Send + Sync + 'static) {
    loom::model(f);
}

/// Explores `f` and panics unless some interleaving fails.
pub fn model_must_fail(f: impl Fn() + Send + Sync + 'static) {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| loom::model(f)));
    assert!(outcome.is_err(), "the weakened protocol survived every interleaving, so the model proves nothing");
}

/// A mutex with parking_lot's shape.
#[derive(Debug)]
pub struct Mutex<T>(loom::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    pub fn new(value: T) -> Mutex<T> {
        Mutex(loom::sync::Mutex::new(value))
    }

    /// Blocks until the mutex is ours.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// loom's atomics cannot lie in mapped memory.
///
/// # Safety
/// None needed: the pointer is not used.
pub unsafe fn words_at<'a>(_: *const u8, _: usize) -> Option<&'a [AtomicU64]> {
    None
}

/// Heap memory as words. The bytes are separate memory: loom's words are larger than eight bytes.
pub(crate) struct HeapWords {
    words: Box<[AtomicU64]>,
    bytes: Box<[std::sync::atomic::AtomicU64]>,
}

impl HeapWords {
    /// `n` zeroed words.
    pub(crate) fn new(n: usize) -> HeapWords {
        HeapWords {
            words: (0..n).map(|_| AtomicU64::new(0)).collect(),
            bytes: (0..n).map(|_| std::sync::atomic::AtomicU64::new(0)).collect(),
        }
    }

    /// All the words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        &self.words
    }

    /// Bytes beside the words, for payloads that a model writes by pointer.
    pub(crate) fn bytes(&self) -> *mut u8 {
        self.bytes.as_ptr().cast::<u8>().cast_mut()
    }
}

/// loom's words have no address a futex call could use.
pub fn address(_: &AtomicU32) -> Option<*const u32> {
    None
}

/// loom's words cannot be split.
pub fn low_half(_: &AtomicU64) -> Option<&AtomicU32> {
    None
}
