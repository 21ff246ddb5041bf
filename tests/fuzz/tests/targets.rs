//! Each target on its regressions, and for a moment on seeded mutations. `cargo xtask fuzz` runs them for longer.

use std::sync::Mutex;

use shoal_fuzz::seeded::{regressions, Plan};
use shoal_fuzz::TARGETS;

/// One at a time: memory is counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

fn run(name: &str) {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let target = TARGETS.iter().find(|target| target.name == name).expect("a target");
    for (file, input) in regressions(target) {
        println!("{file}");
        target.execute(&input);
    }
    let plan = Plan { target, seed: 1, end: None, most: target.in_tests };
    let mut last = Vec::new();
    let outcome =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| plan.run(&mut |input| last = input.to_vec())));
    assert!(outcome.is_ok_and(|runs| runs == target.in_tests), "{name} has found something with {last:?}");
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test] fn $name() { run(stringify!($name)); })*

        #[test]
        fn each_target_has_its_test() {
            let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

targets!(ring cdr filter graph talk files);
