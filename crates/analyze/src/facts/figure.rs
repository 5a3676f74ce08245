//! What the figures are drawn from: already thinned, so that a report stays small whatever the size of the job.

use nccl_report_ingest::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};
use serde::{Deserialize, Serialize};

use super::{CommClass, ProcessId};

/// Bus bandwidth over time of one class and operation, a series per message size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scatter {
    /// Class of the communicators.
    pub class: CommClass,
    /// `AllReduce`, `Send`, …
    pub operation: String,
    /// A series per message size, ascending.
    pub series: Vec<ScatterSeries>,
}

/// The records of one message size in a [`Scatter`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScatterSeries {
    /// Message size.
    pub size: MessageSize,
    /// How many records the series stands for.
    pub records: u64,
    /// Records drawn as marks: all of them when few, else those far from the rest.
    pub points: Vec<ScatterPoint>,
    /// The other records, counted in cells; empty when all are points.
    pub density: Vec<DensityCell>,
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScatterPoint {
    /// When its line was written.
    pub at: Timestamp,
    /// Its bus bandwidth.
    pub busbw: BusBandwidth,
    /// The rank that wrote it.
    pub process: ProcessId,
}

/// A rectangle of a [`Scatter`] with the number of records in it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DensityCell {
    /// Start in time.
    pub start: Timestamp,
    /// End in time.
    pub end: Timestamp,
    /// Lower bandwidth.
    pub low: BusBandwidth,
    /// Upper bandwidth.
    pub high: BusBandwidth,
    /// Records inside.
    pub count: u64,
}

/// How often which bus bandwidth occurs, in one class and operation and size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Class of the communicators.
    pub class: CommClass,
    /// `AllReduce`, `Send`, …
    pub operation: String,
    /// Message size.
    pub size: MessageSize,
    /// Edges of the bins, ascending, one more than there are bins; equal steps of the logarithm.
    pub edges: Vec<BusBandwidth>,
    /// Records in each bin.
    pub counts: Vec<u64>,
}

/// What a [`HeatMap`] is of, so that a finding leads to the one in which it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MapOf {
    /// Late arrival of a rank's own: without what its fellows pass on.
    Lateness,
    /// Late arrival as measured, what is passed on included: of a late host all ranks are late together.
    MeasuredLateness,
    /// Late arrival beyond a rank's usual.
    Pauses,
    /// Transfer time against that of the fast of its kind.
    Transfer,
}

/// A value per process and stretch of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// What it is of.
    pub of: MapOf,
    /// What the values mean, e.g. "late arrival, µs a collective, median".
    pub title: String,
    /// Unit of the values, e.g. "µs" or "×".
    pub unit: String,
    /// A row per process, hosts grouped.
    pub rows: Vec<ProcessId>,
    /// Start of each column; a last one ends the last column.
    pub edges: Vec<Timestamp>,
    /// Row by row; `None` where a process has no record in the stretch.
    pub values: Vec<Cell>,
    /// The value at which nothing is wrong: 0 for a lateness, 1 for a ratio.
    pub neutral: f64,
}

/// One value of a [`HeatMap`].
pub type Cell = Option<f64>;

/// Bandwidth per ordered pair of processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairMatrix {
    /// Message size.
    pub size: MessageSize,
    /// Rows (senders) and columns (receivers).
    pub processes: Vec<ProcessId>,
    /// Row by row, median bandwidth in GB/s; `None` where the pair doesn't talk.
    pub bandwidth: Vec<Option<BusBandwidth>>,
}

/// One collective, rank by rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CollectiveTimeline {
    /// The finding that it illustrates ([`crate::Finding::id`]).
    pub finding: String,
    /// Index in [`crate::Job::communicators`].
    pub communicator: u32,
    /// `AllReduce`, …
    pub operation: String,
    /// Sequence number.
    pub sequence_number: u64,
    /// Message size.
    pub size: MessageSize,
    /// Ranks by rank; time zero is the first arrival.
    pub ranks: Vec<RankArrival>,
}

/// When a rank arrived at a collective and how long its kernel ran.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankArrival {
    /// Rank in the communicator.
    pub rank: u32,
    /// The process; `None` when unknown.
    pub process: Option<ProcessId>,
    /// After the first arrival.
    pub arrival: ExecTime,
    /// Of its time, the part that it waited for later ranks.
    pub wait: ExecTime,
    /// Its whole kernel time.
    pub exec_time: ExecTime,
}
