//! A set of byte ranges: disjoint, and merged where they touch.

use std::collections::BTreeMap;

/// Bytes from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Range {
    /// `len` bytes from `start` on.
    pub(super) fn new(start: u64, len: u64) -> Range {
        Range { start, end: start + len }
    }

    /// How many bytes.
    pub(super) fn len(self) -> u64 {
        self.end.saturating_sub(self.start)
    }

    /// The part in both; possibly empty.
    pub(super) fn and(self, other: Range) -> Range {
        Range { start: self.start.max(other.start), end: self.end.min(other.end) }
    }
}

/// At most two ranges, without memory of their own: a publisher whose samples lie in chunks comes here each time.
pub(super) type UpToTwo = [Option<Range>; 2];

/// The ranges, by start.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// The range that reaches up to `at` or beyond, and starts at or before it.
    fn touching_before(&self, at: u64) -> Option<Range> {
        let (&start, &end) = self.0.range(..=at).next_back()?;
        (end >= at).then_some(Range { start, end })
    }

    /// The range that contains all of `part`.
    pub(super) fn containing(&self, part: Range) -> Option<Range> {
        self.touching_before(part.start).filter(|range| range.end >= part.end)
    }

    /// Whether any byte of `part` is in the set.
    pub(super) fn overlaps(&self, part: Range) -> bool {
        self.0.range(..part.end).next_back().is_some_and(|(_, &end)| end > part.start)
    }

    /// The ranges that share bytes with `part`, whole, in order.
    pub(super) fn overlapping(&self, part: Range) -> Vec<Range> {
        let before = self.0.range(..=part.start).next_back().map_or(part.start, |(&start, _)| start);
        let candidates = self.0.range(before..part.end).map(|(&start, &end)| Range { start, end });
        candidates.filter(|range| range.and(part).len() > 0).collect()
    }

    /// Adds bytes, none of which is in the set, and answers the neighbours they were merged with and the whole.
    pub(super) fn insert(&mut self, part: Range) -> (UpToTwo, Range) {
        let before = self.touching_before(part.start);
        let after = self.0.get(&part.end).map(|&end| Range { start: part.end, end });
        let merged = [before, after];
        for range in merged.into_iter().flatten() {
            self.0.remove(&range.start);
        }
        let start = before.map_or(part.start, |before| before.start);
        let whole = Range { start, end: after.map_or(part.end, |after| after.end) };
        self.0.insert(whole.start, whole.end);
        (merged, whole)
    }

    /// Removes bytes, all of which lie in one range of the set, and answers what is left of that range.
    pub(super) fn remove(&mut self, part: Range) -> Option<UpToTwo> {
        let whole = self.containing(part)?;
        self.0.remove(&whole.start);
        let rest = [Range { start: whole.start, end: part.start }, Range { start: part.end, end: whole.end }];
        let rest = rest.map(|range| Some(range).filter(|range| range.len() > 0));
        self.0.extend(rest.into_iter().flatten().map(|range| (range.start, range.end)));
        Some(rest)
    }

    /// All ranges, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Range> + '_ {
        self.0.iter().map(|(&start, &end)| Range { start, end })
    }
}
