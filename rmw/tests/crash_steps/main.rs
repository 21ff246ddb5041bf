//! A process is killed right at a crash point; what the others see then, and who cleans up, is what the table of crash
//! steps in DESIGN.md says. The steps of the registry are in that crate's `crash_steps.rs`.
#![cfg(feature = "crash-steps")]

#[path = "../common/mod.rs"]
mod common;
mod credit;
mod memory;
mod publishing;
mod reading;
mod scene;
mod services;
mod victim;
mod waiting;
mod working;

use victim::Role;

const ROLES: &[Role] = &[
    ("publisher", publishing::publish),
    ("finisher", publishing::finish),
    ("day ender", publishing::end_day),
    ("subscriber", reading::subscribe),
    ("borrower", reading::borrow),
    ("waiter", waiting::wait_for_samples),
    ("server", services::serve),
    ("blocked publisher", credit::fill_up),
    ("slow reader", credit::read_slowly),
    ("file maker", memory::make_files),
    ("newcomer", memory::join),
    ("queue", working::produce),
    ("worker", working::claim_one),
    ("acknowledger", working::acknowledge),
];

/// Not a test: a victim's process.
#[test]
fn child() {
    victim::play(ROLES);
}
