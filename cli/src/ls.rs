//! `shoal ls`: what is there.

use crate::problem::Problem;
use crate::snapshot::{full_name, Snapshot};
use crate::table::{Side, Table};
use crate::text::{self, bytes, count, fit};
use crate::{json, place};
use shoal_registry::{layout_version, ContextLife, Detail, Kind, ObserveError, SlotId};
use std::collections::HashMap;
use std::io::Write;

#[derive(clap::Args)]
pub struct Options {
    /// Everything, as one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(place: &place::Options, options: &Options) -> Result<(), Problem> {
    let mut out = std::io::stdout().lock();
    let snapshot = match place.observe() {
        Ok(observer) => Snapshot::take(&observer, place.domain()),
        Err(Problem::Observe(nobody @ ObserveError::Nobody { .. })) => {
            let text = if options.json { json::nobody(place.domain()).to_string() } else { nobody.to_string() };
            let width = if options.json { usize::MAX } else { text::width() };
            for line in text::folded(&text, "", width) {
                writeln!(out, "{line}")?;
            }
            return Ok(());
        }
        Err(e) => return Err(e),
    };
    if options.json {
        writeln!(out, "{:#}", json::snapshot(&snapshot))?;
        return Ok(());
    }
    for line in lines(&snapshot, text::width()) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The whole listing, no line wider than `width`.
pub fn lines(s: &Snapshot, width: usize) -> Vec<String> {
    let mut out = heading(s, width);
    let mut section = |lines: Vec<String>| {
        if !lines.is_empty() {
            out.push(String::new());
            out.extend(lines);
        }
    };
    section(contexts(s, width));
    section(nodes(s, width));
    section(topics(s, width));
    section(services(s, width));
    out
}

fn heading(s: &Snapshot, width: usize) -> Vec<String> {
    let alive = s.contexts.iter().filter(|c| c.view.life == ContextLife::Alive).count();
    let nodes = s.nodes().count();
    let endpoints = s.live.len() - nodes;
    vec![
        fit(&format!("domain {}   {}   layout {}", s.domain, s.path.display(), layout_version()), width),
        fit(
            &format!(
                "{} alive, {}, {}, {} of shared memory",
                count(alive, "context"),
                count(nodes, "node"),
                count(endpoints, "endpoint"),
                bytes(s.memory)
            ),
            width,
        ),
    ]
}

/// `alive`, `left` or `dead`.
pub fn life(life: ContextLife) -> &'static str {
    match life {
        ContextLife::Alive => "alive",
        ContextLife::Left => "left",
        ContextLife::Dead => "dead",
    }
}

fn contexts(s: &Snapshot, width: usize) -> Vec<String> {
    use Side::{Left, Right};
    let columns = [("CONTEXT", Left), ("PID", Right), ("UID", Right), ("STATE", Left), ("NODES", Right)];
    let more = [("ENDPTS", Right), ("CLOSED", Right), ("MEMORY", Right), ("ENCLAVE", Left)];
    let mut table = Table::new(&[&columns[..], &more[..]].concat(), 8);
    for c in &s.contexts {
        table.row(vec![
            format!("{:016x}", c.view.id),
            c.view.pid.to_string(),
            c.view.uid.to_string(),
            life(c.view.life).to_owned(),
            c.nodes.to_string(),
            c.endpoints.to_string(),
            c.closed.to_string(),
            bytes(c.memory),
            c.view.enclave.clone(),
        ]);
    }
    if table.is_empty() {
        return Vec::new();
    }
    table.lines(width)
}

fn nodes(s: &Snapshot, width: usize) -> Vec<String> {
    use Side::{Left, Right};
    let columns = [("NODE", Left), ("CONTEXT", Left), ("PUB", Right), ("SUB", Right), ("SRV", Right), ("CLI", Right)];
    let mut table = Table::new(&columns, 0);
    let mut own: HashMap<SlotId, [usize; 4]> = HashMap::new();
    for endpoint in &s.live {
        let column = match endpoint.kind {
            Kind::Node => continue,
            Kind::Publisher => 0,
            Kind::Subscription => 1,
            Kind::Service => 2,
            Kind::Client => 3,
        };
        if let Some(node) = endpoint.node {
            own.entry(node).or_default()[column] += 1;
        }
    }
    let mut nodes: Vec<&Detail> = s.nodes().collect();
    nodes.sort_by_key(|node| full_name(node));
    for node in nodes {
        let counts = own.get(&node.slot).copied().unwrap_or_default();
        let mut row = vec![full_name(node), format!("{:016x}", node.ctx_id)];
        row.extend(counts.map(|n| n.to_string()));
        table.row(row);
    }
    if table.is_empty() {
        return Vec::new();
    }
    table.lines(width)
}

fn topics(s: &Snapshot, width: usize) -> Vec<String> {
    let names = s.node_names();
    let mut out = Vec::new();
    for ((topic, ty), endpoints) in s.by_name([Kind::Publisher, Kind::Subscription]) {
        out.push(fit(&format!("topic {topic}   {ty}"), width));
        let mut hashes: Vec<_> = endpoints.iter().map(|e| e.type_hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        out.extend(hashes.iter().map(|hash| fit(&format!("  {}", text::type_hash(hash)), width)));
        let mut table = Table::new(&[("", Side::Left), ("", Side::Left), ("", Side::Left)], 1);
        for endpoint in endpoints {
            let side = if endpoint.kind == Kind::Publisher { "  pub" } else { "  sub" };
            table.row(vec![side.to_owned(), owner(&names, endpoint), text::qos(&endpoint.qos)]);
        }
        out.extend(table.lines(width).split_off(1));
    }
    out
}

fn services(s: &Snapshot, width: usize) -> Vec<String> {
    use Side::{Left, Right};
    let mut table = Table::new(&[("SERVICE", Left), ("TYPE", Left), ("SRV", Right), ("CLI", Right)], 0);
    for ((name, ty), endpoints) in s.by_name([Kind::Service, Kind::Client]) {
        let of = |kind| endpoints.iter().filter(|e| e.kind == kind).count().to_string();
        table.row(vec![name.to_owned(), fit(ty, width * 2 / 5), of(Kind::Service), of(Kind::Client)]);
    }
    if table.is_empty() {
        return Vec::new();
    }
    table.lines(width)
}

/// The node of an endpoint, as people name it.
pub fn owner(names: &HashMap<SlotId, String>, endpoint: &Detail) -> String {
    let node = endpoint.node.and_then(|node| names.get(&node)).cloned();
    node.unwrap_or_else(|| format!("(context {:016x})", endpoint.ctx_id))
}
