//! The targets.

mod cdr;
mod damage;
mod files;
mod filter;
mod graph;
mod ring;
mod talk;
mod world;

/// One thing to be fuzzed.
pub struct Target {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Bytes of memory that one run may take, beside 64 for each byte of its input.
    pub memory: usize,
    /// Runs in the normal tests.
    pub in_tests: u64,
    /// Inputs to start from.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    pub(crate) run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "ring",
        about: "a ring, its hazards, doorbells and marks, damaged before and during each kind of read",
        memory: 1 << 20,
        in_tests: 50_000,
        seeds: ring::seeds,
        run: ring::run,
    },
    Target {
        name: "cdr",
        about: "any bytes as a message of any type, in both byte orders and both kinds of containers",
        memory: 1 << 20,
        in_tests: 50_000,
        seeds: cdr::seeds,
        run: cdr::run,
    },
    Target {
        name: "filter",
        about: "any text as a content filter, with any parameters, on any values",
        memory: 1 << 20,
        in_tests: 50_000,
        seeds: filter::seeds,
        run: filter::run,
    },
    Target {
        name: "graph",
        about: "a damaged registry file under everything that reads or changes it",
        memory: 96 << 20,
        in_tests: 1_000,
        seeds: graph::seeds,
        run: graph::run,
    },
    Target {
        name: "talk",
        about: "damaged registry and segments under topics, loans, services, events, waits and graph queries",
        memory: 96 << 20,
        in_tests: 500,
        seeds: talk::seeds,
        run: talk::run,
    },
    Target {
        name: "files",
        about: "links, folders, pipes and files of any length and header in place of a domain's files",
        memory: 4 << 20,
        in_tests: 500,
        seeds: files::seeds,
        run: files::run,
    },
];
