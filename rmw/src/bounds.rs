//! How far a subscription may be behind, and what becomes of it then.

use std::time::Duration;

use shoal_registry::KEEP_ALL_DEPTH;

use crate::error::{Error, Result};

/// What becomes of a subscription that is further behind a publisher than its bounds allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenBehind {
    /// It goes on with the newest samples that are within the bounds, and is told nothing.
    #[default]
    KeepLast,
    /// It is told [`Outcome::Shed`](crate::Outcome), and gets nothing more of this publisher until it joins it again.
    Shed,
    /// Its publishers wait, at most 100 ms, before they go beyond its bound on messages; then as [`Shed`](Self::Shed), and
    /// they do not wait again before it has caught up.
    Wait,
}

/// How far a subscription may be behind each of its publishers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Samples that were not taken, 1 to 65,536. `None`: as many as the profile keeps; for
    /// [`WhenBehind::Shed`] and [`WhenBehind::Wait`] 65,536. No publisher keeps more for this subscription.
    pub messages: Option<u32>,
    /// Bytes of those samples. The newest one may be longer.
    pub bytes: Option<u64>,
    /// Age of the oldest of them, by its source time.
    pub age: Option<Duration>,
    /// What becomes of it then.
    pub when_behind: WhenBehind,
}

/// Bounds in use.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    /// Nanoseconds.
    pub(crate) age: i64,
    pub(crate) sheds: bool,
    pub(crate) waits: bool,
}

impl Bounds {
    /// `depth`: how many samples the profile keeps.
    pub(crate) fn limits(&self, depth: u32) -> Result<Limits> {
        let waits = self.when_behind == WhenBehind::Wait;
        let sheds = waits || self.when_behind == WhenBehind::Shed;
        let unlimited = if sheds { KEEP_ALL_DEPTH } else { depth };
        let messages = self.messages.unwrap_or(unlimited);
        if !(1..=KEEP_ALL_DEPTH).contains(&messages) {
            return Err(wrong(format!("{messages} messages; give 1 to {KEEP_ALL_DEPTH}")));
        }
        if self.bytes == Some(0) {
            return Err(wrong("0 bytes; give at least 1, or no bound".into()));
        }
        if self.age == Some(Duration::ZERO) {
            return Err(wrong("an age of 0; give at least a nanosecond, or no bound".into()));
        }
        let age = self.age.map_or(i64::MAX, |age| i64::try_from(age.as_nanos()).unwrap_or(i64::MAX));
        let messages = if sheds { messages } else { messages.min(depth) };
        Ok(Limits { messages: messages.into(), bytes: self.bytes.unwrap_or(u64::MAX), age, sheds, waits })
    }
}

fn wrong(what: String) -> Error {
    Error::InvalidArgument(format!("a subscription cannot have a bound of {what}"))
}
