//! Where things stand: columns by the longest way from a source, rows by where their neighbours stand.

use super::Picture;

/// Sweeps that bring rows closer to their neighbours.
const SWEEPS: usize = 4;

/// Column and row of each thing.
pub fn places(picture: &Picture) -> Vec<(usize, usize)> {
    let columns = columns(picture);
    let mut rows = first_rows(&columns);
    for sweep in 0..SWEEPS {
        // Forwards by those before, then backwards by those behind.
        settle(picture, &columns, &mut rows, sweep % 2 == 0);
    }
    columns.into_iter().zip(rows).collect()
}

/// The longest way from a thing that nothing leads to. Circles are cut where a walk comes back to itself.
fn columns(picture: &Picture) -> Vec<usize> {
    let n = picture.things.len();
    let forward = without_circles(picture);
    let mut columns = vec![0; n];
    // At most n steps long is the longest way.
    for _ in 0..n {
        let mut moved = false;
        for &(from, to) in &forward {
            if columns[to] < columns[from] + 1 {
                columns[to] = columns[from] + 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    columns
}

/// The arrows but for those that lead back into the walk that found them.
fn without_circles(picture: &Picture) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        OnTheWay,
        Done,
    }
    let n = picture.things.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); n];
    picture.arrows.iter().for_each(|&(from, to)| next[from].push(to));
    let has_source: Vec<bool> = (0..n).map(|i| picture.arrows.iter().any(|&(_, to)| to == i)).collect();
    let mut seen = vec![Seen::Not; n];
    let mut kept = Vec::new();
    // Sources first, so that a circle is cut at its far end.
    let starts = (0..n).filter(|&i| !has_source[i]).chain(0..n);
    for start in starts {
        if seen[start] != Seen::Not {
            continue;
        }
        seen[start] = Seen::OnTheWay;
        let mut way = vec![(start, 0)];
        while let Some((at, i)) = way.pop() {
            let Some(&to) = next[at].get(i) else {
                seen[at] = Seen::Done;
                continue;
            };
            way.push((at, i + 1));
            if seen[to] != Seen::OnTheWay {
                kept.push((at, to));
            }
            if seen[to] == Seen::Not {
                seen[to] = Seen::OnTheWay;
                way.push((to, 0));
            }
        }
    }
    kept
}

fn first_rows(columns: &[usize]) -> Vec<usize> {
    let mut used = vec![0; columns.iter().max().map_or(0, |last| last + 1)];
    columns
        .iter()
        .map(|&column| {
            used[column] += 1;
            used[column] - 1
        })
        .collect()
}

fn settle(picture: &Picture, columns: &[usize], rows: &mut [usize], forwards: bool) {
    let last = columns.iter().max().map_or(0, |last| last + 1);
    let order: Vec<usize> = if forwards { (0..last).collect() } else { (0..last).rev().collect() };
    for column in order {
        let mut members: Vec<usize> = (0..columns.len()).filter(|&i| columns[i] == column).collect();
        let middle = |i: usize| {
            let neighbours = picture.arrows.iter().filter_map(|&(from, to)| match forwards {
                true => (to == i).then_some(from),
                false => (from == i).then_some(to),
            });
            let (sum, n) = neighbours.fold((0, 0), |(sum, n), j| (sum + rows[j], n + 1));
            if n == 0 {
                rows[i] as f64
            } else {
                sum as f64 / f64::from(n)
            }
        };
        let middles: Vec<f64> =
            (0..columns.len()).map(|i| if columns[i] == column { middle(i) } else { 0.0 }).collect();
        members.sort_by(|&a, &b| middles[a].total_cmp(&middles[b]).then(rows[a].cmp(&rows[b])));
        members.iter().enumerate().for_each(|(row, &i)| rows[i] = row);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Thing;
    use super::*;

    fn picture(n: usize, arrows: &[(usize, usize)]) -> Picture {
        let things = (0..n).map(|i| Thing::Node(i.to_string())).collect();
        Picture { things, arrows: arrows.iter().copied().collect() }
    }

    #[test]
    fn messages_run_from_left_to_right() {
        let chain = places(&picture(3, &[(0, 1), (1, 2)]));
        assert_eq!(chain, [(0, 0), (1, 0), (2, 0)]);
    }

    #[test]
    fn no_two_things_stand_in_one_place_even_in_circles() {
        let circle = places(&picture(5, &[(0, 1), (1, 2), (2, 0), (3, 1), (1, 4), (4, 1)]));
        let mut different = circle.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), 5, "{circle:?}");
        assert!(circle[3].0 < circle[1].0, "what feeds a circle stands before it: {circle:?}");
    }

    #[test]
    fn rows_follow_neighbours() {
        let crossed = places(&picture(4, &[(0, 3), (1, 2)]));
        assert_eq!(crossed[0].1, crossed[3].1);
        assert_eq!(crossed[1].1, crossed[2].1);
    }
}
