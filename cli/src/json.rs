//! What `--json` prints.

use crate::ls::{life, owner};
use crate::snapshot::{full_name, Snapshot};
use crate::text;
use serde_json::{json, Value};
use shoal_registry::{layout_version, Detail, Kind, Qos, SlotId};
use std::collections::HashMap;

/// A domain without anybody.
pub fn nobody(domain: &str) -> Value {
    json!({"domain": domain, "layout": layout_version(), "contexts": [], "nodes": [], "endpoints": [], "left_by_the_dead": []})
}

/// Everything that a snapshot says.
pub fn snapshot(s: &Snapshot) -> Value {
    let names = s.node_names();
    let endpoints: Vec<_> = s.live.iter().filter(|d| d.kind != Kind::Node).map(|d| endpoint(d, &names)).collect();
    let dead: Vec<_> = s.dead.iter().map(|d| endpoint(d, &names)).collect();
    let contexts = s.contexts.iter().map(|c| {
        json!({
            "id": format!("{:016x}", c.view.id), "pid": c.view.pid, "uid": c.view.uid, "state": life(c.view.life),
            "enclave": c.view.enclave, "nodes": c.nodes, "endpoints": c.endpoints, "closed": c.closed,
            "bytes": c.memory, "rings": c.view.rings, "parked": c.view.parked,
        })
    });
    json!({
        "domain": s.domain,
        "path": s.path,
        "layout": layout_version(),
        "generation": s.generation,
        "bytes": s.memory,
        "slots": {"used": s.usage.slots, "reserved": s.usage.slots_committed},
        "contexts": contexts.collect::<Vec<_>>(),
        "nodes": s.nodes().map(node).collect::<Vec<_>>(),
        "endpoints": endpoints,
        "left_by_the_dead": dead,
    })
}

fn node(node: &Detail) -> Value {
    json!({"name": full_name(node), "context": format!("{:016x}", node.ctx_id)})
}

fn endpoint(d: &Detail, names: &HashMap<SlotId, String>) -> Value {
    json!({
        "kind": kind(d.kind), "name": d.name, "type": d.type_name, "hash": text::type_hash(&d.type_hash),
        "node": owner(names, d), "context": format!("{:016x}", d.ctx_id), "gid": hex(&d.gid), "qos": qos(&d.qos),
    })
}

fn qos(q: &Qos) -> Value {
    let duration = |ns: i64| (ns != Qos::INFINITE).then_some(ns);
    json!({
        "reliability": text::reliability(q), "durability": text::durability(q), "history": text::history(q),
        "depth": q.depth, "liveliness": text::liveliness(q), "deadline_ns": duration(q.deadline),
        "lifespan_ns": duration(q.lifespan), "lease_ns": duration(q.lease),
    })
}

/// `publisher`, `service`, and so on.
pub fn kind(kind: Kind) -> String {
    format!("{kind:?}").to_lowercase()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
