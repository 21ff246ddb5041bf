//! Random histories against a queue.

use super::super::testing::{bytes_of, OWNER};
use super::super::{read_loan, Loan};
use super::*;
use crate::hazard::HazardTable;
use proptest::prelude::*;
use std::collections::VecDeque;

const ROOM: usize = 1 << 17;

#[derive(Clone, Debug)]
enum Step {
    Publish(usize),
    SetWindow(u32),
    Grants(usize),
    Loan(u64),
    GiveBack,
    Reclaim,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![Just(0), 0..200usize, 78..83usize];
    let step = prop_oneof![
        8 => size.prop_map(Step::Publish),
        1 => (1..20u32).prop_map(Step::SetWindow),
        1 => prop_oneof![Just(usize::MAX), 0..2usize].prop_map(Step::Grants),
        1 => (0..5u64).prop_map(Step::Loan),
        1 => Just(Step::GiveBack),
        1 => Just(Step::Reclaim),
    ];
    prop::collection::vec(step, 1..120)
}

/// What the ring should say.
struct Model {
    kept: VecDeque<(u64, usize)>,
    head: u64,
    window: usize,
}

impl Model {
    fn publish(&mut self, size: usize) {
        self.head += 1;
        self.kept.push_back((self.head, size));
        self.narrow();
    }

    fn narrow(&mut self) {
        while self.kept.len() > self.window {
            self.kept.pop_front();
        }
    }

    fn check(&self, bench: &Bench) {
        assert_eq!(bench.writer.head(), self.head);
        let oldest = self.kept.front().map_or(self.head + 1, |(seq, _)| *seq);
        for seq in 1..oldest {
            assert_eq!(bench.read(seq), Err(ReadError::Lapped), "{seq}");
        }
        for (seq, size) in &self.kept {
            assert_eq!(bench.read(*seq).unwrap().1, body(*seq, *size), "{seq}");
        }
        assert_eq!(bench.read(self.head + 1), Err(ReadError::NotYet));
    }
}

fn run(mut bench: Bench, steps: &[Step]) {
    let cell = bench.cell.clone();
    let hazards = HazardTable::new(&cell.table);
    let mut model = Model { kept: VecDeque::new(), head: 0, window: bench.writer.window() as usize };
    let mut loans: Vec<(Loan<'_>, u64, usize)> = Vec::new();
    for step in steps {
        match *step {
            Step::Publish(size) => {
                if bench.publish(model.head + 1, size).is_ok() {
                    model.publish(size);
                } else {
                    assert_eq!(bench.pool.grants, 0, "refused only when told to");
                    // A narrower window takes effect with the next commit, also with one that fails.
                    let kept = bench.writer.chunks.len();
                    model.kept.drain(..model.kept.len() - kept);
                    assert!(kept >= model.window.min(kept));
                }
            }
            Step::SetWindow(window) => {
                bench.writer.set_window(window);
                model.window = window as usize;
            }
            Step::Grants(grants) => bench.pool.grants = grants,
            Step::Loan(back) => {
                if let Some((seq, size)) = model.kept.iter().rev().nth(back as usize).copied() {
                    let hazard = hazards.acquire().unwrap();
                    let loan = read_loan(&bench.peer, &cell.desc, OWNER, seq, hazard).unwrap();
                    loans.push((loan, seq, size));
                }
            }
            Step::GiveBack => drop(loans.pop()),
            Step::Reclaim => bench.reclaim(),
        }
        if !matches!(step, Step::SetWindow(_)) {
            model.check(&bench);
        }
        loans.iter().for_each(|(loan, seq, size)| assert_eq!(bytes_of(loan.payload()), body(*seq, *size)));
    }
    drop(loans);
    assert!(bench.close(), "no hazard is left");
    assert_eq!(bench.pool.in_use(), 0, "everything was given back");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_history_reads_like_a_queue_of_the_window(window in 1..12u32, steps in steps()) {
        on_both(ROOM, 128, window, |bench| run(bench, &steps));
    }
}
