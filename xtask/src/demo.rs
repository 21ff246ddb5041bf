//! `cargo xtask demo`: tests/ros/demo.py on the built plugin.

use crate::prefix::{self, Distro};
use crate::run::{self, Failure};
use crate::{cases, plugin};

/// Sets up, builds and runs the demo with our own standard streams; fails when anything of it is not seen.
pub fn run(distro: Option<Distro>) -> Result<(), Failure> {
    let prefix = prefix::find_or_make(distro)?;
    let lib = plugin::build(&prefix)?;
    run::run_as_is(&mut cases::python(&prefix, Some(&lib), "demo.py"))
}
