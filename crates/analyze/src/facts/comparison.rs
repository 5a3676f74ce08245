//! How two runs compare.

use nccl_report_ingest::units::{ExecTime, MessageSize, Timestamp};
use serde::{Deserialize, Serialize};

use super::{CommClass, Finding, History, TimingSource};

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is worse.
    Regression,
    /// The candidate is better.
    Improvement,
    /// Worse in one thing and better in another.
    Mixed,
    /// No change that matters, and one that mattered would have been seen.
    Unchanged,
    /// The data can't tell.
    Inconclusive,
}

impl Verdict {
    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Improvement => "improvement",
            Self::Mixed => "mixed",
            Self::Unchanged => "unchanged",
            Self::Inconclusive => "inconclusive",
        }
    }
}

/// What a bucket comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BucketVerdict {
    /// The candidate is worse.
    Regression,
    /// The candidate is better.
    Improvement,
    /// No change that matters, and one that mattered would have been seen.
    Unchanged,
    /// The data can't tell.
    Inconclusive,
    /// The candidate has no such operation.
    OnlyInBaseline,
    /// The baseline has no such operation.
    OnlyInCandidate,
}

impl BucketVerdict {
    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Improvement => "improvement",
            Self::Unchanged => "unchanged",
            Self::Inconclusive => "inconclusive",
            Self::OnlyInBaseline => "only_in_baseline",
            Self::OnlyInCandidate => "only_in_candidate",
        }
    }
}

/// What a bucket is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Bus bandwidth from the shortest time of each collective, GB/s: what the links give.
    LinkBusbwGbs,
    /// The shortest time of each collective, µs: where latency rules, or the operation has no bandwidth.
    LinkTimeUs,
    /// Bus bandwidth from the shortest time among the ranks that left a record, GB/s: where hardly any collective is complete.
    SeenBusbwGbs,
    /// The same as a time, µs.
    SeenTimeUs,
}

impl Metric {
    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LinkBusbwGbs => "link_busbw_gbs",
            Self::LinkTimeUs => "link_time_us",
            Self::SeenBusbwGbs => "seen_busbw_gbs",
            Self::SeenTimeUs => "seen_time_us",
        }
    }

    /// Whether more is better.
    #[must_use]
    pub const fn is_bandwidth(self) -> bool {
        matches!(self, Self::LinkBusbwGbs | Self::SeenBusbwGbs)
    }
}

/// Two runs, one verdict, and the reasons.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The whole.
    pub verdict: Verdict,
    /// Why, a sentence each, the weightiest first.
    pub reasons: Vec<String>,
    /// The smallest change that matters, 0.03 for 3 %.
    pub threshold: f64,
    /// The probability that equal runs are called different, over all buckets together.
    pub significance: f64,
    /// The run that is compared with.
    pub baseline: RunFacts,
    /// The run that is judged.
    pub candidate: RunFacts,
    /// What the runs don't have in common, to be said before any number.
    pub differences: Vec<Difference>,
    /// Change of the communication time that the confirmed changes of buckets explain, as a share of the baseline's: 0.02 is 2 % more.
    pub time_change: f64,
    /// Share of the communication time that lies in buckets with a verdict other than inconclusive and one-sided, 0..1: of the run
    /// in which it is less.
    pub share_judged: f64,
    /// Buckets of like with like, by impact.
    pub buckets: Vec<BucketComparison>,
    /// Findings of the candidate that the baseline doesn't have.
    pub findings_new: Vec<Finding>,
    /// Findings of the baseline that the candidate doesn't have.
    pub findings_gone: Vec<Finding>,
    /// Findings that both have, as the candidate has them.
    pub findings_common: Vec<Finding>,
    /// What earlier runs say, where they were given.
    pub history: Option<History>,
    /// Rules of the user's own that the candidate breaks, or that have nothing to look at.
    pub rules: Vec<Finding>,
}

/// What a run is, as far as a comparison has to say it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Its name.
    pub title: String,
    /// Host names, sorted.
    pub hosts: Vec<String>,
    /// Ranks that left records.
    pub ranks: u64,
    /// Ranks that the largest communicator promises.
    pub ranks_expected: Option<u64>,
    /// First and last stamp.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Format versions, by number of records.
    pub dialects: Vec<String>,
    /// Where times come from.
    pub timing: TimingSource,
    /// Records of all kinds.
    pub records: u64,
    /// Collectives of which at least one rank has a record.
    pub collectives: u64,
    /// Share of the collectives seen that have a record of every rank; `None` without collectives.
    pub complete: Option<f64>,
    /// Share of the records that were lost, as far as the data shows: dropped by the plugin, or missing where other ranks of the
    /// collective have theirs; `None` when unknown.
    pub loss: Option<f64>,
    /// Kernel time of all records, summed over ranks.
    pub time: ExecTime,
    /// Share of the kernel time in which ranks wait for others, in collectives seen whole; `None` where nothing could be matched.
    pub waiting: Option<f64>,
}

/// Something that the runs don't have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// What kind.
    pub kind: DifferenceKind,
    /// In words.
    pub summary: String,
    /// Whether it keeps the runs from being called equal.
    pub blocks: bool,
}

/// Kinds of [`Difference`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DifferenceKind {
    /// Number of ranks.
    Ranks,
    /// Number of hosts.
    Hosts,
    /// Which hosts.
    HostNames,
    /// Format of the dumps.
    Dialect,
    /// What timed the operations.
    Timing,
    /// Algorithm or protocol of an operation.
    Algorithm,
    /// How many records were lost.
    Loss,
    /// A part of a run isn't there.
    Partial,
    /// Waiting for other ranks.
    Waiting,
    /// Nothing: they are one and the same run.
    SameRun,
}

impl DifferenceKind {
    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ranks => "ranks",
            Self::Hosts => "hosts",
            Self::HostNames => "host_names",
            Self::Dialect => "dialect",
            Self::Timing => "timing",
            Self::Algorithm => "algorithm",
            Self::Loss => "loss",
            Self::Partial => "partial",
            Self::Waiting => "waiting",
            Self::SameRun => "same_run",
        }
    }
}

/// What makes operations of two runs comparable. A communicator's id is no part of it: it differs between jobs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BucketKey {
    /// Class of the communicator.
    pub class: CommClass,
    /// `AllReduce`, …; `SendRecv` for Send and Recv, which are two sides of one transfer.
    pub operation: String,
    /// Message size.
    pub size: MessageSize,
    /// Ranks of the communicator.
    pub n_ranks: u32,
    /// Nodes of the communicator.
    pub nnodes: u32,
    /// For Send and Recv whether the two ranks sit on different hosts, where known.
    pub crosses_network: Option<bool>,
    /// The communicators' name without their index, where both runs have the same names.
    pub family: Option<String>,
}

/// One bucket of both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BucketComparison {
    /// What the operations have in common.
    pub key: BucketKey,
    /// What it comes to.
    pub verdict: BucketVerdict,
    /// Why it is inconclusive, or what to know of the verdict.
    pub note: Option<String>,
    /// What it is judged by.
    pub metric: Metric,
    /// The baseline's side.
    pub baseline: Option<Level>,
    /// The candidate's side.
    pub candidate: Option<Level>,
    /// The change that the verdict rests on, of [`BucketComparison::metric`].
    pub change: Option<Change>,
    /// Change of the bus bandwidth that the links give.
    pub link_busbw: Option<Change>,
    /// Change of the bus bandwidth that the job felt, waiting included.
    pub felt_busbw: Option<Change>,
    /// Change of the shortest time.
    pub link_time: Option<Change>,
    /// Change of the mean time over the ranks, waiting included.
    pub felt_time: Option<Change>,
    /// At this size time hardly depends on the size, so it is judged by time.
    pub latency_bound: bool,
    /// Share of the communication time, 0..1: the larger of both runs.
    pub share_of_time: f64,
    /// Change of the link time times its share: what the change does to the whole.
    pub impact: f64,
    /// Algorithm and protocol by share of the records, where the dumps say; the largest first.
    pub algorithms: Sides<Vec<(String, f64)>>,
}

/// One thing of either run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sides<T> {
    /// The baseline's.
    pub baseline: T,
    /// The candidate's.
    pub candidate: T,
}

/// One side of a bucket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Median of the blocks' medians, in the unit of the metric.
    pub median: f64,
    /// Operations behind it.
    pub operations: u64,
    /// Blocks: communicators × stretches of the run.
    pub blocks: u64,
    /// Communicators.
    pub communicators: u64,
    /// Share of the records that every rank of its collectives should have left, 0..1.
    pub seen: Option<f64>,
    /// Share of the run's communication time, 0..1.
    pub share_of_time: f64,
    /// Quantiles of the metric over operations, at equal steps from 0 to 1.
    pub quantiles: Vec<f64>,
}

/// A relative change with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The baseline's median.
    pub baseline: f64,
    /// The candidate's median.
    pub candidate: f64,
    /// candidate / baseline − 1.
    pub change: f64,
    /// Lower end of the 95 % interval of this bucket alone.
    pub ci_low: f64,
    /// Upper end.
    pub ci_high: f64,
    /// The probability of a change this large between equal runs.
    pub p: f64,
    /// The same, corrected for the number of buckets.
    pub p_adjusted: f64,
}
