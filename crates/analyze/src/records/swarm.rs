//! A cloud of (time, bandwidth) points that stays small: every point while they are few, then counts in cells, and the extremes.

use std::collections::BTreeMap;

use super::grid::TimeGrid;

/// All points are kept while there are at most this many: about what one can tell apart in a plot.
const ALL: usize = 1500;

/// Points kept at either end of the bandwidths once not all are: these are what a reader looks for.
const EXTREMES: usize = 60;

/// Cells are this much of a factor high: 2 %, about a pixel row of a plot of two decades.
const CELL_RATIO: f64 = 1.02;

/// A point: bandwidth, time, endpoint. Ordered by bandwidth first.
type Point = (f64, i64, u32);

/// The cloud.
#[derive(Debug, Default)]
pub(crate) struct Swarm {
    count: u64,
    points: Vec<Point>,
    cells: BTreeMap<(usize, i32), u64>,
}

impl Swarm {
    /// Adds a point.
    pub(crate) fn push(&mut self, at: i64, busbw: f64, endpoint: u32, grid: &TimeGrid) {
        if !busbw.is_finite() {
            return;
        }
        self.count += 1;
        *self
            .cells
            .entry((grid.stretch(at), row(busbw)))
            .or_default() += 1;
        self.points.push((busbw, at, endpoint));
        if self.points.len() >= 2 * ALL {
            self.thin();
        }
    }

    /// Replaces the endpoints by other numbers.
    pub(crate) fn rename(&mut self, endpoints: &[u32]) {
        for p in &mut self.points {
            p.2 = endpoints[p.2 as usize];
        }
    }

    /// Adds all points of another cloud.
    pub(crate) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.points.extend(other.points);
        for (cell, n) in other.cells {
            *self.cells.entry(cell).or_default() += n;
        }
        self.thin();
    }

    /// Once not all points are kept, only the extremes are: the result is the same whatever the order of pushing and merging.
    fn thin(&mut self) {
        if self.count <= ALL as u64 {
            return;
        }
        self.points
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        if self.points.len() > 2 * EXTREMES {
            self.points.drain(EXTREMES..self.points.len() - EXTREMES);
        }
    }

    /// How many points it stands for.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The points kept, by bandwidth.
    pub(crate) fn points(&mut self) -> &[Point] {
        self.thin();
        self.points
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        &self.points
    }

    /// Whether [`Swarm::points`] are all.
    pub(crate) fn is_whole(&self) -> bool {
        self.count <= ALL as u64
    }

    /// Stretch of time, lower and upper bandwidth, and count of each cell.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (usize, f64, f64, u64)> + '_ {
        self.cells
            .iter()
            .map(|(&(stretch, row), &n)| (stretch, edge(row), edge(row.saturating_add(1)), n))
    }
}

fn row(busbw: f64) -> i32 {
    if busbw > 0.0 {
        (busbw.ln() / CELL_RATIO.ln()).floor() as i32
    } else {
        i32::MIN
    }
}

fn edge(row: i32) -> f64 {
    if row == i32::MIN {
        0.0
    } else {
        (f64::from(row) * CELL_RATIO.ln()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_are_all_kept_and_many_keep_the_extremes_in_any_order() {
        let grid = TimeGrid::over(vec![(0, 10_000)]);
        let fill = |range: std::ops::Range<i64>| {
            let mut s = Swarm::default();
            for i in range {
                s.push(i, ((i * 7919) % 10_007) as f64 + 1.0, 0, &grid);
            }
            s
        };
        assert!(fill(0..1500).is_whole());
        let mut whole = fill(0..10_000);
        let mut merged = fill(4_000..10_000);
        merged.merge(fill(0..4_000));
        assert_eq!(whole.points(), merged.points());
        assert_eq!(whole.points().len(), 120);
        assert_eq!(whole.cells().map(|c| c.3).sum::<u64>(), 10_000);
    }
}
