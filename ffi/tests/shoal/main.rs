//! shoal.h as programs in C and C++ use it, each with a second process.

mod bounds;
#[path = "../common/mod.rs"]
mod common;
mod credit;
mod headers;
mod interruption;
#[path = "../common/native.rs"]
mod native;
mod programs;
mod progress;
mod streams;
mod work;
