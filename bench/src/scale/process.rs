//! What the kernel says about processes.

use nix::sys::resource::{getrlimit, setrlimit, Resource};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::path::Path;

/// As many open files as are allowed: each node has a pipe.
pub fn raise_limits() {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // Where that fails, starting many nodes does, and says so.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// CPU time that a process has used, in ns. 0 for one that is gone.
pub fn cpu(pid: u32) -> u64 {
    let time = clock_getcpuclockid(Pid::from_raw(pid as i32)).and_then(clock_gettime);
    time.map_or(0, |t| t.tv_sec().unsigned_abs() * 1_000_000_000 + t.tv_nsec().unsigned_abs())
}

/// How often its threads went to sleep by themselves, and so were woken.
pub fn wakeups(pid: u32) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.map(|task| field(&task.path().join("status"), "voluntary_ctxt_switches:")).sum()
}

/// Memory of a process, in bytes.
#[derive(Copy, Clone, Default, Debug)]
pub struct Memory {
    /// Its share of the pages that it maps.
    pub pss: u64,
    /// Page tables.
    pub tables: u64,
    /// Mappings (a number).
    pub mappings: u64,
}

/// What the kernel keeps for each mapping beside page tables, about: a `vm_area_struct` and its share of the tree and the file.
pub const BYTES_PER_MAPPING: u64 = 512;

impl Memory {
    /// Of one process; zeros for one that is gone.
    pub fn of(pid: u32) -> Memory {
        let proc = Path::new("/proc").join(pid.to_string());
        Memory {
            pss: field(&proc.join("smaps_rollup"), "Pss:") * 1024,
            tables: field(&proc.join("status"), "VmPTE:") * 1024,
            mappings: std::fs::read_to_string(proc.join("maps")).map_or(0, |maps| maps.lines().count() as u64),
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.pss + self.tables + self.mappings * BYTES_PER_MAPPING
    }
}

impl std::ops::AddAssign for Memory {
    fn add_assign(&mut self, o: Memory) {
        self.pss += o.pss;
        self.tables += o.tables;
        self.mappings += o.mappings;
    }
}

/// The number after `name` in a file of lines.
fn field(path: &Path, name: &str) -> u64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    value.unwrap_or(0)
}

/// Bytes that the files of a directory take.
pub fn files(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    files.map(|file| file.metadata().map_or(0, |m| m.blocks() * 512)).sum()
}

/// Bytes in use in the file system of shared memory.
pub fn shared_memory(dir: &Path) -> u64 {
    nix::sys::statvfs::statvfs(dir).map_or(0, |s| (s.blocks() - s.blocks_free()) * s.fragment_size())
}
