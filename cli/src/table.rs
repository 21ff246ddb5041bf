//! Columns that fit a width.

use crate::text::{fit, width_of};

/// Which side a column's text stands at.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// Rows of cells under a heading. One column gives way where the width does not suffice.
pub struct Table {
    columns: Vec<(&'static str, Side)>,
    flexible: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(columns: &[(&'static str, Side)], flexible: usize) -> Table {
        Table { columns: columns.to_vec(), flexible, rows: Vec::new() }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines, none wider than `width`.
    pub fn lines(&self, width: usize) -> Vec<String> {
        let widths = self.widths(width);
        let heading: Vec<String> = self.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        std::iter::once(&heading).chain(&self.rows).map(|row| self.line(row, &widths, width)).collect()
    }

    fn widths(&self, width: usize) -> Vec<usize> {
        let widest = |i: usize| self.rows.iter().map(|row| width_of(&row[i])).max().unwrap_or(0);
        let mut widths: Vec<usize> =
            self.columns.iter().enumerate().map(|(i, (name, _))| widest(i).max(width_of(name))).collect();
        let others: usize = widths.iter().sum::<usize>() - widths[self.flexible] + 2 * (widths.len() - 1);
        widths[self.flexible] = widths[self.flexible].min(width.saturating_sub(others).max(8));
        widths
    }

    fn line(&self, row: &[String], widths: &[usize], width: usize) -> String {
        let cells = row.iter().zip(widths).zip(&self.columns).map(|((text, &width), (_, side))| {
            let text = fit(text, width);
            let space = " ".repeat(width - width_of(&text));
            match side {
                Side::Left => text + &space,
                Side::Right => space + &text,
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        fit(line.trim_end(), width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_asked_and_short_ones_stay_whole() {
        let mut table = Table::new(&[("NAME", Side::Left), ("N", Side::Right)], 0);
        table.row(vec!["/a/name/of/quite/some/length".into(), "17".into()]);
        table.row(vec!["/b".into(), "4".into()]);
        let whole = [
            "NAME                           N",
            "/a/name/of/quite/some/length  17",
            "/b                             4",
        ];
        assert_eq!(table.lines(80), whole);
        assert_eq!(table.lines(20), ["NAME               N", "/a/name/…/length  17", "/b                 4"]);
        assert!((1..40).all(|width| table.lines(width).iter().all(|line| width_of(line) <= width)));
    }
}
