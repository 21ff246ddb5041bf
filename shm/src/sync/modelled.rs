//! loom's atomics, with the names and shapes of the native facade.

pub use loom::sync::atomic::{fence, AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub use loom::sync::{Arc, MutexGuard};
pub use loom::thread;

/// Whether a model explores every interleaving (loom) or only runs it many times (std).
pub const EXHAUSTIVE: bool = true;

/// Steps of one interleaving; more are a loop without an end.
const MAX_BRANCHES: usize = 10_000;

/// Bytes of an arena's first segment: small, because every word is an object loom tracks.
pub const FIRST_SEGMENT: usize = 1024;

/// Explores every interleaving of `f`, which must hold in all of them, and answers how many there were.
pub fn explore(f: impl Fn() + Send + Sync + 'static) -> u64 {
    let executions = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counter = executions.clone();
    let mut builder = loom::model::Builder::new();
    builder.max_branches = MAX_BRANCHES;
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        f();
    });
    executions.load(Ordering::Relaxed)
}

/// The words with which `f` fails in some interleaving; `None` if it holds in all.
pub fn refute(f: impl Fn() + Send + Sync + 'static) -> Option<String> {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| explore(f))).err()?;
    let said = panic.downcast_ref::<String>().cloned();
    said.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).or_else(|| Some(String::new()))
}

/// Memory that a protocol protects, without words of its own: a read and a write of it that nothing orders fail the model.
#[derive(Debug, Default)]
pub struct Witness(loom::cell::UnsafeCell<()>);

// SAFETY: nothing is behind the cell; loom reports each pair of accesses that would be a race.
unsafe impl Sync for Witness {}

impl Witness {
    /// What loom says when accesses race.
    pub const RACE: &'static str = "Causality violation";

    /// Looks at the memory.
    pub fn read(&self) {
        self.0.with(|_| ());
    }

    /// Changes the memory.
    pub fn write(&self) {
        self.0.with_mut(|_| ());
    }
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

impl super::flag::Flag for AtomicBool {
    fn try_set(&self, order: Ordering) -> bool {
        !self.swap(true, order)
    }

    fn clear(&self, order: Ordering) {
        self.store(false, order);
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
