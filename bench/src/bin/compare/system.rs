//! What the kernel says of processes and of shared memory.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Context switches that a process's threads made of their own accord: each is a sleep, and was followed by a wake-up.
pub fn switches(process: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks.map(|task| field(&task.path().join("status"), "voluntary_ctxt_switches:")).sum()
}

/// Threads of a process.
pub fn threads(process: u32) -> u64 {
    field(Path::new(&format!("/proc/{process}/status")), "Threads:")
}

/// Proportional set size of a process, in bytes.
pub fn pss(process: u32) -> u64 {
    field(Path::new(&format!("/proc/{process}/smaps_rollup")), "Pss:") * 1024
}

fn field(path: &Path, name: &str) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Bytes that the files in /dev/shm occupy.
pub fn shared_memory() -> u64 {
    occupied(Path::new("/dev/shm"))
}

fn occupied(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => occupied(&entry.path()),
        Ok(found) => found.blocks() * 512,
        Err(_) => 0,
    });
    sizes.sum()
}
