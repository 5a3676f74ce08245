//! Sums along other axes. The only file that names polars.
//!
//! Sums are integers (nanoseconds, kilobytes), so that they don't depend on the order in which threads add.

use polars::prelude::*;

use crate::Error;

/// One cell of the cube: sums over the records of one endpoint, function and size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CubeCell {
    /// Values of the axes, in the order of [`Axis`].
    pub(crate) at: [u64; AXES],
    /// Measures.
    pub(crate) sums: Measures,
}

impl CubeCell {
    /// Axes and measures, in the order of their names.
    fn values(&self) -> [u64; AXES + MEASURES] {
        let sums = &self.sums;
        let measures = [
            sums.records,
            sums.bytes,
            sums.nanos,
            sums.bus_kilobytes,
            sums.wait_nanos,
        ];
        std::array::from_fn(|i| match i.checked_sub(AXES) {
            None => self.at[i],
            Some(i) => measures[i],
        })
    }
}

/// Measures of a cell or of a roll-up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Measures {
    /// Records.
    pub(crate) records: u64,
    /// Sum of message sizes.
    pub(crate) bytes: u64,
    /// Kernel time, ns.
    pub(crate) nanos: u64,
    /// Bus bandwidth × time, kB.
    pub(crate) bus_kilobytes: u64,
    /// Time above the shortest of the same collective, ns.
    pub(crate) wait_nanos: u64,
}

/// Axes of the cube.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Communicator index.
    Communicator,
    /// Family index.
    Family,
    /// Host index.
    Host,
    /// Process index.
    Process,
    /// Function index.
    Function,
    /// Message size, bytes.
    Size,
    /// 1 for Send and Recv.
    PointToPoint,
}

const AXES: usize = 7;
const AXIS_NAMES: [&str; AXES] = [
    "communicator",
    "family",
    "host",
    "process",
    "function",
    "size",
    "p2p",
];
const MEASURES: usize = 5;
const MEASURE_NAMES: [&str; MEASURES] =
    ["records", "bytes", "nanos", "bus_kilobytes", "wait_nanos"];

/// The values, so small that no sum of some of them overflows: written bandwidths are believed whatever they say. Times come near only
/// in centuries of kernel time.
fn bounded(mut values: Vec<u64>) -> Vec<u64> {
    let all: u128 = values.iter().map(|&v| u128::from(v)).sum();
    if all > u128::from(u64::MAX) {
        let most = u64::MAX / values.len() as u64;
        values.iter_mut().for_each(|v| *v = (*v).min(most));
    }
    values
}

/// The cube: a table of cells.
pub(crate) struct Cube {
    frame: LazyFrame,
}

impl Cube {
    /// Makes the table, of which at least so many cells are expected.
    pub(crate) fn new(
        cells: impl Iterator<Item = CubeCell>,
        expected: usize,
    ) -> Result<Self, Error> {
        let mut columns: [Vec<u64>; AXES + MEASURES] =
            std::array::from_fn(|_| Vec::with_capacity(expected));
        for cell in cells {
            for (column, value) in columns.iter_mut().zip(cell.values()) {
                column.push(value);
            }
        }
        let height = columns[0].len();
        let names = AXIS_NAMES.iter().chain(&MEASURE_NAMES).enumerate();
        let columns = names.zip(columns).map(|((i, name), values)| {
            let values = if i < AXES { values } else { bounded(values) };
            // Taken over, not copied.
            UInt64Chunked::from_vec((*name).into(), values).into_column()
        });
        let frame = DataFrame::new(height, columns.collect()).map_err(failed)?;
        Ok(Self {
            frame: frame.lazy(),
        })
    }

    /// Sums over all axes but `keep`; a row for each combination that occurs, in ascending order.
    pub(crate) fn roll_up<const N: usize>(
        &self,
        keep: [Axis; N],
    ) -> Result<Vec<([u64; N], Measures)>, Error> {
        let keys: Vec<Expr> = keep.iter().map(|&a| col(AXIS_NAMES[a as usize])).collect();
        let sums: Vec<Expr> = MEASURE_NAMES.iter().map(|&m| col(m).sum()).collect();
        let frame = self
            .frame
            .clone()
            .group_by(&keys)
            .agg(sums)
            .sort_by_exprs(&keys, SortMultipleOptions::default())
            .collect()
            .map_err(failed)?;
        let column = |name: &str| -> Result<Vec<u64>, Error> {
            Ok(frame
                .column(name)
                .map_err(failed)?
                .u64()
                .map_err(failed)?
                .iter()
                .map(|v| v.unwrap_or(0))
                .collect())
        };
        let axes: Vec<Vec<u64>> = keep
            .iter()
            .map(|&a| column(AXIS_NAMES[a as usize]))
            .collect::<Result<_, _>>()?;
        let measures: Vec<Vec<u64>> = MEASURE_NAMES
            .iter()
            .map(|m| column(m))
            .collect::<Result<_, _>>()?;
        Ok((0..frame.height())
            .map(|i| {
                let sums = Measures {
                    records: measures[0][i],
                    bytes: measures[1][i],
                    nanos: measures[2][i],
                    bus_kilobytes: measures[3][i],
                    wait_nanos: measures[4][i],
                };
                (std::array::from_fn(|k| axes[k][i]), sums)
            })
            .collect())
    }
}

fn failed(e: PolarsError) -> Error {
    Error::RollUp(e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_kept_and_axes_are_sorted() {
        let cell = |host, function, nanos| CubeCell {
            at: [0, 0, host, 0, function, 0, 0],
            sums: Measures {
                records: 1,
                bytes: 10,
                nanos,
                bus_kilobytes: 2,
                wait_nanos: 1,
            },
        };
        let cube = Cube::new(
            [cell(1, 0, 5), cell(0, 1, 7), cell(1, 0, 11)].into_iter(),
            3,
        )
        .expect("a table");
        let rows = cube.roll_up([Axis::Host, Axis::Function]).expect("sums");
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].0, [0, 1]);
        assert_eq!(rows[1].0, [1, 0]);
        assert_eq!(
            rows[1].1,
            Measures {
                records: 2,
                bytes: 20,
                nanos: 16,
                bus_kilobytes: 4,
                wait_nanos: 2
            }
        );
    }

    #[test]
    fn absurd_bandwidths_cost_no_more_than_their_own_numbers() {
        let cell = |bus_kilobytes| CubeCell {
            sums: Measures {
                records: 1,
                bus_kilobytes,
                ..Measures::default()
            },
            ..CubeCell::default()
        };
        let cube =
            Cube::new([cell(u64::MAX), cell(u64::MAX), cell(7)].into_iter(), 3).expect("a table");
        let rows = cube.roll_up([Axis::Host]).expect("sums");
        assert_eq!(rows[0].1.records, 3);
        assert!(rows[0].1.bus_kilobytes > u64::MAX / 2);
    }

    #[test]
    fn an_empty_cube_has_no_rows() {
        assert!(
            Cube::new(std::iter::empty(), 0)
                .expect("a table")
                .roll_up([Axis::Size])
                .expect("sums")
                .is_empty()
        );
    }
}
