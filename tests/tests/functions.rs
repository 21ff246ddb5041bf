//! Section 7 of DESIGN.md says of every exported function which concept it belongs to.

use std::path::{Path, PathBuf};

fn read(file: &str) -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").into();
    std::fs::read_to_string(root.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// The sections under "ROS concepts": heading and text.
fn concepts(design: &str) -> Vec<(&str, &str)> {
    let chapter = design.split("\n## 7. ROS concepts").nth(1).and_then(|rest| rest.split("\n## ").next());
    let sections = chapter.expect("section 7").split("\n### ").skip(1);
    sections.map(|section| section.split_once('\n').expect("a heading and a text")).collect()
}

/// What a section's last line lists.
fn functions(text: &str) -> Vec<&str> {
    let last = text.trim_end().lines().last().expect("a text");
    let list = last.strip_prefix("*Functions:* ").and_then(|list| list.strip_suffix('.'));
    list.into_iter().flat_map(|list| list.split(", ")).map(|name| name.trim_matches('`')).collect()
}

#[test]
fn each_concept_ends_with_its_functions_and_each_export_has_one_concept() {
    let (design, exports) = (read("DESIGN.md"), read("ffi/tests/exported_symbols.txt"));
    let mut named = Vec::new();
    for (heading, text) in concepts(&design) {
        let own = functions(text);
        // What is not of ROS has functions of its own, in a header of its own.
        assert!(!own.is_empty() || heading.contains("shoal.h"), "{heading} ends without its functions");
        named.extend(own);
    }
    named.sort_unstable();
    assert_eq!(named, exports.lines().collect::<Vec<_>>());
}
