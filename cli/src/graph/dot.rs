//! Graphviz text.

use super::{Picture, Thing};
use std::fmt::Write;

pub fn write(picture: &Picture) -> String {
    let mut out = String::from("digraph shoal {\n  rankdir=LR;\n  node [fontname=\"sans-serif\"];\n");
    for (i, thing) in picture.things.iter().enumerate() {
        let shape = match thing {
            Thing::Node(_) => "ellipse",
            Thing::Topic(_) => "box",
            Thing::Service(_) => "diamond",
        };
        // Writing into a String cannot fail.
        let _ = writeln!(out, "  n{i} [label={}, shape={shape}];", quoted(thing.name()));
    }
    for (from, to) in &picture.arrows {
        let _ = writeln!(out, "  n{from} -> n{to};");
    }
    out.push_str("}\n");
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
