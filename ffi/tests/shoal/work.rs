//! A work queue shared by processes in C and C++: each item to one of them, also that of a killed one, and the end to all.

use crate::common::watchdog;
use crate::programs::{Program, Stage};

const LANGUAGES: [&str; 2] = ["shoal_work.c", "shoal_work.cpp"];
const COUNT: usize = 100;

fn worker(stage: &Stage, program: &str, role: &str) -> Program {
    let worker = stage.start(program, &[role, "/work"]);
    worker.expect("working");
    worker
}

/// The items that a worker has acknowledged, up to the end.
fn items(mut worker: Program) -> Vec<usize> {
    let said = std::iter::from_fn(|| {
        let line = worker.line();
        line.strip_prefix("item ").map(|number| number.parse().expect("a number")).ok_or(line).map_or_else(
            |line| {
                assert_eq!(line, "END_OF_STREAM");
                None
            },
            Some,
        )
    })
    .collect();
    worker.expect("done");
    assert_eq!(worker.end(), Some(0));
    said
}

#[test]
fn each_item_is_acknowledged_by_one_process_also_that_of_a_killed_one_and_the_end_comes_to_all() {
    watchdog();
    for (producer, workers) in [(0, [0, 0]), (1, [1, 1]), (0, [1, 0])] {
        let stage = Stage::new();
        let victim = worker(&stage, LANGUAGES[workers[0]], "hold");
        let producer = stage.start(LANGUAGES[producer], &["produce", "/work", &COUNT.to_string()]);
        victim.expect("holds 1");
        let workers = workers.map(|program| worker(&stage, LANGUAGES[program], "work"));
        drop(victim);
        producer.expect("sent");
        producer.expect("done");
        let mut all: Vec<_> = workers.into_iter().flat_map(items).collect();
        all.sort_unstable();
        assert!(all.iter().copied().eq(1..=COUNT), "{all:?}");
        drop(producer);
        assert_eq!(stage.leftovers(), Vec::<String>::new());
    }
}
