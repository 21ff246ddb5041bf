//! The figures as a table (ratios first) and as JSON.

use std::fmt::Write;

use serde_json::{json, Value};

use crate::bars::Bar;
use crate::figures::{Figures, FLOOR};
use crate::work::Row;

/// The table of the bars.
pub fn bars(bars: &[Bar]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for bar in bars {
        let verdict = match bar.is_met() {
            Some(true) => "met    ",
            Some(false) => "NOT MET",
            None => continue,
        };
        let measured = bar.measured.unwrap_or(f64::NAN);
        let _ = writeln!(
            text,
            "{verdict}  {:20} {:48} {:>9}  {} {}",
            bar.row,
            bar.text,
            short(measured),
            bar.sign(),
            bar.limit
        );
    }
    text
}

/// Every figure of every row: the first RMW's, its ratio to each other one, then the absolute ones.
pub fn table(figures: &Figures, rows: &[Row], names: &[String]) -> String {
    let mut text = String::new();
    let Some((first, others)) = names.split_first() else { return text };
    for row in rows {
        for figure in figures.names(&row.name) {
            let own = figures.median(&row.name, first, &figure);
            let _ = write!(text, "{:20} {figure:28}", row.name);
            for other in others {
                let ratio = own.zip(figures.median(&row.name, other, &figure)).map(|(own, its)| own / its);
                let _ = write!(text, " {:>10}", ratio.map_or("-".into(), |ratio| format!("{}×", short(ratio))));
            }
            let _ = write!(text, "  |");
            for name in names {
                let value = figures.median(&row.name, name, &figure);
                let _ = write!(text, " {:>12}", value.map_or("-".into(), short));
            }
            let _ = writeln!(text);
        }
        for floor in figures.floors(&row.name) {
            let Some(value) = figures.median(&row.name, FLOOR, &floor) else { continue };
            let _ = write!(text, "{:20} floor {floor:22} {}", row.name, short(value));
            let own = figures.median(&row.name, first, &floor).map(|own| own / value);
            let _ = writeln!(text, "{}", own.map_or(String::new(), |own| format!("; {first} {}×", short(own))));
        }
    }
    for (row, who, why) in figures.failures() {
        let _ = writeln!(text, "{row} {who}: {} rounds failed, the last: {}", why.len(), why[why.len() - 1]);
    }
    text
}

/// Three significant digits, or whole numbers.
fn short(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        middle if middle >= 1.0 || middle == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The bars as JSON.
pub fn bars_json(bars: &[Bar]) -> Value {
    let one = |bar: &Bar| {
        json!({ "row": bar.row, "bar": bar.text, "measured": bar.measured, "sign": bar.sign(), "limit": bar.limit,
            "met": bar.is_met() })
    };
    bars.iter().map(one).collect()
}
