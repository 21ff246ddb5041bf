//! The domains of this user or group: permissions, layouts, the dead.

use super::{note, ok, wrong, Finding};
use crate::clean::names;
use crate::text::count;
use shoal_registry::{ContextLife, Deserted, ObserveError, Observer};
use shoal_rmw::Place;
use shoal_shm::segment::DirError;
use std::os::unix::fs::MetadataExt;

pub fn examine(place: &Place) -> Vec<Finding> {
    let mut findings = strangers(place);
    match names(place) {
        Ok(names) if names.is_empty() => findings.push(ok("no domain of this user is in use")),
        Ok(names) => findings.extend(names.iter().flat_map(|name| domain(place, name))),
        Err(e) => findings.push(wrong(e.to_string(), "its owner and mode are to be those that its first user gave it")),
    }
    findings
}

/// Others' domains beside ours: nothing is wrong with them, but whoever misses a node may look there.
fn strangers(place: &Place) -> Vec<Finding> {
    let own = place.access.directory_name();
    let entries = std::fs::read_dir(&place.root).into_iter().flatten().flatten();
    let others = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok().filter(|name| name.starts_with("shoal-") && *name != own)?;
        Some((name, entry.metadata().ok()?.uid()))
    });
    let others = others.filter(|(name, _)| !name.contains('~'));
    others
        .map(|(name, uid)| {
            note(
                format!(
                    "{} belongs to user {uid}: its nodes and this user's do not meet",
                    place.root.join(name).display()
                ),
                "to share a domain, run all of its nodes as one user, or with SHOAL_GROUP set to a common group",
            )
        })
        .collect()
}

fn domain(place: &Place, name: &str) -> Vec<Finding> {
    match Deserted::find(&place.root, place.access, name) {
        Ok(Some(deserted)) => {
            let what = format!("domain {name}: nobody lives there, but {} is left", deserted.path().display());
            return vec![note(what, "the next node that starts there clears it; or now: shoal clean --all")];
        }
        Ok(None) => {}
        Err(e) => return vec![unreadable(name, &e)],
    }
    match Observer::open(&place.root, place.access, name) {
        Ok(observer) => inhabited(name, &observer),
        Err(ObserveError::Nobody { .. }) => Vec::new(),
        Err(e) => vec![unreadable(name, &e)],
    }
}

fn inhabited(name: &str, observer: &Observer) -> Vec<Finding> {
    let contexts = observer.contexts();
    let of = |life| contexts.iter().filter(|c| c.life == life).count();
    let (alive, dead, usage) = (of(ContextLife::Alive), of(ContextLife::Dead), observer.usage());
    let mut findings =
        vec![ok(format!("domain {name}: {}, {} in use", count(alive, "living context"), count(usage.slots, "slot")))];
    if dead > 0 {
        findings.push(note(
            format!("domain {name}: {} and not cleared away yet", killed(dead)),
            "whoever next joins or looks at the graph clears it; or now: shoal clean",
        ));
    }
    findings
}

fn unreadable(name: &str, e: &ObserveError) -> Finding {
    let advice = match e {
        ObserveError::Version { .. } => "stop its nodes, or run the same rmw_shoal everywhere",
        ObserveError::Dir(DirError::Mode { .. } | DirError::NotOwner { .. } | DirError::Symlink { .. }) => {
            "remove it if nobody of yours uses it: nodes refuse what others could have changed"
        }
        _ => "stop all nodes of the domain, then: shoal clean",
    };
    wrong(format!("domain {name}: {e}"), advice)
}

fn killed(n: usize) -> String {
    format!("{} {} killed", count_processes(n), if n == 1 { "was" } else { "were" })
}

fn count_processes(n: usize) -> String {
    if n == 1 {
        "1 process".to_owned()
    } else {
        format!("{n} processes")
    }
}
