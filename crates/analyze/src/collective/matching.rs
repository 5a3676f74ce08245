//! One collective: the records that its ranks wrote of it.
//!
//! (communicator, function, sequence number) is one collective, except that all replays of a CUDA graph carry one number,
//! and that a communicator may be made anew under its old id. A rank then has several records of one number; they are
//! matched in order of time where every rank has as many, and stand alone where not, since nothing says which belong together.

use std::collections::hash_map::Entry;

use super::row::Row;
use crate::records::hash::NumberMap;

/// The records of one collective, by member; at least one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Collective<'a> {
    /// The records, one a member.
    pub(crate) rows: &'a [Row],
}

impl Collective<'_> {
    /// The shortest time: when every rank is there, the transfer itself.
    pub(crate) fn shortest(&self) -> f64 {
        self.rows
            .iter()
            .map(|r| r.micros)
            .fold(f64::INFINITY, f64::min)
    }

    /// The longest time.
    pub(crate) fn longest(&self) -> f64 {
        self.rows.iter().map(|r| r.micros).fold(0.0, f64::max)
    }

    /// The mean time: what the job felt.
    pub(crate) fn mean(&self) -> f64 {
        self.rows.iter().map(|r| r.micros).sum::<f64>() / self.rows.len() as f64
    }

    /// The mean stamp.
    pub(crate) fn mean_stamp(&self) -> f64 {
        let first = self.rows[0].dumped;
        first as f64
            + self
                .rows
                .iter()
                .map(|r| (r.dumped - first) as f64)
                .sum::<f64>()
                / self.rows.len() as f64
    }

    /// Function and message size.
    pub(crate) fn cell(&self) -> (u32, u64) {
        (self.rows[0].function, self.rows[0].size)
    }

    /// Sequence number.
    pub(crate) fn sequence_number(&self) -> i64 {
        self.rows[0].sequence_number
    }
}

/// The collectives of a communicator, in the order of function and sequence number.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    rows: Vec<Row>,
    /// Where each collective's rows end, the first beginning at 0, and the number of its cell.
    ends: Vec<(usize, u32)>,
    /// Function and message size of each cell, in order of first appearance.
    cells: Vec<(u32, u64)>,
}

impl Matched {
    /// Matches rows that are sorted by function, sequence number and member.
    pub(crate) fn of(mut rows: Vec<Row>) -> Self {
        let mut lengths = Vec::new();
        for same in rows
            .chunk_by_mut(|a, b| a.function == b.function && a.sequence_number == b.sequence_number)
        {
            // Rows are sorted by member: one a member and one size is the ordinary case.
            let one_each = same.windows(2).all(|w| w[0].member < w[1].member);
            if one_each && same.iter().all(|r| r.size == same[0].size) {
                lengths.push(same.len());
                continue;
            }
            same.sort_by(|a, b| {
                (a.size, a.member, a.dumped)
                    .cmp(&(b.size, b.member, b.dumped))
                    .then(a.micros.total_cmp(&b.micros))
            });
            for sized in same.chunk_by_mut(|a, b| a.size == b.size) {
                split_occurrences(sized, &mut lengths);
            }
        }
        let mut cells: Vec<(u32, u64)> = Vec::new();
        let mut index: NumberMap<(u32, u64), u32> = NumberMap::default();
        let mut end = 0;
        let ends = lengths.into_iter().map(|length| {
            let cell = (rows[end].function, rows[end].size);
            end += length;
            let number = match index.entry(cell) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    cells.push(cell);
                    *new.insert(u32::try_from(cells.len() - 1).unwrap_or(u32::MAX))
                }
            };
            (end, number)
        });
        Self {
            ends: ends.collect(),
            cells,
            rows,
        }
    }

    /// Every collective, with the number of its cell.
    pub(crate) fn collectives(&self) -> impl Iterator<Item = (Collective<'_>, usize)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, cell)| {
            let rows = &self.rows[start..end];
            start = end;
            (Collective { rows }, cell as usize)
        })
    }

    /// Function and message size of each cell.
    pub(crate) fn cells(&self) -> &[(u32, u64)] {
        &self.cells
    }
}

/// Rows of one number and size, sorted by member and time, are put into the order of the collectives that they belong to.
fn split_occurrences(rows: &mut [Row], lengths: &mut Vec<usize>) {
    let counts: Vec<usize> = rows
        .chunk_by(|a, b| a.member == b.member)
        .map(<[Row]>::len)
        .collect();
    let first = counts.first().copied().unwrap_or(0);
    if counts.iter().all(|&c| c == first) {
        let members = counts.len();
        let transposed: Vec<Row> = (0..first)
            .flat_map(|k| (0..members).map(move |m| m * first + k))
            .map(|i| rows[i])
            .collect();
        rows.copy_from_slice(&transposed);
        lengths.extend(std::iter::repeat_n(members, first));
    } else {
        lengths.extend(std::iter::repeat_n(1, rows.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(member: u32, sequence_number: i64, size: u64, dumped: i64) -> Row {
        Row {
            function: 0,
            member,
            sequence_number,
            size,
            micros: 1.0,
            dumped,
        }
    }

    fn matched(rows: Vec<Row>) -> Vec<Vec<(u32, i64)>> {
        Matched::of(rows)
            .collectives()
            .map(|(c, _)| c.rows.iter().map(|r| (r.member, r.dumped)).collect())
            .collect()
    }

    #[test]
    fn numbers_join_ranks() {
        assert_eq!(
            matched(vec![row(0, 1, 8, 10), row(1, 1, 8, 12), row(0, 2, 8, 20)]),
            [vec![(0, 10), (1, 12)], vec![(0, 20)]]
        );
    }

    #[test]
    fn replays_are_matched_in_order_when_every_rank_has_as_many() {
        assert_eq!(
            matched(vec![
                row(0, 1, 8, 10),
                row(0, 1, 8, 30),
                row(1, 1, 8, 11),
                row(1, 1, 8, 31)
            ]),
            [vec![(0, 10), (1, 11)], vec![(0, 30), (1, 31)]]
        );
        assert_eq!(
            matched(vec![row(0, 1, 8, 10), row(0, 1, 8, 30), row(1, 1, 8, 31)]),
            [vec![(0, 10)], vec![(0, 30)], vec![(1, 31)]]
        );
    }

    #[test]
    fn different_sizes_are_not_one_collective() {
        assert_eq!(
            matched(vec![row(0, 1, 8, 10), row(1, 1, 16, 11)]),
            [vec![(0, 10)], vec![(1, 11)]]
        );
    }
}
