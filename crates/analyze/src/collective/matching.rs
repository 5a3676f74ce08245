//! One collective: the records that its ranks wrote of it.
//!
//! (communicator, function, sequence number) is one collective, except that all replays of a CUDA graph carry one number,
//! and that a communicator may be made anew under its old id. A rank then has several records of one number; they are
//! matched in order of time where every rank has as many, and stand alone where not, since nothing says which belong together.

use super::gather::Row;

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

/// Calls `visit` with every collective of sorted rows. Reorders rows that share a number.
pub(crate) fn collectives(rows: &mut [Row], mut visit: impl FnMut(Collective<'_>)) {
    for same in
        rows.chunk_by_mut(|a, b| a.function == b.function && a.sequence_number == b.sequence_number)
    {
        // Rows are sorted by member: one a member and one size is the ordinary case.
        let one_each = same.windows(2).all(|w| w[0].member != w[1].member);
        if one_each && same.iter().all(|r| r.size == same[0].size) {
            visit(Collective { rows: same });
            continue;
        }
        same.sort_by(|a, b| {
            (a.size, a.member, a.dumped)
                .cmp(&(b.size, b.member, b.dumped))
                .then(a.micros.total_cmp(&b.micros))
        });
        for sized in same.chunk_by_mut(|a, b| a.size == b.size) {
            split_occurrences(sized, &mut visit);
        }
    }
}

/// Rows of one number and size, sorted by member and time.
fn split_occurrences(rows: &mut [Row], visit: &mut impl FnMut(Collective<'_>)) {
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
        for occurrence in transposed.chunks(members) {
            visit(Collective { rows: occurrence });
        }
    } else {
        for row in rows.chunks(1) {
            visit(Collective { rows: row });
        }
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
            peer: -1,
        }
    }

    fn matched(mut rows: Vec<Row>) -> Vec<Vec<(u32, i64)>> {
        let mut out = Vec::new();
        collectives(&mut rows, |c| {
            out.push(c.rows.iter().map(|r| (r.member, r.dumped)).collect())
        });
        out
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
