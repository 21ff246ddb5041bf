//! `shoal clean`: removes what the dead left.
//!
//! Where nobody lives any more the whole domain goes, as with the last one out. Where others live, the dead are reaped as
//! every node does it now and then: for that, and only then, this process joins the domain for a moment.

use crate::place;
use crate::problem::Problem;
use crate::text::{bytes, count, folded, width};
use shoal_registry::{ContextLife, ContextView, Deserted, JoinOptions, ObserveError, Observer, Registry};
use shoal_rmw::Place;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

#[derive(clap::Args)]
pub struct Options {
    /// Only say what would be removed
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// All domains of this user (or group), not only the one
    #[arg(long)]
    all: bool,
}

pub fn run(place: &place::Options, options: &Options) -> Result<(), Problem> {
    let found = place.place()?;
    let domains = if options.all { names(&found)? } else { vec![place.domain().to_owned()] };
    let mut out = std::io::stdout().lock();
    let mut clean = true;
    for domain in domains {
        for line in clear(&found, &domain, options.dry_run)? {
            for line in folded(&line, "", width()) {
                writeln!(out, "{line}")?;
            }
            clean = false;
        }
    }
    if clean {
        writeln!(out, "nothing to remove")?;
    }
    Ok(())
}

/// The domains of this user or group that have a directory.
pub fn names(place: &Place) -> Result<Vec<String>, Problem> {
    let path = place.root.join(place.access.directory_name());
    let entries = match std::fs::read_dir(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|source| Problem::Read { path, source })?,
    };
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // Unfinished directories have a '~' in their names and are no domains.
    names.retain(|name| !name.contains('~'));
    names.sort();
    Ok(names)
}

fn clear(place: &Place, domain: &str, dry_run: bool) -> Result<Vec<String>, Problem> {
    if let Some(deserted) = Deserted::find(&place.root, place.access, domain)? {
        return clear_deserted(deserted, domain, dry_run);
    }
    match Observer::open(&place.root, place.access, domain) {
        Ok(observer) => reap(place, &observer, domain, dry_run),
        Err(ObserveError::Nobody { .. }) => Ok(Vec::new()),
        Err(other @ ObserveError::Version { .. }) => Ok(vec![format!("domain {domain}: left alone: {other}")]),
        Err(e) => Err(e.into()),
    }
}

fn clear_deserted(deserted: Deserted, domain: &str, dry_run: bool) -> Result<Vec<String>, Problem> {
    let path = deserted.path().to_owned();
    let (files, size) = contents(&path);
    let what = format!("domain {domain}: {} with {} and {}", path.display(), count(files, "file"), bytes(size));
    if dry_run {
        return Ok(vec![format!("{what} would be removed: nobody lives there")]);
    }
    match deserted.remove().map_err(|source| Problem::Read { path, source })? {
        true => Ok(vec![format!("{what} removed: nobody lived there")]),
        false => Ok(vec![format!("domain {domain}: left alone: somebody has just moved in")]),
    }
}

fn contents(dir: &Path) -> (usize, u64) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.fold((0, 0), |(n, size), entry| (n + 1, size + entry.metadata().map_or(0, |m| m.blocks() * 512)))
}

fn reap(place: &Place, observer: &Observer, domain: &str, dry_run: bool) -> Result<Vec<String>, Problem> {
    let dead: Vec<ContextView> = dead(observer);
    if dead.is_empty() {
        return Ok(Vec::new());
    }
    if dry_run {
        return Ok(dead.iter().map(|c| format!("{} would be removed", name(domain, c))).collect());
    }
    let Place { root, access } = place.clone();
    let registry = Registry::join(&JoinOptions { root, access, domain: domain.to_owned(), enclave: "/".to_owned() })?;
    registry.sweep_now();
    let kept: Vec<u64> = self::dead(observer).iter().map(|c| c.id).collect();
    let outcome = |c: &ContextView| match kept.contains(&c.id) {
        true => "kept: living subscriptions have yet to read what it published",
        false => "removed",
    };
    Ok(dead.iter().map(|c| format!("{} {}", name(domain, c), outcome(c))).collect())
}

fn dead(observer: &Observer) -> Vec<ContextView> {
    let mut views = observer.contexts();
    views.retain(|c| c.life == ContextLife::Dead);
    views
}

fn name(domain: &str, c: &ContextView) -> String {
    format!("domain {domain}: context {:016x} of dead process {}", c.id, c.pid)
}
