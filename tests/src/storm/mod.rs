//! A storm of kills: processes of every kind die at random moments and at every crash point, while others go on.
//!
//! One process, the driver, forks all others and never joins a domain itself. Survivors talk to each other and listen to
//! the victims; victims are killed (SIGKILL, stopped for a while first, or `execve`d away). Everybody writes what was sent
//! and what came into memory that all share. At the end the domain is as it was before the first victim.

mod audit;
mod board;
mod driver;
mod plan;
mod report;
mod sequence;
mod survivors;
mod talk;
mod victims;

pub use driver::{run, Options};
