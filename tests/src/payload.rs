//! Messages whose every byte follows from who sent them and their number.

use shoal_rmw::{Encapsulation, Incoming, Outgoing, Result, TypeInfo, CDR_LITTLE_ENDIAN};

/// Bytes of the shortest message: life, number, length.
pub const LEAST: usize = 24;

/// A message that is its own CDR.
pub struct Message(pub Vec<u8>);

/// Whose message it is, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The life of a process, unique in a run.
    pub life: u64,
    /// From 1.
    pub number: u64,
}

/// The type of all messages here.
pub fn bytes_type() -> TypeInfo {
    TypeInfo { name: "test/msg/Bytes".into(), hash: (1, [7; 32]), fixed_size: None, loanable_size: None }
}

/// The same for messages of one size, which can be lent.
pub fn fixed_type(size: usize) -> TypeInfo {
    let name = format!("test/msg/Fixed{size}");
    TypeInfo { name, hash: (1, [9; 32]), fixed_size: Some(size), loanable_size: Some(size) }
}

/// SplitMix64: every bit of the result depends on every bit of the input.
pub fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Message {
    /// The message `mark` of `len` bytes, rounded up to words and to [`LEAST`].
    pub fn new(mark: Mark, len: usize) -> Self {
        let words = len.max(LEAST).div_ceil(8);
        let seed = mix(mark.life ^ mix(mark.number));
        let head = [mark.life, mark.number, 8 * words as u64];
        let body = (3..words as u64).map(|at| seed.wrapping_mul(at | 1));
        Self(head.into_iter().chain(body).flat_map(u64::to_le_bytes).collect())
    }
}

impl Mark {
    /// Reads a message's mark and checks each of its bytes.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(bytes: &[u8]) -> std::result::Result<Self, String> {
        let word =
            |at: usize| bytes.get(8 * at..8 * at + 8).and_then(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
        let (Some(life), Some(number)) = (word(0), word(1)) else {
            return Err(format!("{} bytes are no message", bytes.len()));
        };
        let mark = Self { life, number };
        let whole = Message::new(mark, bytes.len());
        match whole.0.iter().zip(bytes).position(|(want, is)| want != is) {
            None if whole.0.len() == bytes.len() => Ok(mark),
            at => Err(format!("byte {at:?} of {} of a message that says {mark:?} is wrong", bytes.len())),
        }
    }
}

impl Outgoing for Message {
    fn size(&self) -> Result<usize> {
        Ok(self.0.len())
    }

    fn encapsulation(&self) -> Encapsulation {
        CDR_LITTLE_ENDIAN
    }

    fn write(&self, out: &mut [u8]) -> Result<usize> {
        out.copy_from_slice(&self.0);
        Ok(self.0.len())
    }
}

/// A private copy of a message that is being taken.
pub fn copied(incoming: Incoming) -> Vec<u8> {
    // SAFETY: the body is good for `len` bytes during the call that hands it out.
    unsafe { std::slice::from_raw_parts(incoming.ptr, incoming.len) }.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_byte_and_a_missing_one_are_noticed() {
        let mark = Mark { life: 7, number: 9 };
        let whole = Message::new(mark, 100).0;
        assert_eq!(Mark::of(&whole), Ok(mark));
        for at in 0..whole.len() {
            let mut torn = whole.clone();
            torn[at] ^= 1;
            assert!(Mark::of(&torn).is_err(), "byte {at}");
            assert!(Mark::of(&whole[..at]).is_err(), "{at} bytes");
        }
    }
}
