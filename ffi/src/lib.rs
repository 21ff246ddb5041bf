//! The RMW plugin of rmw_shoal: `librmw_shoal.so`, every `rmw_*` symbol that rcl looks up.
//!
//! Translation only: C arguments in, the plain Rust of `shoal_rmw` called, its answer out as C.
pub mod boundary;
mod content_filter;
pub mod entry;
mod handle;
mod message;
mod names;
mod qos;
mod strings;
pub mod sys;
pub mod typesupport;
