//! Whether a row of numbers is as it was sent.

use super::board::Fault;

/// The numbers of one sender, as they come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequence {
    /// The highest one so far; 0 at the beginning.
    pub last: u64,
    skipped: bool,
}

impl Sequence {
    /// A row whose first `last` numbers are nobody's business.
    pub fn after(last: u64) -> Self {
        Self { last, skipped: false }
    }

    /// Takes a number that has to be the next.
    ///
    /// # Errors
    /// What it is instead, and the number that was due.
    pub fn next(&mut self, number: u64) -> Result<(), (Fault, u64)> {
        let due = self.last + 1;
        let outcome = match number {
            _ if number == due => Ok(()),
            _ if number > due => Err((Fault::Lost, due)),
            // What was missed and comes now was not lost, but late.
            _ if self.skipped => Err((Fault::Disordered, due)),
            _ => Err((Fault::Doubled, due)),
        };
        self.skipped |= number > due;
        self.last = self.last.max(number);
        outcome
    }

    /// Takes a number that has to be higher than all before: KEEP_LAST may leave some out.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn later(&mut self, number: u64) -> Result<(), (Fault, u64)> {
        if number > self.last {
            self.last = number - 1;
        }
        self.next(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_a_gap_from_a_repeat_and_from_a_late_one() {
        let mut row = Sequence::default();
        assert_eq!(row.next(1), Ok(()));
        assert_eq!(row.next(1), Err((Fault::Doubled, 2)));
        assert_eq!(row.next(3), Err((Fault::Lost, 2)));
        assert_eq!(row.next(2), Err((Fault::Disordered, 4)));
        assert_eq!(row.later(9), Ok(()));
        assert!(row.later(9).is_err());
    }
}
