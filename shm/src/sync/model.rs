//! Models of protocols: what is claimed of which edges, scenes that show it, and weakened twins that must break it.
//!
//! [`model!`](crate::model) makes a test of one claim. Under loom it explores every interleaving of each scene, demands
//! that each twin fails with the words of the claim's assertion, and prints a line `MODEL edges | name | claim |
//! executions | twins`, from which `cargo xtask loom` makes its table. With std's atomics it runs the scenes many times.

use super::{explore, refute, EXHAUSTIVE};

/// A protocol that lacks something.
pub struct Twin {
    /// What it lacks.
    pub lacks: &'static str,
    /// The words with which it must fail.
    pub breaks: &'static str,
    /// The scene, played with the weakened protocol.
    pub scene: fn(),
}

/// One claim; made by [`model!`](crate::model).
pub struct Model {
    /// The test's name.
    pub name: &'static str,
    /// Tags of the edges in DESIGN.md.
    pub edges: &'static [&'static str],
    /// One sentence.
    pub claim: &'static str,
    /// Each must hold in every interleaving.
    pub scenes: &'static [fn()],
    /// Each must fail in some interleaving.
    pub twins: &'static [Twin],
}

impl Model {
    /// Explores the scenes and refutes the twins.
    ///
    /// # Panics
    /// When a scene fails, or a twin does not, or not by breaking the claim.
    pub fn check(&self) {
        let executions: u64 = self.scenes.iter().map(|scene| explore(*scene)).sum();
        if !EXHAUSTIVE {
            // Real threads may well survive a missing fence.
            return;
        }
        self.twins.iter().for_each(Twin::refute);
        let (name, claim, twins) = (self.name, self.claim, self.twins.len());
        println!("MODEL {} | {name} | {claim} | {executions} | {twins} of {twins}", self.edges.join(", "));
    }
}

impl Twin {
    fn refute(&self) {
        let Twin { lacks, breaks, scene } = self;
        match refute(*scene) {
            None => panic!("the protocol without {lacks} survives every interleaving, so the model proves nothing"),
            Some(said) => assert!(said.contains(breaks), "without {lacks} it fails, but not with '{breaks}': {said}"),
        }
    }
}

/// Makes a test of a claim about edges, which must have at least one weakened twin. See [`Model`](crate::sync::Model).
#[macro_export]
macro_rules! model {
    ($name:ident {
        edges: [$($edge:literal),+],
        claim: $claim:literal,
        scenes: [$($scene:expr),+ $(,)?],
        twins: [$($lacks:literal: $twin:expr => $breaks:expr),+ $(,)?],
    }) => {
        #[test]
        fn $name() {
            $crate::sync::Model {
                name: stringify!($name),
                edges: &[$($edge),+],
                claim: $claim,
                scenes: &[$($scene),+],
                twins: &[$($crate::sync::Twin { lacks: $lacks, breaks: $breaks, scene: $twin }),+],
            }
            .check();
        }
    };
}
