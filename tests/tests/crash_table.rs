//! The table of crash steps in DESIGN.md and the `crash_point!` markers in the code name the same steps, and each row
//! names tests that kill a process there.

use shoal_tests::points::{crash_points, root};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A row of the table.
struct Row {
    steps: Vec<String>,
    /// As `module::function`.
    tests: Vec<String>,
}

fn names(cell: &str) -> Vec<String> {
    cell.split(", ").map(|name| name.trim_matches('`').to_owned()).collect()
}

fn rows() -> Vec<Row> {
    let design = std::fs::read_to_string(root().join("DESIGN.md")).expect("DESIGN.md");
    let section =
        design.split("\n## 6. Crash steps").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("section 6");
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 4, "a row of four cells: {line}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "a step, what is seen, who cleans up, and a test: {line}");
        Row { steps: names(cells[0]), tests: names(cells[3]) }
    };
    section.lines().filter(|line| line.starts_with("| `")).map(row).collect()
}

#[test]
fn every_crash_step_in_the_code_is_in_the_design_once_and_the_other_way_round() {
    let (code, design) = (crash_points(), rows().into_iter().flat_map(|row| row.steps).collect::<Vec<_>>());
    let once: BTreeSet<_> = design.iter().cloned().collect();
    assert_eq!(once.len(), design.len(), "a step in two rows: {design:?}");
    let undescribed: Vec<_> = code.iter().filter(|step| !once.contains(*step)).collect();
    assert!(undescribed.is_empty(), "not in DESIGN.md's table of crash steps: {undescribed:?}");
    let unused: Vec<_> = once.iter().filter(|step| !code.contains(step)).collect();
    assert!(unused.is_empty(), "in DESIGN.md's table, but at no place in the code: {unused:?}");
}

fn file_of(module: &str) -> PathBuf {
    match module {
        "crash_steps" => root().join("registry/tests/crash_steps.rs"),
        _ => root().join("rmw/tests/crash_steps").join(module).with_extension("rs"),
    }
}

/// What stands in the braces of a test function.
fn body_of(test: &str) -> String {
    let (module, function) = test.split_once("::").unwrap_or_else(|| panic!("module::function: {test}"));
    let file = file_of(module);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{test}: {}: {error}", file.display()));
    let head = format!("#[test]\nfn {function}() {{\n");
    let rest = text.split_once(&head).unwrap_or_else(|| panic!("{test}: no such test in {}", file.display())).1;
    rest.split("\n}\n").next().expect("a part").to_owned()
}

/// The tests themselves demand that the process died at the step they were about.
#[test]
fn every_crash_step_is_one_that_a_test_of_its_row_kills_at() {
    for row in rows() {
        let named = |step: &String, test: &String| body_of(test).contains(&format!("\"{step}\""));
        for step in &row.steps {
            assert!(row.tests.iter().any(|test| named(step, test)), "{step}: in none of {:?}", row.tests);
        }
        for test in &row.tests {
            assert!(row.steps.iter().any(|step| named(step, test)), "{test}: about none of {:?}", row.steps);
        }
    }
}
