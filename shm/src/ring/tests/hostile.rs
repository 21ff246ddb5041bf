//! Memory of another process may say anything.

use super::super::testing::{bytes_of, OWNER, SEGMENT};
use super::super::{read, read_loan, read_meta, InlineBuf, RingDesc};
use super::*;
use crate::hazard::HazardTable;
use crate::sync::Ordering;
use proptest::prelude::*;

const ROOM: usize = 1 << 13;

/// Reads in every way; what is given out must lie in the segment, so copying it must be safe.
fn read_all_ways(bench: &Bench, seq: u64) -> Result<usize, ReadError> {
    let hazards = HazardTable::new(&bench.cell.table);
    let hazard = hazards.acquire().unwrap();
    let (peer, desc) = (&bench.peer, &bench.cell.desc);
    let _ = read_meta(peer, desc, seq);
    let loan = read_loan(peer, desc, OWNER, seq, hazards.acquire().unwrap());
    let loaned = loan.as_ref().map(|loan| bytes_of(loan.payload()).len()).map_err(|why| *why);
    let copied = read(peer, desc, OWNER, seq, &hazard, &mut InlineBuf::new(), |_, at| bytes_of(at).len());
    assert_eq!(loaned, copied);
    drop((loan, hazard));
    assert!(bench.cell.table[1..].iter().all(|word| word.load(Ordering::Relaxed) == 0), "no hazard is left");
    copied
}

fn lay(bench: &Bench, at: usize, words: &[u64]) {
    for (word, value) in bench.pool.segment.words(at, words.len()).unwrap().iter().zip(words) {
        word.store(*value, Ordering::Relaxed);
    }
}

fn any_word() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        0..70u64,
        Just(u64::MAX),
        Just(1 << 31),
        (0..1u64 << 8).prop_map(|line| 3 << 32 | 1 << 31 | line)
    ]
}

proptest! {
    #[test]
    fn any_descriptor_over_any_words_is_an_error_value_at_worst(desc: u64, seq in any_word(), words in prop::collection::vec(any_word(), 64)) {
        on_both(ROOM, 64, 1, |bench| {
            lay(&bench, 0, &words);
            bench.cell.desc.store(desc, Ordering::Relaxed);
            let _ = read_all_ways(&bench, seq);
        });
    }

    #[test]
    fn a_committed_slot_with_any_header_is_an_error_value_at_worst(
        seq in 1..100u64, line in 0..140u64, log2 in 0..8u32, lines in 1..32usize, header in prop::collection::vec(any_word(), 5)
    ) {
        on_both(ROOM, 64, 1, |bench| {
            let desc = RingDesc::pack(SEGMENT, line * 64, log2, lines * 64, 1).unwrap();
            let at = desc.slot_offset(seq) as usize;
            if at + 48 <= ROOM {
                lay(&bench, at, &[seq << 1]);
                lay(&bench, at + 8, &header);
            }
            bench.cell.desc.store(desc.word(), Ordering::Relaxed);
            let outside = at + desc.stride() > ROOM;
            let size = (header[1] & 0xffff_ffff) as usize;
            let fits = match header[2] {
                0 => size <= desc.stride() - 48,
                chunk => chunk >> 32 == 3 && chunk & 1 << 31 != 0 && ((chunk & 0x7fff_ffff) * 64) as usize + size <= ROOM,
            };
            match read_all_ways(&bench, seq) {
                Ok(len) => assert!(!outside && fits && len == size),
                Err(why) => assert!((outside || !fits) && matches!(why, ReadError::Invalid(_)), "{why}"),
            }
        });
    }

    #[test]
    fn a_damaged_word_of_a_good_ring_is_never_more_than_an_error(at in 0..64usize, value in any_word(), size in 0..40usize) {
        on_both(ROOM, 64, 2, |mut bench| {
            (1..=6).for_each(|seq| assert_eq!(bench.publish(seq, size).unwrap(), seq));
            lay(&bench, at * 8, &[value]);
            for seq in 1..=7 {
                let _ = read_all_ways(&bench, seq);
            }
            // The owner knows from its own memory what is where, so it goes on whatever its slots say.
            (7..=12).for_each(|seq| assert_eq!(bench.publish(seq, size).unwrap(), seq));
            assert_eq!(bench.read(12).unwrap().1, body(12, size));
        });
    }
}

#[test]
fn a_descriptor_that_never_rests_ends_in_an_error() {
    use super::super::{Segments, SlotMeta};
    use crate::sync::AtomicU64;
    struct Restless<'a>(&'a AtomicU64, &'a Bench);
    impl Segments for Restless<'_> {
        fn words(&self, segment: u16, offset: u64, n: usize) -> Option<&[AtomicU64]> {
            self.0.fetch_add(1, Ordering::Relaxed);
            self.1.peer.words(segment, offset, n)
        }
        fn bytes(&self, segment: u16, offset: u64, len: usize) -> Option<*const u8> {
            self.1.peer.bytes(segment, offset, len)
        }
    }
    let mut bench: Bench = Bench::on_heap(ROOM, 64, 1);
    bench.publish(1, 8).unwrap();
    let hazard = HazardTable::new(&bench.cell.table).acquire().unwrap();
    let segs = Restless(&bench.cell.desc, &bench);
    let result = read(&segs, &bench.cell.desc, OWNER, 1, &hazard, &mut InlineBuf::new(), |meta: SlotMeta, _| meta);
    assert!(matches!(result, Err(ReadError::Invalid(_))), "{result:?}");
}
