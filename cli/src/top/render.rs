//! Rates as lines and as JSON.

use crate::table::{Side, Table};
use crate::text::{bytes, count, fit};
use crate::top::sample::{Flow, Rates};
use serde_json::{json, Value};
use shoal_rmw::observe::Lag;

pub fn lines(r: &Rates, width: usize) -> Vec<String> {
    let samples: f64 = r.topics.iter().map(|topic| topic.rate).sum();
    let rings: f64 = r.processes.iter().map(|p| p.rings).sum();
    let mut out = vec![fit(
        &format!(
            "domain {}: {}, {}, {} in memory, {}/s samples, {}/s doorbells",
            r.domain,
            count(r.processes.len(), "context"),
            count(r.nodes, "node"),
            bytes(r.memory),
            rate(samples),
            rate(rings)
        ),
        width,
    )];
    for (what, flows, [outlets, inlets]) in
        [("TOPIC", &r.topics, ["PUB", "SUB"]), ("SERVICE", &r.services, ["CLI", "SRV"])]
    {
        // Services that nobody calls, of which every node has seven, are left to `ls`.
        let shown: Vec<_> = flows.iter().filter(|f| what == "TOPIC" || f.rate > 0.0).collect();
        if !shown.is_empty() {
            out.push(String::new());
            out.extend(flow_table(what, [outlets, inlets], &shown).lines(width));
        }
    }
    out.push(String::new());
    out.extend(process_table(r).lines(width));
    out
}

fn flow_table(what: &'static str, [outlets, inlets]: [&'static str; 2], flows: &[&Flow]) -> Table {
    use Side::{Left, Right};
    let counts = [(what, Left), (outlets, Right), (inlets, Right)];
    let columns = [("PER SECOND", Right), ("SIZE", Right), ("BYTES/S", Right), ("BEHIND", Right), ("LAG", Right)];
    let mut table = Table::new(&[&counts[..], &columns[..]].concat(), 0);
    for f in flows {
        table.row(vec![
            f.name.clone(),
            f.outlets.to_string(),
            f.inlets.to_string(),
            rate(f.rate),
            f.size.map_or_else(|| "-".to_owned(), |size| bytes(size.into())),
            f.size.map_or_else(|| "-".to_owned(), |size| bytes((f64::from(size) * f.rate) as u64)),
            f.behind.to_string(),
            lag(f.lag),
        ]);
    }
    table
}

fn process_table(r: &Rates) -> Table {
    use Side::{Left, Right};
    let columns = [("CONTEXT", Left), ("PID", Right), ("ENDPTS", Right)];
    let more = [("MEMORY", Right), ("DOORBELLS/S", Right), ("STATE", Left)];
    let mut table = Table::new(&[&columns[..], &more[..]].concat(), 5);
    for p in &r.processes {
        table.row(vec![
            format!("{:016x}", p.id),
            p.pid.to_string(),
            p.endpoints.to_string(),
            bytes(p.memory),
            rate(p.rings),
            if p.parked { "asleep" } else { "busy" }.to_owned(),
        ]);
    }
    table
}

/// A rate with as many digits as mean something.
fn rate(per_second: f64) -> String {
    let digits = usize::from(per_second < 99.95);
    format!("{per_second:.digits$}")
}

fn lag(lag: Option<Lag>) -> String {
    match lag {
        None => "-".to_owned(),
        Some(Lag::None) => "0".to_owned(),
        Some(Lag::Some) => "some".to_owned(),
        Some(Lag::Samples(n)) => n.to_string(),
    }
}

pub fn json(r: &Rates) -> Value {
    let flow = |f: &Flow| {
        json!({
            "name": f.name, "outlets": f.outlets, "inlets": f.inlets, "per_second": f.rate, "bytes": f.size,
            "readers_behind": f.behind, "lag": match f.lag {
                None => Value::Null,
                Some(Lag::None) => json!(0),
                Some(Lag::Some) => json!("some"),
                Some(Lag::Samples(n)) => json!(n),
            },
        })
    };
    let processes = r.processes.iter().map(|p| {
        json!({
            "context": format!("{:016x}", p.id), "pid": p.pid, "bytes": p.memory, "doorbells_per_second": p.rings,
            "asleep": p.parked, "endpoints": p.endpoints,
        })
    });
    json!({
        "domain": r.domain, "seconds": r.seconds, "bytes": r.memory, "nodes": r.nodes,
        "topics": r.topics.iter().map(flow).collect::<Vec<_>>(),
        "services": r.services.iter().map(flow).collect::<Vec<_>>(),
        "contexts": processes.collect::<Vec<_>>(),
    })
}
