//! Plots as SVG: round trips by size, and each row's figures side by side.

use std::path::Path;

use plotters::prelude::*;

use crate::error::{Error, Result};
use crate::figures::{Figures, FLOOR};
use crate::work::SIZES;

const COLOURS: [RGBColor; 5] = [BLUE, RED, GREEN, MAGENTA, BLACK];

fn failed(path: &Path) -> impl Fn(&dyn std::fmt::Display) -> Error + '_ {
    move |error| Error::Other(format!("{}: {error}", path.display()))
}

/// Median round trips (`family`: rtt or loan) in µs by payload, on logarithmic axes, with the floor `fx + 4 mc`.
///
/// # Errors
/// The file cannot be written.
pub fn round_trips(path: &Path, figures: &Figures, family: &str, names: &[String]) -> Result<()> {
    let fail = failed(path);
    let value = |who: &str, name: &str| {
        let row = format!("{family}-{name}");
        match who {
            FLOOR if family == "rtt" => Some(figures.median(&row, who, "fx")? + 4.0 * figures.median(&row, who, "mc")?),
            FLOOR => figures.median(&row, who, "fx"),
            _ => figures.median(&row, who, "p50"),
        }
    };
    let line = |who: &str| -> Vec<(f64, f64)> {
        SIZES.iter().filter_map(|(name, size)| Some((*size as f64, value(who, name)?))).collect()
    };
    let lines: Vec<(&str, Vec<(f64, f64)>)> =
        names.iter().map(String::as_str).chain([FLOOR]).map(|who| (who, line(who))).collect();
    let all = || lines.iter().flat_map(|(_, points)| points.iter().map(|point| point.1));
    let (Some(least), Some(most)) = (all().min_by(f64::total_cmp), all().max_by(f64::total_cmp)) else { return Ok(()) };
    let area = SVGBackend::new(path, (800, 500)).into_drawing_area();
    area.fill(&WHITE).map_err(|e| fail(&e))?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{family}: median round trip, µs, by payload, bytes"), ("sans-serif", 18))
        .margin(10)
        .x_label_area_size(30)
        .y_label_area_size(60)
        .build_cartesian_2d((50f64..1e7).log_scale(), (least * 0.8..most * 1.2).log_scale())
        .map_err(|e| fail(&e))?;
    chart.configure_mesh().draw().map_err(|e| fail(&e))?;
    for ((who, points), colour) in lines.iter().zip(COLOURS) {
        let series = LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3);
        let drawn = chart.draw_series(series).map_err(|e| fail(&e))?;
        drawn.label(*who).legend(move |(x, y)| PathElement::new([(x, y), (x + 15, y)], colour));
    }
    let mut labels = chart.configure_series_labels();
    labels.position(SeriesLabelPosition::UpperLeft).border_style(BLACK).draw().map_err(|e| fail(&e))?;
    area.present().map_err(|e| fail(&e))
}

/// Each RMW's median over the first one's, for one figure of several rows.
///
/// # Errors
/// The file cannot be written.
pub fn ratios(path: &Path, figures: &Figures, pairs: &[(&str, &str)], names: &[String]) -> Result<()> {
    let fail = failed(path);
    let Some((first, others)) = names.split_first() else { return Ok(()) };
    let ratio = |who: &str, row: &str, figure: &str| {
        Some(figures.median(row, who, figure)? / figures.median(row, first, figure)?)
    };
    let mut bars = Vec::new();
    for (row, figure) in pairs {
        for (other, colour) in others.iter().zip(&COLOURS[1..]) {
            bars.extend(ratio(other, row, figure).map(|ratio| (format!("{row}, {figure}: {other}"), ratio, *colour)));
        }
    }
    let Some(most) = bars.iter().map(|bar| bar.1).max_by(f64::total_cmp) else { return Ok(()) };
    let height = 60 + 22 * bars.len() as u32;
    let area = SVGBackend::new(path, (900, height)).into_drawing_area();
    area.fill(&WHITE).map_err(|e| fail(&e))?;
    let caption = format!("times the figure of {first}");
    area.draw_text(&caption, &("sans-serif", 18).into_text_style(&area), (10, 8)).map_err(|e| fail(&e))?;
    let longest = most.max(1.0).ln_1p();
    for (i, (text, ratio, colour)) in bars.iter().enumerate() {
        let top = 40 + 22 * i as i32;
        let end = 420 + (ratio.ln_1p() / longest * 380.0) as i32;
        area.draw(&Rectangle::new([(420, top), (end, top + 16)], colour.filled())).map_err(|e| fail(&e))?;
        let style = ("sans-serif", 13).into_text_style(&area);
        area.draw_text(text, &style, (10, top + 2)).map_err(|e| fail(&e))?;
        area.draw_text(&format!("{ratio:.1}"), &style, (end + 6, top + 2)).map_err(|e| fail(&e))?;
    }
    area.present().map_err(|e| fail(&e))
}
