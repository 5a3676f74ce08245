//! A cloud of (time, bandwidth) points that stays small: every point while they are few, then counts in cells, and the extremes.

use crate::statistics::runs::{Ordered, Runs};

/// All points are kept while there are at most this many: about what one can tell apart in a plot.
const ALL: usize = 1500;

/// Points kept at either end of the bandwidths once not all are: these are what a reader looks for.
const EXTREMES: usize = 60;

/// Cells are this much of a factor high: 2 %, about a pixel row of a plot of two decades.
const CELL_RATIO: f64 = 1.02;

/// A point: bandwidth, time, and where it comes from. Ordered by bandwidth first.
pub(crate) type Point = (f64, i64, Origin);

/// An endpoint: by the number of a batch of files and its number in it while records are counted, by that of the census then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    /// The batch.
    pub(crate) batch: u32,
    /// The endpoint's number.
    pub(crate) endpoint: u32,
}

/// Stretch of time and row of bandwidths of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    stretch: u32,
    row: i32,
}

impl Ordered for Cell {
    type Key = u64;

    /// Stretch by stretch; the row's sign bit is turned, so that negative rows come first.
    fn key(self) -> u64 {
        u64::from(self.stretch) << 32 | u64::from(self.row.cast_unsigned() ^ 1 << 31)
    }

    fn of(key: u64) -> Self {
        Self {
            stretch: (key >> 32) as u32,
            row: (key as u32 ^ 1 << 31).cast_signed(),
        }
    }
}

/// The cloud.
#[derive(Debug, Default)]
pub(crate) struct Swarm {
    count: u64,
    points: Vec<Point>,
    /// Between these bandwidths no further point can be an extreme one.
    inner: Option<(f64, f64)>,
    cells: Runs<Cell>,
}

impl Swarm {
    /// Adds points with the stretches of time that they lie in.
    pub(crate) fn extend(&mut self, points: impl Iterator<Item = (Point, u32)> + Clone) {
        let finite = points.filter(|p| p.0.0.is_finite());
        let cells = finite.clone().map(|((busbw, ..), stretch)| Cell {
            stretch,
            row: row(busbw),
        });
        if self.cells.extend(cells) {
            self.cells.sorted();
        }
        self.take(finite.map(|p| p.0));
    }

    /// Adds points without cells.
    fn take(&mut self, points: impl Iterator<Item = Point>) {
        for p in points {
            self.count += 1;
            if self
                .inner
                .is_some_and(|(low, high)| low < p.0 && p.0 < high)
            {
                continue;
            }
            self.points.push(p);
            if self.points.len() >= ALL + 2 * EXTREMES {
                self.thin();
            }
        }
    }

    /// Replaces the endpoints' numbers in their batch by those of the census.
    pub(crate) fn rename(&mut self, endpoints: &[Vec<u32>]) {
        for p in &mut self.points {
            p.2 = Origin {
                batch: 0,
                endpoint: endpoints[p.2.batch as usize][p.2.endpoint as usize],
            };
        }
    }

    /// Adds all points of another cloud.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.cells.merge(other.cells) {
            self.cells.sorted();
        }
        let thinned = other.count - other.points.len() as u64;
        self.take(other.points.into_iter());
        self.count += thinned;
    }

    /// Once not all points are kept, only the extremes are: the result is the same whatever the order of pushing and merging.
    fn thin(&mut self) {
        let n = self.points.len();
        if self.count <= ALL as u64 || n <= 2 * EXTREMES {
            return;
        }
        self.points.select_nth_unstable_by(EXTREMES - 1, order);
        self.points[EXTREMES..].select_nth_unstable_by(n - 2 * EXTREMES, order);
        self.inner = Some((self.points[EXTREMES - 1].0, self.points[n - EXTREMES].0));
        self.points.drain(EXTREMES..n - EXTREMES);
    }

    /// How many points it stands for.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The points kept, by bandwidth.
    pub(crate) fn points(&mut self) -> &[Point] {
        self.thin();
        self.points.sort_unstable_by(order);
        &self.points
    }

    /// Whether [`Swarm::points`] are all.
    pub(crate) fn is_whole(&self) -> bool {
        self.count <= ALL as u64
    }

    /// Stretch of time, lower and upper bandwidth, and count of each cell.
    pub(crate) fn cells(&mut self) -> impl Iterator<Item = (usize, f64, f64, u64)> + '_ {
        self.cells
            .sorted()
            .iter()
            .map(|&(Cell { stretch, row }, n)| {
                (stretch as usize, edge(row), edge(row.saturating_add(1)), n)
            })
    }
}

fn order(a: &Point, b: &Point) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
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
        let fill = |range: std::ops::Range<i64>| {
            let mut s = Swarm::default();
            s.extend(range.map(|i| {
                let busbw = ((i * 7919) % 10_007) as f64 + 1.0;
                (
                    (
                        busbw,
                        i,
                        Origin {
                            batch: 0,
                            endpoint: 0,
                        },
                    ),
                    (i / 100) as u32,
                )
            }));
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
