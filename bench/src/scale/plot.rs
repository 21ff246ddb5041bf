//! Curves over the number of nodes, one file for each figure.

use super::outcome::Outcome;
use super::Error;
use plotters::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;

/// A figure of a run; `None` where there is none.
type Figure = fn(&Outcome) -> Option<f64>;

const FIGURES: [(&str, &str, Figure); 6] = [
    ("matched", "seconds until all are matched", |o| o.matched.then_some(o.seconds_matched)),
    ("cpu", "ms of CPU per node until matched", |o| Some(1000.0 * o.cpu_matched / o.nodes as f64)),
    ("memory", "MB of memory, page tables and mappings included", |o| Some(o.memory.total() as f64 / 1e6)),
    ("steady", "cores under load", |o| o.load.map(|l| l.cores)),
    ("p50", "µs, p50", |o| o.load?.latency.map(|q| q.p50)),
    ("p99", "µs, p99", |o| o.load?.latency.map(|q| q.p99)),
];

/// Draws `<figure>.svg` for each figure of which there are at least two points.
pub fn draw_all(dir: &Path, outcomes: &[Outcome]) -> Result<(), Error> {
    for (name, label, figure) in FIGURES {
        let mut curves: BTreeMap<&str, Vec<(f64, f64)>> = BTreeMap::new();
        for outcome in outcomes {
            if let Some(value) = figure(outcome) {
                curves.entry(&outcome.rmw).or_default().push((outcome.nodes as f64, value));
            }
        }
        if curves.values().any(|curve| curve.len() > 1) {
            let path = dir.join(format!("{name}.svg"));
            draw(&path, label, &curves).map_err(|e| Error::Plot(format!("{}: {e}", path.display())))?;
        }
    }
    Ok(())
}

fn draw(path: &Path, label: &str, curves: &BTreeMap<&str, Vec<(f64, f64)>>) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.values().flatten();
    let (right, top) = points().fold((1.0_f64, 1e-3_f64), |(x, y), p| (x.max(p.0), y.max(p.1)));
    let root = SVGBackend::new(path, (720, 440)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(12)
        .caption(label, ("sans-serif", 18))
        .x_label_area_size(32)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..right, 0.0..top * 1.05)?;
    chart.configure_mesh().x_desc("nodes").draw()?;
    for (i, (rmw, curve)) in curves.iter().enumerate() {
        let color = Palette99::pick(i).stroke_width(2);
        let line = LineSeries::new(curve.iter().copied(), color).point_size(3);
        chart.draw_series(line)?.label(*rmw).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color));
    }
    chart.configure_series_labels().border_style(BLACK).background_style(WHITE).draw()?;
    root.present()?;
    Ok(())
}
