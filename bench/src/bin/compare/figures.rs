//! What was measured: by row, by who, by figure, one value a round.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{json, Value};

/// Who the floors' figures are booked under.
pub const FLOOR: &str = "floor";

/// All figures of a run.
#[derive(Default)]
pub struct Figures {
    values: BTreeMap<(String, String, String), Vec<f64>>,
    failures: BTreeMap<(String, String), Vec<String>>,
}

impl Figures {
    /// Adds one round's value.
    pub fn add(&mut self, row: &str, who: &str, figure: &str, value: f64) {
        self.values.entry((row.into(), who.into(), figure.into())).or_default().push(value);
    }

    /// Notes that a round failed.
    pub fn fail(&mut self, row: &str, who: &str, why: String) {
        self.failures.entry((row.into(), who.into())).or_default().push(why);
    }

    /// All rounds' values.
    pub fn rounds(&self, row: &str, who: &str, figure: &str) -> &[f64] {
        self.values.get(&(row.into(), who.into(), figure.into())).map_or(&[], Vec::as_slice)
    }

    /// The median of the rounds.
    pub fn median(&self, row: &str, who: &str, figure: &str) -> Option<f64> {
        median(self.rounds(row, who, figure))
    }

    /// The names of the figures of a row.
    pub fn names(&self, row: &str) -> BTreeSet<String> {
        self.values.keys().filter(|(of, who, _)| of == row && who != FLOOR).map(|key| key.2.clone()).collect()
    }

    /// The names of the figures of a row's floors.
    pub fn floors(&self, row: &str) -> BTreeSet<String> {
        self.values.keys().filter(|(of, who, _)| of == row && who == FLOOR).map(|key| key.2.clone()).collect()
    }

    /// Rounds that failed: row, who, why.
    pub fn failures(&self) -> impl Iterator<Item = (&str, &str, &[String])> {
        self.failures.iter().map(|((row, who), why)| (row.as_str(), who.as_str(), why.as_slice()))
    }

    /// Everything: medians and rounds.
    pub fn to_json(&self) -> Value {
        let mut all = json!({});
        for ((row, who, figure), rounds) in &self.values {
            all[row][who][figure] = json!({ "median": median(rounds), "rounds": rounds });
        }
        for ((row, who), why) in &self.failures {
            all[row][who]["failed"] = json!(why);
        }
        all
    }
}

/// The middle value; the mean of the two middle ones.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        1 => Some(sorted[middle]),
        _ => Some((sorted.get(middle.checked_sub(1)?)? + sorted.get(middle)?) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_two_middle_ones() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, f64::NAN, 3.0, 2.0]), Some(2.5));
    }
}
