//! Cross-process tests of rmw_shoal: real processes, real kills.

pub mod payload;
pub mod points;
pub mod process;
#[cfg(feature = "crash-steps")]
pub mod storm;
pub mod stream;
pub mod work;
