//! A drawing.

use super::{layout, Picture, Thing};
use std::fmt::Write;

const ROW: usize = 44;
const HEIGHT: usize = 28;
const GAP: usize = 90;
const MARGIN: usize = 20;
/// Pixels that a character takes at most.
const CHARACTER: usize = 8;

struct Box {
    x: usize,
    y: usize,
    width: usize,
}

pub fn draw(picture: &Picture) -> String {
    let places = layout::places(picture);
    let boxes = boxes(picture, &places);
    let right = boxes.iter().map(|b| b.x + b.width).max().unwrap_or(0) + MARGIN;
    let bottom = boxes.iter().map(|b| b.y + HEIGHT).max().unwrap_or(0) + MARGIN;
    let mut out = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{right}" height="{bottom}" font-family="sans-serif" font-size="13">
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>
<rect width="100%" height="100%" fill="#fff"/>"##
    );
    for &(from, to) in &picture.arrows {
        arrow(&mut out, &boxes[from], &boxes[to]);
    }
    for (thing, b) in picture.things.iter().zip(&boxes) {
        shape(&mut out, thing, b);
    }
    out.push_str("</svg>\n");
    out
}

fn boxes(picture: &Picture, places: &[(usize, usize)]) -> Vec<Box> {
    let width = |i: usize| picture.things[i].name().chars().count() * CHARACTER + 24;
    let last = places.iter().map(|(column, _)| column + 1).max().unwrap_or(0);
    let widest = |column| (0..places.len()).filter(|&i| places[i].0 == column).map(width).max().unwrap_or(0);
    let mut starts = vec![MARGIN];
    (0..last).for_each(|column| starts.push(starts[column] + widest(column) + GAP));
    let at = |i: usize| Box { x: starts[places[i].0], y: MARGIN + places[i].1 * ROW, width: width(i) };
    (0..places.len()).map(at).collect()
}

fn arrow(out: &mut String, from: &Box, to: &Box) {
    let (x1, y1) = (from.x + from.width, from.y + HEIGHT / 2);
    let (x2, y2) = (to.x, to.y + HEIGHT / 2);
    // Leaves and arrives sideways; one that leads back swings wide.
    let pull = if x2 > x1 { (x2 - x1) / 2 } else { GAP };
    let (c1, c2) = (x1 + pull, x2 as i64 - pull as i64);
    let _ = writeln!(
        out,
        r##"<path d="M{x1} {y1}C{c1} {y1} {c2} {y2} {x2} {y2}" fill="none" stroke="#667" marker-end="url(#tip)"/>"##
    );
}

fn shape(out: &mut String, thing: &Thing, b: &Box) {
    let (radius, fill) = match thing {
        Thing::Node(_) => (HEIGHT / 2, "#dbe9ff"),
        Thing::Topic(_) => (2, "#fff3c9"),
        Thing::Service(_) => (8, "#dff5dc"),
    };
    let Box { x, y, width } = b;
    let (middle, base) = (x + width / 2, y + HEIGHT / 2 + 5);
    let _ = writeln!(
        out,
        r##"<rect x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="{radius}" fill="{fill}" stroke="#445"/><text x="{middle}" y="{base}" text-anchor="middle">{}</text>"##,
        escaped(thing.name())
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thing_and_arrow_is_drawn_and_names_are_text() {
        let things = vec![Thing::Node("/a<b&c>".into()), Thing::Topic("/t".into())];
        let drawn = draw(&Picture { things, arrows: [(0, 1)].into() });
        assert!(drawn.contains("/a&lt;b&amp;c&gt;</text>") && drawn.contains(">/t</text>"), "{drawn}");
        assert_eq!(drawn.matches("<path d=\"M1").count(), 1);
    }
}
