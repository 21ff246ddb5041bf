//! The one switch between std and loom.
//!
//! Protocol code takes its words as `&AtomicU64`, `&AtomicU32` or slices of them, so the same code runs on mapped
//! memory, on heap memory and, under `--cfg loom`, on loom's atomics. A loom atomic cannot live in mapped memory: there
//! [`words_at`] and [`address`] answer `None`, and only heap memory works.
//!
//! `SeqCst` is used as a fence only; loom models nothing else of it.

pub(crate) mod flag;
mod model;
pub use model::{Model, Twin};

#[cfg(loom)]
mod modelled;
#[cfg(loom)]
pub use modelled::*;

#[cfg(not(loom))]
mod native;
#[cfg(not(loom))]
pub use native::*;
