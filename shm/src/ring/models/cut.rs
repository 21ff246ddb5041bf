//! A reader that joins several rings of one writer finds heads of one instant.

use super::Strength;
use crate::model;
use crate::ring::edge::heads_with;
use crate::ring::Full;
use crate::sync::{thread, Arc, AtomicU64, Ordering};

const TORN: &str = "heads of no instant";

/// A writer commits to one ring and then to the other, twice.
fn join_against_two_commits<S: Strength>() {
    let rings = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
    let writer = {
        let rings = rings.clone();
        thread::spawn(move || {
            for sequence in 1..=2 {
                rings.iter().for_each(|head| head.store(sequence, Full::HEAD));
            }
        })
    };
    if let Some(found) = heads_with::<S>(&[&rings[0], &rings[1]]) {
        // What can be at one point of the writer's own order.
        assert!(found[0] == found[1] || found[0] == found[1] + 1, "{TORN}: {found:?}");
    }
    writer.join().unwrap();
    assert_eq!(heads_with::<S>(&[&rings[0], &rings[1]]), Some(vec![2, 2]), "nobody moves them any more");
    assert_eq!(rings[0].load(Ordering::Relaxed), 2);
}

struct OneRound;
impl Strength for OneRound {
    const SECOND_ROUND: bool = false;
}

struct RelaxedRound;
impl Strength for RelaxedRound {
    const FIRST_ROUND: Ordering = Ordering::Relaxed;
}

model! {
    heads_that_are_joined_at_once_are_of_one_instant {
        edges: ["ring.cut"],
        claim: "what a joiner of several rings counts as sent before is so at one point of the writer's order",
        scenes: [join_against_two_commits::<Full>],
        twins: [
            "the second round": join_against_two_commits::<OneRound> => TORN,
            "the Acquire of the first round": join_against_two_commits::<RelaxedRound> => TORN,
        ],
    }
}
