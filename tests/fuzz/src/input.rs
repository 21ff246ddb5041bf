//! Bytes as a source of decisions. When they are used up, every decision is 0.

/// What is left of an input.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below `n`, which is at most 2^16 and not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let low = usize::from(self.byte());
        let number = if n > 256 { low | usize::from(self.byte()) << 8 } else { low };
        number % n
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// At most so many bytes.
    pub(crate) fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub(crate) fn word(&mut self) -> u64 {
        let mut word = [0; 8];
        let bytes = self.bytes(8);
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word)
    }

    /// What a word may be changed to: small, large, almost as it was, or anything.
    pub(crate) fn changed(&mut self, from: u64) -> u64 {
        match self.byte() % 8 {
            0 => self.word(),
            1 => u64::from(self.byte()),
            2 => u64::MAX - u64::from(self.byte()),
            3 => 1 << (self.byte() % 64),
            4 => from ^ 1 << (self.byte() % 64),
            5 => from.wrapping_add(u64::from(self.byte())),
            6 => from.wrapping_sub(u64::from(self.byte())),
            _ => from ^ u64::from(self.byte()) << (self.byte() % 64),
        }
    }
}
