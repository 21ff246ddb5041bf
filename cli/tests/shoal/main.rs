//! `shoal` against real processes that live and die.

mod dying;
mod peer;
mod reading;

/// What a peer does: this binary, started again. Does nothing in the test run itself.
#[test]
fn child() {
    peer::run();
}
