//! The front end of libFuzzer. `SHOAL_FUZZ_TARGET` chooses the target, `SHOAL_FUZZ_SEEDS` the folder for the inputs to start
//! from; `cargo xtask fuzz` builds and starts it.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use shoal_fuzz::{seeded, Target, TARGETS};

fn target() -> &'static Target {
    static TARGET: OnceLock<&Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = std::env::var("SHOAL_FUZZ_TARGET").unwrap_or_default();
        TARGETS.iter().find(|target| target.name == name).expect("SHOAL_FUZZ_TARGET names no target")
    })
}

/// Before libFuzzer reads its corpus.
fn write_seeds() {
    let Some(dir) = std::env::var_os("SHOAL_FUZZ_SEEDS").map(PathBuf::from) else { return };
    for (number, seed) in seeded::seeds(target()).into_iter().enumerate() {
        std::fs::write(dir.join(format!("seed-{number}")), seed).expect("the folder of the corpus can be written");
    }
}

libfuzzer_sys::fuzz_target!(init: write_seeds(), |input: &[u8]| target().execute(input));
