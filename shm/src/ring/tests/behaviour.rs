use super::super::testing::{bytes_of, OWNER};
use super::super::{read_loan, read_meta, ChunkRef, RingDesc, MAX_SEQUENCE};
use super::*;
use crate::hazard::HazardTable;
use crate::sync::Ordering;
use proptest::prelude::*;

const ROOM: usize = 1 << 20;

#[test]
fn a_sample_comes_back_as_it_was_published() {
    for stride in [64, 512, 1984] {
        let inline = stride - 48;
        on_both(ROOM, stride, 1, |mut bench| {
            for (n, size) in [0, 1, 7, 8, 9, inline - 1, inline, inline + 1, 4096, 5000].into_iter().enumerate() {
                let seed = 0x8000_0000_dead_0000 + n as u64;
                assert_eq!(bench.publish(seed, size).unwrap(), n as u64 + 1);
                let (meta, bytes) = bench.read(n as u64 + 1).unwrap();
                assert_eq!(bytes, body(seed, size), "size {size}");
                assert_eq!((meta.source_timestamp, meta.related), (seed as i64, !seed));
                assert_eq!((meta.encapsulation, meta.aux), (seed as u32, seed << 32));
                assert_eq!(read_meta(&bench.peer, &bench.cell.desc, n as u64 + 1), Some(meta));
            }
        });
    }
}

#[test]
fn a_body_goes_inline_up_to_the_slots_room_and_into_a_chunk_of_its_size_above() {
    let mut bench: Bench = Bench::on_heap(ROOM, 128, 1);
    assert!(bench.writer.reserve(&mut bench.pool, 80).unwrap().block().is_none());
    let above = bench.writer.reserve(&mut bench.pool, 81).unwrap();
    assert_eq!(above.block().unwrap().len, 81);
    assert_eq!(above.block().unwrap().offset % 64, 0);
    bench.writer.abandon(&mut bench.pool, above);
    assert_eq!(bench.pool.in_use(), 0);
}

#[test]
fn a_ring_that_retires_everything_goes_on_and_gives_the_next_sample_the_same_chunk() {
    on_both(ROOM, 64, 4, |mut bench| {
        for seq in 1..=9 {
            assert_eq!(bench.publish(seq, 5000).unwrap(), seq);
            assert!(bench.writer.last_is_chunk());
            let place = bench.writer.chunks.back().copied().flatten().map(|block| block.offset);
            bench.writer.retire_all(&mut bench.pool, &mut |_| false);
            assert!(!bench.writer.last_is_chunk());
            assert_eq!(bench.read(seq), Err(ReadError::Lapped));
            assert_eq!(bench.cell.head.load(Ordering::Relaxed), seq, "the head stays");
            let again = bench.writer.reserve(&mut bench.pool, 5000).unwrap();
            assert_eq!(again.block().map(|block| block.offset), place);
            bench.writer.abandon(&mut bench.pool, again);
        }
    });
}

#[test]
fn exactly_the_window_is_kept() {
    for window in [1, 2, 3, 4, 7, 8, 1000] {
        on_both(8 * ROOM, 64, window, |mut bench| {
            let window = u64::from(window);
            for seq in 1..=2 * window + 9 {
                bench.publish(seq, if seq % 3 == 0 { 24 } else { 8 }).unwrap();
                assert_eq!(bench.cell.head.load(Ordering::Relaxed), seq);
                assert_eq!(bench.read(seq + 1), Err(ReadError::NotYet));
                assert_eq!(bench.read(seq.saturating_sub(window).max(1)).is_ok(), seq <= window);
            }
            let head = 2 * window + 9;
            for seq in 1..=head {
                let size = if seq % 3 == 0 { 24 } else { 8 };
                match bench.read(seq) {
                    Ok((_, bytes)) => assert!(bytes == body(seq, size) && seq > head - window, "{seq}"),
                    Err(why) => assert!(why == ReadError::Lapped && seq <= head - window, "{seq}: {why}"),
                }
            }
        });
    }
}

#[test]
fn a_window_may_be_widened_and_narrowed() {
    on_both(ROOM, 64, 1, |mut bench| {
        for seq in 1..=5 {
            bench.publish(seq, 20).unwrap();
        }
        bench.writer.set_window(40);
        for seq in 6..=50 {
            bench.publish(seq, 20).unwrap();
        }
        assert!((11..=50).all(|seq| bench.read(seq).unwrap().1 == body(seq, 20)));
        assert!((1..=10).all(|seq| bench.read(seq) == Err(ReadError::Lapped)));
        bench.writer.set_window(2);
        bench.publish(51, 20).unwrap();
        assert!((1..=49).all(|seq| bench.read(seq) == Err(ReadError::Lapped)));
        assert!((50..=51).all(|seq| bench.read(seq).is_ok()));
        assert!(bench.close());
        assert_eq!(bench.pool.in_use(), 0);
        assert_eq!(bench.read(51), Err(ReadError::NotYet));
    });
}

#[test]
fn a_refused_allocation_uses_up_no_sequence_number_and_loses_nothing() {
    on_both(ROOM, 64, 8, |mut bench| {
        for seq in 1..=4 {
            bench.publish(seq, 100).unwrap();
        }
        bench.pool.grants = 0;
        bench.publish(5, 100).expect_err("no chunk");
        bench.publish(5, 8).expect_err("no region to grow into");
        bench.pool.grants = 1;
        let before = bench.pool.in_use();
        bench.publish(5, 100).expect_err("a chunk, but no region");
        assert_eq!(bench.pool.in_use(), before, "the chunk is given back");
        assert_eq!((bench.writer.head(), bench.cell.head.load(Ordering::Relaxed)), (4, 4));
        assert!((1..=4).all(|seq| bench.read(seq).unwrap().1 == body(seq, 100)));
        bench.pool.grants = usize::MAX;
        assert_eq!(bench.publish(5, 100).unwrap(), 5);
        assert!((1..=5).all(|seq| bench.read(seq).unwrap().1 == body(seq, 100)));
    });
}

#[test]
fn a_body_too_long_for_a_slots_size_word_is_refused() {
    let mut bench: Bench = Bench::on_heap(ROOM, 64, 1);
    bench.writer.reserve(&mut bench.pool, 1 << 32).expect_err("4 GiB");
    assert_eq!(bench.publish(1, 8).unwrap(), 1);
}

#[test]
fn a_loan_outlives_laps_and_the_closing_of_its_ring() {
    on_both(ROOM, 64, 1, |mut bench| {
        let table = bench.cell.clone();
        let hazards = HazardTable::new(&table.table);
        bench.publish(1, 300).unwrap();
        let loan = read_loan(&bench.peer, &bench.cell.desc, OWNER, 1, hazards.acquire().unwrap()).unwrap();
        for seq in 2..=20 {
            bench.publish(seq, 300).unwrap();
        }
        assert_eq!(bench.writer.in_limbo(), 1, "only the loaned chunk waits");
        assert_eq!(bytes_of(loan.payload()), body(1, 300));
        assert_eq!(loan.meta().source_timestamp, 1);
        assert!(!bench.close(), "the loan is still out");
        assert_eq!(bytes_of(loan.payload()), body(1, 300));
        drop(loan);
        bench.reclaim();
        assert_eq!((bench.writer.in_limbo(), bench.pool.in_use()), (0, 0));
    });
}

#[test]
fn a_loan_of_an_inline_sample_is_a_copy_and_holds_no_hazard() {
    on_both(ROOM, 64, 1, |mut bench| {
        let table = bench.cell.clone();
        let hazards = HazardTable::new(&table.table);
        bench.publish(1, 13).unwrap();
        let loan = read_loan(&bench.peer, &bench.cell.desc, OWNER, 1, hazards.acquire().unwrap()).unwrap();
        (2..9).for_each(|seq| assert_eq!(bench.publish(seq, 13).unwrap(), seq));
        assert_eq!(bytes_of(loan.payload()), body(1, 13));
        assert!(table.table[1..].iter().all(|word| word.load(Ordering::Relaxed) == 0));
        let gone = read_loan(&bench.peer, &bench.cell.desc, OWNER, 1, hazards.acquire().unwrap());
        assert_eq!(gone.err(), Some(ReadError::Lapped));
    });
}

#[test]
fn sequence_numbers_out_of_range_are_errors() {
    let mut bench: Bench = Bench::on_heap(ROOM, 64, 1);
    bench.publish(1, 8).unwrap();
    for seq in [0, MAX_SEQUENCE, MAX_SEQUENCE + 1, 1 << 63 | 1, u64::MAX] {
        assert!(matches!(bench.read(seq), Err(ReadError::Invalid(_))), "{seq}");
    }
    assert_eq!(bench.read(MAX_SEQUENCE - 1), Err(ReadError::NotYet));
}

#[test]
fn warm_rings_allocate_nothing_for_inline_samples() {
    let mut bench: Bench = Bench::on_heap(ROOM, 64, 3);
    (1..=8).for_each(|seq| assert_eq!(bench.publish(seq, 16).unwrap(), seq));
    bench.pool.grants = 0;
    let room = (bench.writer.chunks.capacity(), bench.writer.limbo.capacity());
    (9..=999).for_each(|seq| assert_eq!(bench.publish(seq, 16).unwrap(), seq));
    assert_eq!(room, (bench.writer.chunks.capacity(), bench.writer.limbo.capacity()));
}

proptest! {
    #[test]
    fn descriptors_keep_every_field(segment: u16, line in 0..1u64 << 28, log2 in 0u32..32, lines in 1usize..32, generation: u64) {
        let desc = RingDesc::pack(segment, line * 64, log2, lines * 64, generation).unwrap();
        prop_assert_eq!(RingDesc::checked(desc.word()), Some(desc));
        prop_assert_eq!((desc.segment(), desc.offset(), desc.stride()), (segment, line * 64, lines * 64));
        prop_assert_eq!((desc.capacity(), desc.generation()), (1 << log2, generation % 1024));
    }

    #[test]
    fn no_word_makes_a_descriptor_or_a_reference_overflow(word: u64, seq: u64, ctx: u16) {
        if let Some(desc) = RingDesc::checked(word) {
            prop_assert!(desc.slot_offset(seq) < 1 << 43 && desc.stride() >= 64);
        }
        if let Some(chunk) = ChunkRef::checked(word) {
            prop_assert!(chunk.offset() < 1 << 37 && chunk.id(ctx) != 0);
            prop_assert_eq!(ChunkRef::pack(chunk.segment(), chunk.offset()), Some(chunk));
        }
    }
}

#[test]
fn fields_that_do_not_fit_are_refused() {
    assert!(RingDesc::checked(0).is_none());
    assert!(RingDesc::pack(0, 1 << 34, 2, 64, 0).is_none());
    assert!(RingDesc::pack(0, 8, 2, 64, 0).is_none());
    assert!(RingDesc::pack(0, 0, 32, 64, 0).is_none());
    assert!(RingDesc::pack(0, 0, 2, 0, 0).is_none());
    assert!(RingDesc::pack(0, 0, 2, 2048, 0).is_none());
    assert!(ChunkRef::pack(0, 8).is_none());
    assert!(ChunkRef::pack(0, 1 << 37).is_none());
    assert!(ChunkRef::checked(0).is_none());
    assert!(ChunkRef::checked(1 << 48 | 1 << 31).is_none());
}
