//! Copying long runs between messages and bodies.
//!
//! From some length on (2 KiB or 4 KiB) the C library's memcpy uses `rep movsb`. Where the target then lies up to a line
//! beyond the source, modulo a page, some processors (seen on AMD EPYC) take each load to depend on the store before it,
//! and a copy is ten times slower. That is the rule here and not a chance: a body starts on a page and has its data after
//! a few lengths (at 12), the allocator puts long arrays 16 bytes behind the start of a page. Copied from the end to the
//! start, no load follows a store that it could be taken to depend on. Beyond [`LONGEST`] memcpy stores past the caches,
//! which does not have the problem.

/// Shorter runs gain nothing.
const SHORTEST: usize = 2048;

/// Longer runs gain nothing.
const LONGEST: usize = 512 << 10;

/// What one step backwards moves; also how far ahead a target suffers.
const STEP: usize = 64;

/// The low bits of addresses by which the processor guesses that a load needs an earlier store.
const ALIAS: usize = 4096;

/// Copies `len` bytes.
///
/// # Safety
/// `from` is readable and `to` writable for `len` bytes, and they do not overlap.
#[inline]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    let ahead = to.addr().wrapping_sub(from.addr()) % ALIAS;
    let suffers = matches!(len, SHORTEST..=LONGEST) && matches!(ahead, 1..STEP);
    // SAFETY: the caller's promise.
    unsafe {
        match suffers {
            true => copy_backwards(from, to, len),
            false => std::ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// # Safety
/// As for [`copy`].
#[cold]
unsafe fn copy_backwards(from: *const u8, to: *mut u8, len: usize) {
    let mut left = len;
    while left >= STEP {
        left -= STEP;
        // SAFETY: `left + STEP` is at most `len`; else the caller's promise. Any bytes are a block of bytes.
        unsafe {
            let block = from.add(left).cast::<[u8; STEP]>().read_unaligned();
            to.add(left).cast::<[u8; STEP]>().write_unaligned(block);
        }
    }
    // SAFETY: the caller's promise, for the first bytes.
    unsafe { std::ptr::copy_nonoverlapping(from, to, left) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every distance of interest modulo a page, lengths on both sides of each limit, and not a byte beyond.
    #[test]
    fn a_copy_is_the_same_whatever_the_distance_and_the_length() {
        let source: Vec<u8> = (0..LONGEST + 9000).map(|i| (i * 31 % 251) as u8).collect();
        let mut target = vec![0u8; source.len() + 2 * ALIAS];
        for len in [0, 1, SHORTEST - 1, SHORTEST, SHORTEST + 1, 5000, LONGEST - 1, LONGEST, LONGEST + 65] {
            for ahead in [0, 1, 4, STEP - 1, STEP, STEP + 1, ALIAS - 4, ALIAS - 1] {
                let from = &source[3..3 + len];
                let start = (from.as_ptr().addr() + ahead).wrapping_sub(target.as_ptr().addr()) % ALIAS;
                target.fill(0xee);
                // SAFETY: the target is two pages longer than the source, and another allocation.
                unsafe { copy(from.as_ptr(), target.as_mut_ptr().add(start), len) };
                assert!(target[start..start + len] == *from, "{len} bytes, {ahead} ahead");
                let mut beyond = target[..start].iter().chain(&target[start + len..]);
                assert!(beyond.all(|byte| *byte == 0xee), "{len} bytes, {ahead} ahead");
            }
        }
    }
}
