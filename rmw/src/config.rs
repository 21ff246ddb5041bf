//! The file that `SHOAL_CONFIG` names: bounds of slow subscriptions, by topic.
//!
//! ```toml
//! [topics."/scan"]
//! messages = 100        # samples that were not taken, 1 to 65536
//! bytes = 4194304       # bytes of those
//! age = 0.5             # seconds since the oldest of those was sent
//! when-behind = "shed"  # beyond any of these; or "wait", "keep-last"
//! ```
//! What is left out is no bound. A subscription's own bounds (`Subscription::set_bounds`) replace those of the file.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use shoal_registry::KEEP_ALL_DEPTH;

use crate::bounds::{Bounds, WhenBehind};
use crate::error::{Error, Result};

/// What the file says.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    topics: BTreeMap<String, Topic>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Topic {
    #[serde(default, deserialize_with = "messages")]
    messages: Option<u32>,
    #[serde(default, deserialize_with = "bytes")]
    bytes: Option<u64>,
    #[serde(default, deserialize_with = "age")]
    age: Option<Duration>,
    #[serde(default)]
    when_behind: Choice,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Choice {
    #[default]
    KeepLast,
    Shed,
    Wait,
}

impl Config {
    /// The file that `SHOAL_CONFIG` names; nothing where it is not set.
    ///
    /// # Errors
    /// The file cannot be read, or says something that is not known or cannot be: with its line and the value.
    pub(crate) fn from_environment() -> Result<Config> {
        match std::env::var_os("SHOAL_CONFIG").filter(|path| !path.is_empty()) {
            Some(path) => Self::read(Path::new(&path)),
            None => Ok(Config::default()),
        }
    }

    fn read(path: &Path) -> Result<Config> {
        let wrong = |problem: &dyn std::fmt::Display| {
            let path = path.display();
            Error::InvalidArgument(format!("SHOAL_CONFIG={path}: {problem}; correct the file, or unset SHOAL_CONFIG"))
        };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(&error))?;
        toml::from_str(&text).map_err(|error| wrong(&error.to_string().trim_end()))
    }

    /// The bounds of subscriptions of a topic.
    pub(crate) fn bounds(&self, topic: &str) -> Option<Bounds> {
        self.topics.get(topic).map(|topic| Bounds {
            messages: topic.messages,
            bytes: topic.bytes,
            age: topic.age,
            when_behind: match topic.when_behind {
                Choice::KeepLast => WhenBehind::KeepLast,
                Choice::Shed => WhenBehind::Shed,
                Choice::Wait => WhenBehind::Wait,
            },
        })
    }
}

fn messages<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<u32>, D::Error> {
    let given = i64::deserialize(from)?;
    let fits = u32::try_from(given).ok().filter(|messages| (1..=KEEP_ALL_DEPTH).contains(messages));
    fits.map(Some).ok_or_else(|| D::Error::custom(format!("messages = {given}: give 1 to {KEEP_ALL_DEPTH}")))
}

fn bytes<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<u64>, D::Error> {
    let given = i64::deserialize(from)?;
    let fits = u64::try_from(given).ok().filter(|bytes| *bytes > 0);
    fits.map(Some).ok_or_else(|| D::Error::custom(format!("bytes = {given}: give at least 1")))
}

fn age<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<Duration>, D::Error> {
    let given = f64::deserialize(from)?;
    let fits = Duration::try_from_secs_f64(given).ok().filter(|age| !age.is_zero());
    fits.map(Some).ok_or_else(|| D::Error::custom(format!("age = {given}: give seconds, more than 0")))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Config> {
        let path = std::env::temp_dir().join(format!("shoal-config-{}-{}", std::process::id(), text.len()));
        std::fs::write(&path, text).expect("a file can be written");
        let config = Config::read(&path);
        std::fs::remove_file(&path).expect("it is there");
        config
    }

    #[test]
    fn what_the_file_says_of_a_topic_are_its_bounds() {
        let text =
            "[topics.\"/scan\"]\nmessages = 100\nage = 0.5\nwhen-behind = \"shed\"\n[topics.\"/map\"]\nbytes = 7\n";
        let config = parsed(text).expect("it is right");
        let age = Some(Duration::from_millis(500));
        let scan = Bounds { messages: Some(100), bytes: None, age, when_behind: WhenBehind::Shed };
        assert_eq!(config.bounds("/scan"), Some(scan));
        assert_eq!(config.bounds("/map"), Some(Bounds { bytes: Some(7), ..Bounds::default() }));
        assert_eq!(config.bounds("/other"), None);
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_name_the_line_and_the_value() {
        for (line, value) in [
            ("messages = 0", "messages = 0: give 1 to 65536"),
            ("messages = 65537", "65537"),
            ("messages = \"ten\"", "\"ten\""),
            ("bytes = -1", "bytes = -1"),
            ("age = 0.0", "age = 0"),
            ("when-behind = \"hang\"", "`hang`"),
            ("mesages = 5", "mesages"),
            ("messages = = 5", "= = 5"),
        ] {
            let error = parsed(&format!("# bounds\n[topics.\"/scan\"]\n{line}\n")).expect_err(line).to_string();
            assert!(error.contains("shoal-config-") && error.contains("line 3") && error.contains(value), "{error}");
        }
        assert!(parsed("[topic.\"/t\"]\n").expect_err("no such table").to_string().contains("line 1"));
        let missing = Config::read(Path::new("/nowhere/shoal.toml")).expect_err("no file").to_string();
        assert!(missing.contains("SHOAL_CONFIG=/nowhere/shoal.toml"), "{missing}");
    }
}
