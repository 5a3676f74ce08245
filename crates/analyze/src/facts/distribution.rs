//! How a quantity is spread.

use serde::{Deserialize, Serialize};

/// Order statistics of a sample, all in the unit of `T`.
///
/// Quantiles interpolate linearly between the order statistics (type 7 of Hyndman and Fan, 1996),
/// as numpy, polars and DuckDB's `quantile_cont` do. Whiskers are the last values inside the fences
/// `q1 - 1.5 IQR` and `q3 + 1.5 IQR` (Tukey, 1977), so a whisker is always a value that occurs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Distribution<T> {
    /// How many values.
    pub count: u64,
    /// The smallest value.
    pub min: T,
    /// The 5th percentile.
    pub p5: T,
    /// The first quartile.
    pub p25: T,
    /// The median.
    pub p50: T,
    /// The arithmetic mean.
    pub mean: T,
    /// The third quartile.
    pub p75: T,
    /// The 95th percentile.
    pub p95: T,
    /// The 99th percentile.
    pub p99: T,
    /// The largest value.
    pub max: T,
    /// The lower whisker of a box plot.
    pub whisker_low: T,
    /// The upper whisker of a box plot.
    pub whisker_high: T,
    /// How many values lie outside the whiskers.
    pub outliers: u64,
    /// `false` when the quantiles come from a sketch (relative error below 0.5 %) because the sample was too large to hold.
    pub exact: bool,
}
