//! A run against the runs before it.

use nccl_report_ingest::units::Timestamp;
use serde::{Deserialize, Serialize};

use super::{BucketKey, BucketVerdict, Metric, Verdict};

/// What the runs before say of the candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// Whether the candidate lies outside what the runs before vary by.
    pub verdict: Verdict,
    /// Why, a sentence each, the weightiest first.
    pub reasons: Vec<String>,
    /// The runs before, the oldest first, and last the candidate.
    pub runs: Vec<HistoryRun>,
    /// Input of the history that isn't a run that can be used, and why.
    pub left_out: Vec<LeftOut>,
    /// Time of the transfers of all buckets, weighed by the candidate's time in them, over that of the reference.
    pub whole: Option<Trend>,
    /// The buckets of the candidate, those that moved first.
    pub buckets: Vec<BucketTrend>,
}

/// A run of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryRun {
    /// Its name.
    pub title: String,
    /// First stamp.
    pub start: Option<Timestamp>,
    /// Records of all kinds.
    pub records: u64,
    /// Findings of severity warning or worse about its speed.
    pub warnings: u64,
}

/// What was given as a part of the history and isn't used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The run's name, or the path where there is no run.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// A bucket over the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BucketTrend {
    /// What the operations have in common.
    pub key: BucketKey,
    /// What the values are.
    pub metric: Metric,
    /// Share of the candidate's communication time, 0..1.
    pub share_of_time: f64,
    /// The values and what they come to.
    pub trend: Trend,
}

/// A series with a value of each run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// A value of each of [`History::runs`], the candidate's last; `None` where a run has none that compares.
    pub values: Vec<Option<f64>>,
    /// What the candidate comes to.
    pub verdict: BucketVerdict,
    /// Why it is inconclusive.
    pub note: Option<String>,
    /// The runs that the candidate is held against; `None` where there are too few.
    pub reference: Option<Reference>,
    /// Where the level shifts, in order of time.
    pub shifts: Vec<LevelShift>,
}

/// The runs that a candidate is held against: those at the latest level that has lasted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Their indices in [`History::runs`], ascending.
    pub runs: Vec<u32>,
    /// Their geometric mean.
    pub level: f64,
    /// Where 95 % of runs of this level lie: lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// candidate / level − 1.
    pub change: f64,
    /// Lower end of the change's 95 % interval.
    pub ci_low: f64,
    /// Upper end.
    pub ci_high: f64,
    /// The probability of a run this far off, corrected for the number of buckets.
    pub p_adjusted: f64,
}

/// A shift of the level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelShift {
    /// Index in [`History::runs`] of the first run at the new level.
    pub run: u32,
    /// new level / level before − 1.
    pub change: f64,
}
