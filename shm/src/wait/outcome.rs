//! Why a wait ended.

/// Why a wait, or a stream, ended. The numbers are those of `shoal.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Outcome {
    /// At least one item is ready.
    Ready = 0,
    /// The producer said that nothing follows, and everything before that has been taken.
    EndOfStream = 1,
    /// The time is over and nothing is ready.
    TimedOut = 2,
    /// The process was interrupted ([`Interrupt`](super::Interrupt)).
    Interrupted = 3,
    /// The producer died without ending its stream; what it had committed has been taken.
    Broken = 4,
    /// The producer said that a session is over, everything before that has been taken, and the stream goes on.
    EndOfDay = 5,
    /// The reader was too slow for its own bounds: it gets nothing more of this producer until it joins it again.
    Shed = 6,
}

impl Outcome {
    /// Whether samples, of this producer or another, may follow what it says of a stream.
    pub fn goes_on(self) -> bool {
        matches!(self, Outcome::EndOfDay | Outcome::Shed)
    }

    /// The number in `shoal.h`.
    pub fn code(self) -> u32 {
        self as u32
    }
}
