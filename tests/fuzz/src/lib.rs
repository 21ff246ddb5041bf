//! Fuzz targets: memory, messages and files that may say anything. `cargo xtask fuzz` runs them.
//!
//! A target is a function of bytes. It builds the real thing with the real writers, lets the bytes damage it, and uses it
//! in every way there is. What must not happen: a panic, a signal, a step without end, memory without bound.
//!
//! Two engines run the same targets: libFuzzer (`src/bin/guided.rs`: guided by coverage, with the address sanitizer), where
//! a nightly compiler is installed, and else a loop of seeded mutations (`src/bin/seeded.rs`, [`seeded`]). The normal tests
//! run the second one for a moment, and every input that once found something (`regressions`).

mod allocation;
mod input;
mod mutate;
pub mod seeded;
mod targets;

pub use targets::{Target, TARGETS};

/// What the messages of the CDR target lie in is shared with the unit tests of the serializer.
mod cdr {
    pub use shoal_rmw::cdr::*;
}
#[path = "../../../rmw/src/cdr/tests/containers.rs"]
#[allow(missing_docs, dead_code, unreachable_pub)]
mod containers;
#[path = "../../../rmw/src/cdr/tests/model.rs"]
#[allow(missing_docs, dead_code, unreachable_pub)]
mod model;
#[path = "../../../rmw/src/cdr/tests/object.rs"]
#[allow(missing_docs, dead_code, unreachable_pub)]
mod object;

impl Target {
    /// Runs the target once.
    ///
    /// # Panics
    /// The target has found something, or one run took more memory than it may.
    pub fn execute(&self, input: &[u8]) {
        let most = allocation::most_during(|| (self.run)(input));
        let allowed = self.memory + 64 * input.len();
        assert!(most <= allowed, "one run took {most} bytes of memory, where {allowed} would be many");
    }
}
