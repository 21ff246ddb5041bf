//! The table of edges in DESIGN.md and the `ORDERING(tag)` comments in the code name the same edges, each with both ends
//! and a loom model.

use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_path_buf()
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The tags in the code, with the number of places each stands at.
fn tags() -> BTreeMap<String, usize> {
    let mut files = Vec::new();
    ["shm", "registry", "rmw", "ffi"].iter().for_each(|part| sources(&root().join(part).join("src"), &mut files));
    let mut tags = BTreeMap::new();
    for text in files.iter().map(|file| read_to_string(file).expect("a source file")) {
        for found in text.split("ORDERING(").skip(1) {
            let tag = found.split(')').next().expect("a closing parenthesis");
            *tags.entry(tag.to_string()).or_default() += 1;
        }
    }
    tags
}

/// The edges that each file's models are of. `model!` demands of each a claim and a twin that lacks something.
fn modelled() -> BTreeMap<PathBuf, Vec<String>> {
    let mut files = Vec::new();
    ["shm", "registry", "rmw", "ffi"].iter().for_each(|part| sources(&root().join(part).join("src"), &mut files));
    let edges_of = |text: &str| -> Vec<String> {
        let models =
            text.split("model! {").skip(1).filter_map(|model| model.split("edges: [").nth(1)?.split(']').next());
        models.flat_map(|edges| edges.split(", ")).map(|edge| edge.trim_matches('"').to_string()).collect()
    };
    let models = files.into_iter().map(|file| (file.clone(), edges_of(&read_to_string(&file).expect("a source file"))));
    models.filter(|(_, edges)| !edges.is_empty()).collect()
}

/// The rows of the table: tag and model.
fn edges() -> BTreeMap<String, String> {
    let design = read_to_string(root().join("DESIGN.md")).expect("DESIGN.md");
    let section = design.split("\n## 5. Edges").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("section 5");
    let mut edges = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        assert_eq!(cells.len(), 5, "a row of five cells: {row}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "an edge with two ends, a claim and a model: {row}");
        for tag in cells[0].split(", ") {
            edges.insert(tag.trim_matches('`').to_string(), cells[4].to_string());
        }
    }
    edges
}

#[test]
fn every_edge_in_the_code_is_in_the_design_and_the_other_way_round() {
    let (tags, edges) = (tags(), edges());
    assert!(!tags.is_empty());
    let undescribed: Vec<_> = tags.keys().filter(|tag| !edges.contains_key(*tag)).collect();
    assert!(undescribed.is_empty(), "not in DESIGN.md's table of edges: {undescribed:?}");
    let unused: Vec<_> = edges.keys().filter(|tag| !tags.contains_key(*tag)).collect();
    assert!(unused.is_empty(), "in DESIGN.md's table, but at no place in the code: {unused:?}");
}

#[test]
fn every_edge_has_both_ends() {
    let single: Vec<_> = tags().into_iter().filter(|(_, places)| *places < 2).collect();
    assert!(single.is_empty(), "only one place each: {single:?}");
}

#[test]
fn every_edge_has_a_model_where_the_design_says() {
    let modelled = modelled();
    for (tag, model) in edges() {
        let file = root().join(model.trim_matches('`'));
        let found = modelled.get(&file).is_some_and(|edges| edges.contains(&tag));
        let others: Vec<_> = modelled.iter().filter(|(_, edges)| edges.contains(&tag)).map(|(file, _)| file).collect();
        assert!(found, "the edge {tag} has no model in {model}; files with a model of it: {others:?}");
    }
}

#[test]
fn every_model_is_of_edges_in_the_code() {
    let tags = tags();
    for (file, edges) in modelled() {
        let unknown: Vec<_> = edges.iter().filter(|edge| !tags.contains_key(*edge)).collect();
        assert!(unknown.is_empty(), "{}: models of edges that no ORDERING comment names: {unknown:?}", file.display());
    }
}
