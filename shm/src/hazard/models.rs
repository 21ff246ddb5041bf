//! Two threads of a context never hold the same hazard word, and what one announces is found
//! whichever word it has. The reuse of payloads is modelled with the ring that does it (`ring/models/`).

use super::{scan, HazardTable};
use crate::sync::{explore, thread, AtomicU64};
use std::sync::Arc;

struct Table(Vec<AtomicU64>);

#[test]
fn two_threads_never_share_a_word() {
    explore(|| {
        let words: &'static Table = Box::leak(Box::new(Table((0..3).map(|_| AtomicU64::new(0)).collect())));
        let table = HazardTable::new(&words.0);
        let other = Arc::new(table.clone());
        let second = thread::spawn(move || {
            let slot = other.acquire().expect("two words for two threads");
            let held = slot.announce(20);
            assert!(held.is_some() && scan(&words.0, 20));
        });
        let slot = table.acquire().expect("two words for two threads");
        let held = slot.announce(10);
        assert!(held.is_some() && scan(&words.0, 10));
        second.join().expect("the second thread");
        assert!(scan(&words.0, 10) && !scan(&words.0, 20));
        drop(held);
        assert!(!scan(&words.0, 10));
    });
}
