//! Tests of the ring on heap memory and on a mapped file, by one suite.

mod arena;
mod behaviour;
mod forced;
mod hostile;
mod props;
mod stress;

use super::testing::{body, on_both, Bench};
use super::ReadError;
