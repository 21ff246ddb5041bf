//! Shared memory for rmw_shoal: segments, rings, payloads, doorbells. Knows nothing of ROS.
//!
//! Layers, lowest first: [`sync`] (std or loom atomics), [`segment`] (files and mappings), [`lock`] (who is alive),
//! [`futex`] and [`doorbell`] (sleeping and waking), [`arena`] (the owner's allocator), and on top of them the
//! protocols: [`ring`], [`hazard`], [`drain`], [`wait`] (why a wait ended, and how to end it).
//!
//! Nothing read from shared memory is trusted here: every offset, length and index is checked where it is used.

pub mod arena;
pub mod claim;
pub mod crash;
pub mod credit;
pub mod doorbell;
pub mod drain;
pub mod ending;
pub mod futex;
pub mod hazard;
pub mod lock;
pub mod ring;
pub mod segment;
pub mod sync;
pub mod wait;

#[cfg(test)]
mod testing;
