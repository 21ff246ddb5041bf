//! Set-up, demo and tests of rmw_shoal: `cargo xtask --help`.
fn main() {}
