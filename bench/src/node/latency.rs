//! When a message was sent, in its text, and how long it took.

use nix::time::{clock_gettime, ClockId};
use std::io::Write;
use std::path::Path;

/// Digits of the time at the beginning of a text.
const DIGITS: usize = 20;

/// Nanoseconds of the clock that all processes share.
fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC);
    time.map_or(0, |t| t.tv_sec().unsigned_abs() * 1_000_000_000 + t.tv_nsec().unsigned_abs())
}

/// A text of `size` bytes that begins with the present time.
pub fn stamped(size: usize) -> Vec<u8> {
    let mut text = format!("{:0DIGITS$}", now()).into_bytes();
    text.resize(size.max(DIGITS), b'x');
    text
}

/// How long messages took, in nanoseconds.
#[derive(Default)]
pub struct Latencies(Vec<u64>);

impl Latencies {
    /// Notes the arrival of a text that `stamped` made.
    pub fn note(&mut self, text: &[u8]) {
        let stamp = text.get(..DIGITS).and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
        self.0.extend(stamp.map(|sent| now().saturating_sub(sent)));
    }

    /// Writes what was noted since the last time.
    pub fn write(&mut self, path: &Path) -> std::io::Result<()> {
        let bytes: Vec<u8> = self.0.drain(..).flat_map(u64::to_le_bytes).collect();
        std::fs::File::create(path)?.write_all(&bytes)
    }
}
