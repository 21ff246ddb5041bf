//! Times in ns, summarized.

use hdrhistogram::Histogram;
use serde_json::{json, Value};

use crate::error::{Error, Result};

/// A collection of times.
pub struct Times(Histogram<u64>);

impl Times {
    /// None yet; up to ten seconds, to three digits.
    pub fn new() -> Result<Times> {
        Histogram::new_with_bounds(1, 10_000_000_000, 3).map(Times).map_err(|e| Error::Other(e.to_string()))
    }

    /// Adds one.
    pub fn add(&mut self, ns: u64) {
        self.0.saturating_record(ns.max(1));
    }

    /// The percentiles, in microseconds.
    pub fn summary(&self) -> Value {
        let at = |quantile| self.0.value_at_quantile(quantile) as f64 / 1000.0;
        json!({ "p50": at(0.5), "p99": at(0.99), "p99.9": at(0.999), "samples": self.0.len() })
    }

    /// The median, in ns.
    pub fn median(&self) -> f64 {
        self.0.value_at_quantile(0.5) as f64
    }
}
