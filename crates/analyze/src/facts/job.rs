//! The whole.

use nccl_report_ingest::Inputs;
use nccl_report_ingest::units::{ExecTime, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    CollectiveTimeline, Communicator, Family, Finding, Group, HeatMap, Histogram, PairMatrix,
    PairSlice, Process, Scatter, Share, Slice, Traces,
};

/// Everything that the analysis knows about a job: the one value that a report is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What was read, refused, repaired, passed over.
    pub inputs: Inputs,
    /// What job this is.
    pub overview: Overview,
    /// Runs told apart by communicators, hosts and times; one in the ordinary case.
    pub runs: Vec<Run>,
    /// Every rank.
    pub processes: Vec<Process>,
    /// Every communicator, by run, then class, then name and id.
    pub communicators: Vec<Communicator>,
    /// Communicators of one shape and role, by share of time, largest first.
    pub families: Vec<Family>,
    /// Statistics of like with like, by class, operation, size.
    pub groups: Vec<Group>,
    /// Statistics per communicator, host, rank and stretch of time, in this order.
    pub slices: Vec<Slice>,
    /// Send/Recv traffic per pair.
    pub pairs: Vec<PairSlice>,
    /// Where the time goes, largest first.
    pub shares: Vec<Share>,
    /// Where the time goes by cause; the parts add up. `None` while nothing can be matched.
    pub budget: Option<TimeBudget>,
    /// Findings, by impact.
    pub findings: Vec<Finding>,
    /// Bandwidth over time.
    pub scatters: Vec<Scatter>,
    /// Bandwidth histograms.
    pub histograms: Vec<Histogram>,
    /// Rank × time maps.
    pub heat_maps: Vec<HeatMap>,
    /// Pair matrices.
    pub pair_matrices: Vec<PairMatrix>,
    /// Collectives that illustrate findings.
    pub timelines: Vec<CollectiveTimeline>,
    /// What eBPF traces of the hosts say; `None` without any.
    pub traces: Option<Traces>,
}

/// What job this is, for the head of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// A name for the job: the name of the input folder.
    pub title: String,
    /// Host names, sorted.
    pub hosts: Vec<String>,
    /// Ranks that left records.
    pub ranks: u64,
    /// Ranks that the largest communicator promises.
    pub ranks_expected: Option<u64>,
    /// First and last time stamp of a dump; `None` without records.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Dialects by number of records.
    pub dialects: Vec<Dialect>,
    /// The timing that the statistics are about.
    pub timing: TimingSource,
    /// Records with another timing, left out of every statistic.
    pub records_other_timing: u64,
    /// Distance between two dumps of a process, median.
    pub dump_interval: Option<ExecTime>,
    /// Whether records are only a sample: the latest collective of each dump (v4.0, first behaviour).
    pub sampled: bool,
    /// Kernel time of all records, summed over ranks.
    pub time: ExecTime,
    /// Sum of all message sizes.
    pub bytes: u64,
    /// Share of the collectives seen that have a record of every rank, 0..1; `None` without collectives.
    pub complete: Option<f64>,
    /// Written bandwidths that disagree with size and time by more than rounding explains.
    pub bandwidth_mismatches: u64,
}

/// A dialect and how many records speak it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialect {
    /// `inspector_output_format_version`, or "unknown".
    pub version: String,
    /// `git_rev` values seen with it.
    pub git_revs: Vec<String>,
    /// Records.
    pub records: u64,
}

/// Where the times come from. Kinds are never mixed in one statistic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimingSource {
    /// The GPU's own clock.
    KernelGpu,
    /// A CPU thread that watches the kernel, or the enqueue.
    Cpu,
    /// Written by a plugin that doesn't say.
    Unknown,
}

/// One run of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// First dump.
    pub start: Timestamp,
    /// Last dump.
    pub end: Timestamp,
    /// Ranks in it.
    pub ranks: u64,
    /// Host names, sorted.
    pub hosts: Vec<String>,
}

/// Communication time by cause. The parts add up to `total`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimeBudget {
    /// All kernel time, summed over ranks.
    pub total: ExecTime,
    /// Of it, waiting of ranks for each other, for whatever reason; the parts say for which.
    pub waiting: ExecTime,
    /// In the order of [`TimeCause`], findings by what they cost; parts of no time are left out.
    pub parts: Vec<BudgetPart>,
}

/// A part of a [`TimeBudget`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BudgetPart {
    /// What the time went into.
    pub cause: TimeCause,
    /// For [`TimeCause::Finding`], which ([`Finding::id`]).
    pub finding: Option<String>,
    /// Kernel time, summed over ranks.
    pub time: ExecTime,
}

/// What communication time goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeCause {
    /// Moving data, at the pace of healthy peers.
    Transfer,
    /// What a finding says is lost: waiting for a late rank or host, the excess of a slow link.
    Finding,
    /// Waiting of a pipeline's stages for each other: a Recv is posted before the data is there, by design.
    PipelineOrder,
    /// Waiting because ranks reach an operation a little apart, though nobody stands out.
    OrdinarySpread,
    /// Time of records whose partners are missing, so that waiting can't be told from transfer.
    Unexplained,
}

impl TimeBudget {
    /// The sum of the parts of one cause.
    #[must_use]
    pub fn of(&self, cause: TimeCause) -> ExecTime {
        let parts = self.parts.iter().filter(|p| p.cause == cause);
        ExecTime::from_micros(parts.map(|p| p.time.as_micros()).sum())
    }
}
