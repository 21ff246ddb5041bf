use super::give_back::THRIFT;
use super::{AllocError, Arena, Block};
use crate::sync::{Ordering, FIRST_SEGMENT};
use crate::testing::{role, role_root, watched, Scratch};
use proptest::prelude::*;
use std::path::Path;

/// Marks a block's memory as its own.
fn fill(arena: &Arena, block: Block, tag: u64) {
    for (word, i) in arena.words(block).iter().zip(0_u64..) {
        word.store(tag ^ i, Ordering::Relaxed);
    }
}

fn assert_intact(arena: &Arena, block: Block, tag: u64) {
    let words = arena.words(block);
    assert_eq!(words.len() as u64 * 8, block.len);
    for (word, i) in words.iter().zip(0_u64..) {
        assert_eq!(word.load(Ordering::Relaxed), tag ^ i, "word {i} of {block:?}");
    }
}

#[test]
fn sizes_are_rounded_and_blocks_aligned() {
    let mut arena = Arena::heap();
    for (asked, got) in [(0, 64), (1, 64), (64, 64), (65, 128), (4095, 4096), (4096, 4096), (4097, 8192)] {
        let block = arena.alloc(asked).unwrap();
        assert_eq!((block.len, block.offset % 64), (got, 0), "{asked}");
        assert_eq!(arena.bytes_mut(block).cast_const() as usize % 8, 0);
    }
}

#[test]
fn the_smallest_extent_that_fits_is_taken() {
    let mut arena = Arena::heap();
    let blocks: Vec<Block> = [512, 64, 256, 64].map(|len| arena.alloc(len).unwrap()).to_vec();
    arena.free(blocks[0]);
    arena.free(blocks[2]);
    assert_eq!(arena.alloc(200).unwrap(), blocks[2]);
    assert_eq!(arena.alloc(500).unwrap(), blocks[0]);
}

#[test]
fn the_first_segment_is_small_and_further_ones_double() {
    let mut arena = Arena::heap();
    arena.alloc(64).unwrap();
    assert_eq!(arena.committed(), FIRST_SEGMENT);
    arena.alloc(FIRST_SEGMENT).unwrap();
    assert_eq!(arena.committed(), 2 * FIRST_SEGMENT);
    arena.alloc(64 * FIRST_SEGMENT).unwrap();
    assert_eq!(arena.committed(), 66 * FIRST_SEGMENT);
}

#[test]
fn where_doubling_does_not_fit_what_is_needed_does() {
    let mut arena = Arena::heap_with_budget(100 << 10);
    arena.alloc(32 << 10).unwrap();
    arena.alloc(32 << 10).unwrap();
    arena.alloc(20 << 10).unwrap();
    assert_eq!(arena.committed(), 84 << 10);
    let refused = arena.alloc(20 << 10).unwrap_err();
    assert!(matches!(refused, AllocError::NoSpace { needed: 20480, .. }), "{refused}");
    assert_eq!((arena.committed(), arena.in_use()), (84 << 10, 84 << 10));
    arena.alloc(16 << 10).unwrap();
}

#[test]
fn impossible_sizes_are_refused() {
    let mut arena = Arena::heap();
    for len in [usize::MAX, (1 << 34) + 1] {
        assert!(matches!(arena.alloc(len), Err(AllocError::TooLarge { .. })), "{len}");
    }
    assert_eq!(arena.committed(), 0);
}

#[test]
fn a_closed_arena_refuses_and_has_no_files() {
    let scratch = Scratch::new();
    let dir = scratch.domain();
    let mut arena = Arena::new(dir.clone(), "c0ffee".into());
    let block = arena.alloc(1).unwrap();
    arena.alloc(100_000).unwrap();
    assert_eq!(dir.names().unwrap().len(), 2);
    arena.close();
    assert!(dir.names().unwrap().is_empty());
    assert!(matches!(arena.alloc(1), Err(AllocError::Closed)));
    fill(&arena, block, 1); // a thread that was writing may finish
    arena.free(block);
}

#[test]
fn in_a_forked_child_the_arena_refuses_and_leaves_the_files() {
    let scratch = Scratch::new();
    let dir = scratch.domain();
    let mut arena = Arena::new(dir.clone(), "c0ffee".into());
    let block = arena.alloc(8 << 20).unwrap();
    arena.generation = arena.generation.wrapping_sub(1); // what a child sees: an arena older than itself
    assert!(matches!(arena.alloc(1), Err(AllocError::Forked)));
    arena.free(block);
    arena.trim();
    arena.close();
    assert_eq!(dir.names().unwrap(), ["c0ffee.0"]);
}

#[test]
fn a_load_that_goes_is_given_back_and_its_segment_number_is_not_used_again() {
    let scratch = Scratch::new();
    let dir = scratch.domain();
    let mut arena = Arena::new(dir.clone(), "c0ffee".into());
    let small = arena.alloc(64).unwrap();
    let large = arena.alloc(8 << 20).unwrap();
    assert_eq!((small.segment, large.segment), (0, 1));
    arena.free(large);
    assert_eq!(arena.alloc(8 << 20).unwrap(), large, "a load that comes and goes makes no system call");
    arena.free(large);
    arena.grace = std::time::Duration::ZERO; // as if time had passed
    arena.tidy();
    arena.tidy();
    assert_eq!(arena.committed(), FIRST_SEGMENT);
    assert_eq!(dir.names().unwrap(), ["c0ffee.0"]);
    assert_eq!(arena.alloc(8 << 20).unwrap().segment, 2);
}

#[test]
fn what_is_idle_but_little_is_kept() {
    let mut arena = Arena::heap();
    let block = arena.alloc(1 << 20).unwrap();
    arena.free(block);
    assert_eq!(arena.committed(), 1 << 20);
    arena.trim();
    assert!(arena.committed() < 4096, "{}", arena.committed());
}

#[test]
fn holes_are_filled_before_reuse_and_a_full_file_system_is_an_error() {
    let mut arena = Arena::heap_with_budget(4 << 20);
    let blocks: Vec<Block> = (0..16).map(|_| arena.alloc(192 << 10).unwrap()).collect();
    blocks.iter().for_each(|&block| fill(&arena, block, block.offset));
    blocks[1..15].iter().for_each(|&block| arena.free(block));
    arena.trim();
    arena.pool.check();
    let punched = arena.committed();
    assert!(punched < 1 << 20, "{punched}");
    let mut hog = Vec::new();
    while let Ok(block) = arena.alloc(64 << 10) {
        fill(&arena, block, block.offset);
        hog.push(block);
        arena.pool.check();
    }
    assert!(matches!(arena.alloc(64 << 10), Err(AllocError::NoSpace { .. })));
    let before = (arena.committed(), arena.in_use());
    assert!(matches!(arena.alloc(3 << 20), Err(AllocError::NoSpace { .. })));
    assert_eq!((arena.committed(), arena.in_use()), before);
    for &block in hog.iter().chain([&blocks[0], &blocks[15]]) {
        assert_intact(&arena, block, block.offset);
        arena.free(block);
        arena.pool.check();
    }
    assert_eq!(arena.in_use(), 0);
    arena.alloc(3 << 20).unwrap();
}

#[test]
fn what_stragglers_may_read_is_kept_for_a_while() {
    let mut arena = Arena::heap();
    let block = arena.alloc(64 << 10).unwrap();
    fill(&arena, block, 9);
    arena.grace = std::time::Duration::MAX;
    arena.free_later(block);
    arena.trim();
    assert!(apart(arena.alloc(64 << 10).unwrap(), block));
    assert_intact(&arena, block, 9);
    arena.grace = std::time::Duration::ZERO;
    arena.trim();
    assert_eq!(arena.in_use(), 64 << 10);
    arena.pool.check();
}

#[test]
fn segment_numbers_outlast_any_load() {
    let mut arena = Arena::heap();
    arena.alloc(64).unwrap();
    arena.next_number = THRIFT + 1; // as after that many segments
    for _ in 0..100 {
        let block = arena.alloc(2 << 20).unwrap();
        arena.free(block);
    }
    arena.trim();
    assert!(arena.committed() < 2 << 20);
    arena.alloc(2 << 20).unwrap();
    assert_eq!(arena.next_number, THRIFT + 2, "the segment is punched and filled again, not replaced");
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "is not in use"))]
fn freeing_twice_changes_nothing() {
    let mut arena = Arena::heap();
    let block = arena.alloc(64).unwrap();
    arena.free(block);
    arena.free(block);
    assert_eq!(arena.in_use(), 0);
}

#[derive(Clone, Debug)]
enum Op {
    Alloc(usize),
    Free(prop::sample::Index),
    Trim,
}

fn op() -> impl Strategy<Value = Op> {
    let len = prop_oneof![4 => 0_usize..600, 3 => 0_usize..20_000, 1 => 0_usize..1_500_000];
    prop_oneof![
        10 => len.prop_map(Op::Alloc),
        9 => any::<prop::sample::Index>().prop_map(Op::Free),
        1 => Just(Op::Trim),
    ]
}

/// Runs the operations on an arena and on the simplest model: the list of live blocks, each full of its own tag.
fn compare(mut arena: Arena, ops: Vec<Op>) {
    let mut live: Vec<(Block, u64)> = Vec::new();
    let mut most_live = 0;
    arena.grace = std::time::Duration::ZERO; // every free is a look
    let mut peak = 0;
    for (op, tag) in ops.into_iter().zip(1_u64..) {
        let freed = matches!(op, Op::Free(_)) && !live.is_empty();
        match op {
            Op::Alloc(len) => match arena.alloc(len) {
                Ok(block) => {
                    assert!(block.len >= len as u64);
                    assert!(live.iter().all(|(other, _)| apart(*other, block)), "{block:?} overlaps");
                    fill(&arena, block, tag << 32);
                    live.push((block, tag << 32));
                }
                Err(error) => assert!(matches!(error, AllocError::NoSpace { .. }), "{error}"),
            },
            Op::Free(index) if !live.is_empty() => {
                let (block, tag) = live.swap_remove(index.index(live.len()));
                assert_intact(&arena, block, tag);
                arena.free(block);
            }
            Op::Free(_) => {}
            Op::Trim => arena.trim(),
        }
        arena.pool.check();
        let in_use: u64 = live.iter().map(|(block, _)| block.len).sum();
        assert_eq!(arena.in_use() as u64, in_use);
        most_live = most_live.max(live.len() as u64);
        peak = peak.max(in_use);
        if freed {
            let idle = arena.committed() as u64 - in_use;
            // Less than a page on either side of each block cannot be given back.
            let fragments = (most_live + 8) * 8192;
            assert!(idle <= 2 * peak.max(1 << 20) + fragments, "{idle} idle, {in_use} in use, {peak} lately");
            peak = in_use;
        }
    }
    live.iter().for_each(|&(block, tag)| assert_intact(&arena, block, tag));
    arena.close();
}

fn apart(one: Block, other: Block) -> bool {
    one.segment != other.segment || one.offset + one.len <= other.offset || other.offset + other.len <= one.offset
}

fn quick() -> ProptestConfig {
    ProptestConfig::with_cases(48)
}

proptest! {
    #![proptest_config(quick())]

    #[test]
    fn random_operations_on_the_heap(ops in prop::collection::vec(op(), 1..150)) {
        compare(Arena::heap(), ops);
    }

    #[test]
    fn random_operations_on_a_heap_that_runs_full(ops in prop::collection::vec(op(), 1..150)) {
        compare(Arena::heap_with_budget(3 << 20), ops);
    }

    #[test]
    fn random_operations_on_files(ops in prop::collection::vec(op(), 1..150)) {
        let scratch = Scratch::new();
        let dir = scratch.domain();
        compare(Arena::new(dir.clone(), "c0ffee".into()), ops);
        prop_assert!(dir.names().unwrap().is_empty());
    }
}

fn mount_tmpfs(at: &Path, options: &std::ffi::CStr) -> std::io::Result<()> {
    let at = std::ffi::CString::new(at.to_str().unwrap()).unwrap();
    let kind = c"tmpfs".as_ptr();
    // SAFETY: NUL-terminated strings; the mount is seen by this process' own namespace only.
    let mounted = unsafe { libc::mount(kind, at.as_ptr(), kind, 0, options.as_ptr().cast()) };
    if mounted == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// Not a test: runs in a mount namespace of its own, where a file system of 1 MiB can be had.
#[test]
#[ignore = "a role of a_full_file_system_is_an_error_and_never_a_signal"]
fn full_file_system_role() {
    let Some(root) = role_root() else { return };
    if let Err(error) = mount_tmpfs(&root, c"size=1m") {
        println!("\nskipped: no tmpfs of our own: {error}");
        return;
    }
    let dir = std::sync::Arc::new(
        crate::segment::DomainDir::open_or_create(&root, crate::segment::Access::Owner, "7").unwrap(),
    );
    let mut arena = Arena::new(dir.clone(), "c0ffee".into());
    let fill_up = |arena: &mut Arena| {
        let mut blocks = Vec::new();
        let refused = loop {
            match arena.alloc(20_000) {
                Ok(block) => blocks.push(block),
                Err(error) => break error,
            }
            fill(arena, *blocks.last().unwrap(), 1);
        };
        assert!(matches!(refused, AllocError::NoSpace { .. }), "{refused}");
        arena.pool.check();
        blocks
    };
    let blocks = fill_up(&mut arena);
    assert!(blocks.len() >= 40, "{} blocks", blocks.len());
    assert_eq!(dir.names().unwrap().len(), arena.segments.len(), "a failed creation left a file");
    for &block in &blocks[1..] {
        arena.free(block);
    }
    arena.trim();
    let hog = crate::segment::Segment::create(&dir, "hog", 900 << 10).unwrap();
    let few = fill_up(&mut arena);
    assert!(few.len() < 10, "{} blocks beside the hog", few.len());
    drop(hog);
    dir.unlink("hog").unwrap();
    assert!(fill_up(&mut arena).len() + few.len() >= 40);
    assert_intact(&arena, blocks[0], 1);
    println!("\nfull and well");
}

#[test]
fn a_full_file_system_is_an_error_and_never_a_signal() {
    watched(|| {
        let scratch = Scratch::new();
        let through = ["unshare", "-Urm"];
        let output = match role("arena::tests::full_file_system_role", scratch.path(), &through).output() {
            Ok(output) => output,
            Err(error) => return println!("skipped: no unshare(1): {error}"),
        };
        let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if said.contains("skipped:") || complained.contains("unshare failed") {
            return println!("skipped: {said} {complained}");
        }
        assert!(output.status.success() && said.contains("full and well"), "{}\n{said}\n{complained}", output.status);
    });
}
