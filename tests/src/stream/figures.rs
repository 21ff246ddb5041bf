//! What is measured from outside.

use nix::unistd::Pid;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of memory that a process has resident; 0 when it is gone.
pub fn rss(pid: Pid) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")).and_then(|kib| kib.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// Bytes that the files below `root` take.
pub fn shared_memory(root: &Path) -> u64 {
    let (mut bytes, mut todo) = (0, vec![root.to_owned()]);
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => todo.push(entry.path()),
                false => bytes += entry.metadata().map_or(0, |found| found.blocks() * 512),
            }
        }
    }
    bytes
}

/// How many bytes a second memcpy moves between two buffers of this length.
pub fn copy_rate(len: usize) -> f64 {
    let (from, mut to) = (vec![1_u8; len], vec![0_u8; len]);
    let (start, mut bytes) = (Instant::now(), 0_u64);
    while start.elapsed() < Duration::from_millis(200) {
        for _ in 0..16 {
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&mut to);
            bytes += len as u64;
        }
    }
    bytes as f64 / start.elapsed().as_secs_f64()
}

/// Three figures in the course of a run.
#[derive(Default)]
pub struct Series(Vec<[u64; 3]>);

impl Series {
    pub fn add(&mut self, figures: [u64; 3]) {
        self.0.push(figures);
    }

    pub fn most(&self, index: usize) -> u64 {
        self.0.iter().map(|figures| figures[index]).max().unwrap_or(0)
    }

    /// How much more there ever was than after the first tenth.
    pub fn growth(&self, index: usize) -> u64 {
        let settled = self.0.get(self.0.len() / 10).map_or(0, |figures| figures[index]);
        self.most(index).saturating_sub(settled)
    }

    /// Beginning, middle and end of each.
    pub fn describe(&self, names: [&str; 3]) -> String {
        let at = |index: usize, place: usize| self.0.get(place).map_or(0, |figures| figures[index] / 1024);
        let last = self.0.len().saturating_sub(1);
        let one = |index: usize| {
            let [first, middle, end] = [0, last / 2, last].map(|place| at(index, place));
            format!("{}: {first}, {middle}, {end} KiB", names[index])
        };
        [0, 1, 2].map(one).join("; ")
    }
}
