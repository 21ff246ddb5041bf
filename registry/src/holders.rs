//! Who has a file open, for an error message: the kernel does not say whose an open-file-description lock is.

use std::fmt::Write as _;
use std::fs::{metadata, read_dir, read_to_string};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// More than these are not listed.
const LISTED: usize = 5;

/// A process that has the file open.
struct Holder {
    pid: u32,
    name: String,
    stopped: bool,
}

/// What to tell of the processes that have the file open and what to do about them. Those of other users are not seen.
pub(crate) fn describe(path: &Path) -> String {
    let mut holders = of(path);
    if holders.is_empty() {
        return "no process of this user has it open; look at those of others (fuser, as root)".into();
    }
    holders.sort_by_key(|holder| !holder.stopped);
    let mut text = String::from("it is open in");
    for (number, holder) in holders.iter().take(LISTED).enumerate() {
        let (comma, stopped) = (if number > 0 { "," } else { "" }, if holder.stopped { ", stopped" } else { "" });
        // Writing to a String cannot fail.
        let _ = write!(text, "{comma} process {} ({}{stopped})", holder.pid, holder.name);
    }
    if holders.len() > LISTED {
        let _ = write!(text, " and {} more", holders.len() - LISTED);
    }
    text + "; continue the one that is stopped (kill -CONT), or kill it"
}

fn of(path: &Path) -> Vec<Holder> {
    let Ok(file) = metadata(path) else { return Vec::new() };
    let is_it = |link: &Path| metadata(link).is_ok_and(|open| (open.dev(), open.ino()) == (file.dev(), file.ino()));
    let mut found = Vec::new();
    for process in read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let open = read_dir(process.path().join("fd")).into_iter().flatten().flatten();
        if open.map(|entry| entry.path()).any(|link| is_it(&link)) {
            found.push(look_at(pid, &process.path()));
        }
    }
    found
}

/// Name and state stand in `stat` as `pid (name) state …`; the name may hold anything.
fn look_at(pid: u32, process: &Path) -> Holder {
    let stat = read_to_string(process.join("stat")).unwrap_or_default();
    let (before, after) = stat.rsplit_once(')').unwrap_or_default();
    let name = before.split_once('(').map_or("?", |(_, name)| name).to_owned();
    Holder { pid, name, stopped: matches!(after.trim_start().chars().next(), Some('T' | 't')) }
}
