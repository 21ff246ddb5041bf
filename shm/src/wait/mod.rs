//! The wait contract: why a wait ended, in one vocabulary for everything that blocks, and how to end it from outside.
//!
//! [`Outcome`] is the vocabulary. [`Interrupt`] ends every wait of the process, from a signal handler too: [`Bells`] is
//! the flag and the table of the words that the process's threads sleep on.

mod bells;
mod guard;
#[cfg(test)]
mod models;
mod outcome;
#[cfg(all(test, not(loom)))]
mod tests;

pub use bells::{enlist, interruption, Bells, Enlisted, Interruption};
pub use guard::{ArmError, Interrupt};
pub use outcome::Outcome;
