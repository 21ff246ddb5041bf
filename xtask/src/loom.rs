//! `cargo xtask loom`: every model of a memory-order edge, and a table of what they showed.

use crate::paths;
use crate::run::{self, Failure};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Crates with models.
const CRATES: [&str; 3] = ["shoal-shm", "shoal-registry", "shoal-rmw"];

/// What a model printed: see `shoal_shm::sync::Model`.
#[derive(Debug, PartialEq)]
struct Row {
    edges: String,
    model: String,
    claim: String,
    executions: u64,
    twins: String,
}

impl Row {
    fn parse(line: &str) -> Option<Row> {
        let cells: Vec<&str> = line.strip_prefix("MODEL ")?.split(" | ").collect();
        let [edges, model, claim, executions, twins] = cells[..] else { return None };
        let own = str::to_owned;
        let executions = executions.parse().ok()?;
        Some(Row { edges: own(edges), model: own(model), claim: own(claim), executions, twins: own(twins) })
    }
}

/// Explores every model and prints the table. What the models say is shown where one of them fails.
pub fn run() -> Result<(), Failure> {
    let begin = Instant::now();
    let mut cargo = models();
    let (said, passed) = listen(&mut cargo)?;
    if !passed {
        said.iter().for_each(|line| println!("{line}"));
        return Err(Failure::Advice(format!("`{}` failed; what it said stands above", run::shown(&cargo))));
    }
    let mut rows: Vec<Row> = said.iter().filter_map(|line| Row::parse(line)).collect();
    rows.sort_by(|one, other| (&one.edges, &one.model).cmp(&(&other.edges, &other.model)));
    table(&rows).iter().for_each(|line| println!("{line}"));
    let executions: u64 = rows.iter().map(|row| row.executions).sum();
    println!("{} models, {executions} executions, every twin caught, in {} s", rows.len(), begin.elapsed().as_secs());
    Ok(())
}

/// A build with `--cfg loom`, in a target folder of its own.
fn models() -> Command {
    let mut cargo = run::cargo();
    cargo.env("RUSTFLAGS", "--cfg loom").env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    cargo.args(["test", "--release", "--lib", "--no-fail-fast"]);
    for name in CRATES {
        cargo.args(["--package", name]);
    }
    cargo.arg("--target-dir").arg(paths::target().join("loom")).args(["--", "models::", "--show-output"]);
    cargo
}

/// Runs the models, showing which are done; all that they said, and whether they passed.
fn listen(cargo: &mut Command) -> Result<(Vec<String>, bool), Failure> {
    let start = |source| Failure::Start { what: "cargo test".into(), source };
    let mut child = cargo.stdout(Stdio::piped()).spawn().map_err(start)?;
    let mut said = Vec::new();
    let out = child.stdout.take().map(BufReader::new);
    for line in out.into_iter().flat_map(BufRead::lines).map_while(Result::ok) {
        if line.starts_with("test ") {
            println!("{line}");
        }
        said.push(line);
    }
    Ok((said, child.wait().map_err(start)?.success()))
}

/// The table's lines, in columns.
fn table(rows: &[Row]) -> Vec<String> {
    let head = ["edges", "model", "executions", "twins caught", "claim"].map(str::to_owned);
    let cells =
        |row: &Row| [&row.edges, &row.model, &row.executions.to_string(), &row.twins, &row.claim].map(String::clone);
    let lines: Vec<[String; 5]> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths = [0, 1, 2, 3].map(width);
    let shown = |[edges, model, executions, twins, claim]: &[String; 5]| {
        let [a, b, c, d] = widths;
        format!("{edges:a$}  {model:b$}  {executions:>c$}  {twins:d$}  {claim}")
    };
    lines.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_line_becomes_a_row() {
        let row = Row::parse("MODEL ring.slot, ring.head | whole_or_nothing | who reads gets all | 12 | 2 of 2");
        let row = row.expect("five cells");
        assert_eq!((row.edges.as_str(), row.executions, row.twins.as_str()), ("ring.slot, ring.head", 12, "2 of 2"));
        assert_eq!(Row::parse("test ring::models::whole_or_nothing ... ok"), None);
        let lines = table(&[row]);
        assert_eq!(lines[1], "ring.slot, ring.head  whole_or_nothing          12  2 of 2        who reads gets all");
        assert_eq!(lines[0].find("claim"), lines[1].find("who reads"));
    }
}
