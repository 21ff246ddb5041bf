//! A writer that laps a reader on real threads.

use super::super::testing::{bytes_of, OWNER};
use super::super::{read, InlineBuf, SlotMeta};
use super::*;
use crate::hazard::HazardTable;
use crate::sync::Ordering;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const ROOM: usize = 1 << 16;
const SAMPLES: u64 = 60_000;

fn size_of(seq: u64) -> usize {
    [0, 8, 16, 17, 64, 100, 700][(seq % 7) as usize]
}

/// Counts of samples read and lapped.
type Tally = (u64, u64);

fn follow(cell: &super::super::testing::Cell, peer: &super::super::testing::Peer) -> Tally {
    let hazard = HazardTable::new(&cell.table).acquire().unwrap();
    let mut buf = InlineBuf::new();
    let (mut next, mut tally) = (1, (0, 0));
    while next <= SAMPLES {
        let head = cell.head.load(Ordering::Acquire);
        while next <= head {
            let found = read(peer, &cell.desc, OWNER, next, &hazard, &mut buf, |meta, at| (meta, bytes_of(at)));
            match found {
                Ok((meta, bytes)) => {
                    assert_eq!(meta.source_timestamp as u64, next);
                    assert_eq!(bytes, body(next, size_of(next)));
                    tally.0 += 1;
                }
                Err(why) => {
                    assert_eq!(why, ReadError::Lapped, "sample {next}, head {head}");
                    tally.1 += 1;
                }
            }
            next += 1;
        }
        std::thread::yield_now();
    }
    tally
}

fn with_watchdog(test: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match wait.recv_timeout(Duration::from_secs(120)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the stress test hangs"),
        _ => thread.join().unwrap(),
    }
}

#[test]
fn a_lapped_reader_gets_whole_samples_or_none() {
    with_watchdog(|| {
        for window in [1, 3, 20] {
            on_both(ROOM, 64, window, |mut bench| {
                let cell = bench.cell.clone();
                let peer =
                    std::mem::replace(&mut bench.peer, super::super::testing::Peer::Heap(bench.pool.segment.clone()));
                let reader = std::thread::spawn(move || follow(&cell, &peer));
                for seq in 1..=SAMPLES {
                    assert_eq!(bench.publish(seq, size_of(seq)).unwrap(), seq);
                }
                let (read, lapped) = reader.join().unwrap();
                assert_eq!(read + lapped, SAMPLES);
                assert!(read > 0);
                assert!(bench.close());
                assert_eq!(bench.pool.in_use(), 0);
            });
        }
    });
}

/// `cargo test -p shoal-shm --release speed_of -- --ignored --nocapture`
#[test]
#[ignore = "a measurement, not a test"]
fn speed_of_publish_and_take_of_64_bytes() {
    let mut bench: Bench = Bench::on_heap(ROOM, 128, 10);
    let cell = bench.cell.clone();
    let hazards = HazardTable::new(&cell.table);
    let (mut buf, message, batch) = (InlineBuf::new(), body(1, 64), 100_000u32);
    let mut once = || {
        let room = bench.writer.reserve(&mut bench.pool, 64).unwrap();
        let held = &mut |id| cell.held(id, Ordering::Acquire);
        let meta = SlotMeta::default();
        let seq = bench.writer.commit(&mut bench.pool, room, meta, &message, &cell.head, &cell.desc, held).unwrap();
        let hazard = hazards.acquire().unwrap();
        let len = read(&bench.peer, &cell.desc, OWNER, seq, &hazard, &mut buf, |_, at| at.len).unwrap();
        assert_eq!(std::hint::black_box(len), 64);
    };
    let mut time = || {
        let start = Instant::now();
        (0..batch).for_each(|_| once());
        start.elapsed() / batch
    };
    let mut times: Vec<Duration> = (0..51).map(|_| time()).collect();
    times.sort();
    println!("publish + take of 64 bytes: {:?} (fastest of 51 batches: {:?})", times[25], times[0]);
}
