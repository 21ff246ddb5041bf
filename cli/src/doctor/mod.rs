//! `shoal doctor`: what is wrong, and what to do about it.

mod domains;
mod machine;

use crate::place;
use crate::problem::Problem;
use crate::text::{count, folded, width};
use serde_json::json;
use std::io::Write;

#[derive(clap::Args)]
pub struct Options {
    /// The findings as one JSON array
    #[arg(long)]
    json: bool,
}

/// How much a finding matters.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Level {
    /// As it should be.
    Ok,
    /// Good to know.
    Note,
    /// Something does not work, or will not.
    Wrong,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Wrong => "wrong",
        }
    }
}

pub struct Finding {
    level: Level,
    what: String,
    /// What to do; empty where nothing is to be done.
    advice: String,
}

pub fn ok(what: impl Into<String>) -> Finding {
    Finding { level: Level::Ok, what: what.into(), advice: String::new() }
}

pub fn note(what: impl Into<String>, advice: impl Into<String>) -> Finding {
    Finding { level: Level::Note, what: what.into(), advice: advice.into() }
}

pub fn wrong(what: impl Into<String>, advice: impl Into<String>) -> Finding {
    Finding { level: Level::Wrong, what: what.into(), advice: advice.into() }
}

pub fn run(place: &place::Options, options: &Options) -> Result<(), Problem> {
    let found = place.place()?;
    let mut findings = machine::examine(&found.root);
    findings.extend(domains::examine(&found));
    let mut out = std::io::stdout().lock();
    if options.json {
        let all = findings.iter().map(|f| json!({"level": f.level.word(), "what": f.what, "advice": f.advice}));
        writeln!(out, "{:#}", serde_json::Value::Array(all.collect()))?;
    } else {
        for line in findings.iter().flat_map(|finding| lines(finding, width())) {
            writeln!(out, "{line}")?;
        }
    }
    match findings.iter().filter(|f| f.level == Level::Wrong).count() {
        0 => Ok(()),
        n => Err(Problem::Unwell(count(n, "problem"))),
    }
}

fn lines(f: &Finding, width: usize) -> Vec<String> {
    let mut out = folded(&f.what, &format!("{:<7}", f.level.word()), width);
    if !f.advice.is_empty() {
        out.extend(folded(&f.advice, "    ->  ", width));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_fold_at_words() {
        let finding = wrong("a b c d e f g h", "do it");
        assert_eq!(lines(&finding, 14), ["wrong  a b c d", "       e f g h", "    ->  do it"]);
    }
}
