//! The table of crash steps in DESIGN.md and the `crash_point!` markers in the code name the same steps.

use shoal_tests::points::{crash_points, root};
use std::collections::BTreeSet;

/// The steps in the first cells of the table's rows.
fn described() -> Vec<String> {
    let design = std::fs::read_to_string(root().join("DESIGN.md")).expect("DESIGN.md");
    let section =
        design.split("\n## 6. Crash steps").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("section 6");
    let mut steps = Vec::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 3, "a row of three cells: {row}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "a step, what is seen, and who cleans up: {row}");
        steps.extend(cells[0].split(", ").map(|step| step.trim_matches('`').to_owned()));
    }
    steps
}

#[test]
fn every_crash_step_in_the_code_is_in_the_design_once_and_the_other_way_round() {
    let (code, design) = (crash_points(), described());
    let once: BTreeSet<_> = design.iter().cloned().collect();
    assert_eq!(once.len(), design.len(), "a step in two rows: {design:?}");
    let undescribed: Vec<_> = code.iter().filter(|step| !once.contains(*step)).collect();
    assert!(undescribed.is_empty(), "not in DESIGN.md's table of crash steps: {undescribed:?}");
    let unused: Vec<_> = once.iter().filter(|step| !code.contains(step)).collect();
    assert!(unused.is_empty(), "in DESIGN.md's table, but at no place in the code: {unused:?}");
}
