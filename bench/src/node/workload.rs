//! Who talks to whom.

/// What the nodes of a run do beside what every node has.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Workload {
    /// Each node publishes on a topic of its own and reads the one of the node before it
    Ring,
    /// All publish on /tf; the first node reads all of it, and /rosout
    Star,
    /// All publish once on /tf_static, latched, and all read all of it
    Latched,
    /// As ring, with messages from 64 bytes to 1 MiB
    Mixed,
}

/// Sizes of `Mixed`, in bytes.
const SIZES: [usize; 6] = [64, 256, 1024, 16 << 10, 256 << 10, 1 << 20];

/// A topic that a node publishes on or reads, and how many peers it has there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name.
    pub name: String,
    /// How many a node matches there when all are up.
    pub peers: usize,
    /// Samples kept.
    pub depth: usize,
    /// Late joiners get history.
    pub latched: bool,
}

impl Workload {
    /// What node `i` of `n` publishes on.
    pub fn published(self, i: usize, n: usize) -> Topic {
        match self {
            Workload::Ring | Workload::Mixed => topic(format!("/load/ring_{i}"), 1, 10),
            Workload::Star => topic("/tf".into(), 1, 100),
            Workload::Latched => Topic { latched: true, ..topic("/tf_static".into(), n, 1) },
        }
    }

    /// What node `i` of `n` reads.
    pub fn read(self, i: usize, n: usize) -> Option<Topic> {
        match self {
            Workload::Ring | Workload::Mixed => Some(topic(format!("/load/ring_{}", (i + n - 1) % n), 1, 10)),
            Workload::Star => (i == 0).then(|| topic("/tf".into(), n, 1000)),
            Workload::Latched => Some(Topic { latched: true, ..topic("/tf_static".into(), n, n.max(100)) }),
        }
    }

    /// Whether publications repeat while the run lasts.
    pub fn repeats(self) -> bool {
        self != Workload::Latched
    }

    /// Bytes of the text that node `i` publishes.
    pub fn size(self, i: usize) -> usize {
        if self == Workload::Mixed {
            SIZES[i % SIZES.len()]
        } else {
            256
        }
    }

    /// How many samples all nodes together get when node `i` publishes one.
    pub fn readers(self, n: usize) -> usize {
        if self == Workload::Latched {
            n
        } else {
            1
        }
    }
}

fn topic(name: String, peers: usize, depth: usize) -> Topic {
    Topic { name, peers, depth, latched: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_topic_that_is_read_is_published_with_as_many_peers() {
        for workload in [Workload::Ring, Workload::Star, Workload::Latched, Workload::Mixed] {
            for n in [1, 2, 7] {
                let published: Vec<_> = (0..n).map(|i| workload.published(i, n)).collect();
                let read: Vec<_> = (0..n).filter_map(|i| workload.read(i, n)).collect();
                let count = |topics: &[Topic], name: &str| topics.iter().filter(|t| t.name == name).count();
                assert!(published.iter().all(|t| count(&read, &t.name) == t.peers), "{workload:?} {n}");
                assert!(read.iter().all(|t| count(&published, &t.name) == t.peers), "{workload:?} {n}");
            }
        }
    }
}
