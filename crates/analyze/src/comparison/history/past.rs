//! What is kept of a run of the history: the level of each bucket and how sure it is, so that fifty runs fit into memory.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::super::bucket::{Bucket, Buckets};
use super::super::differences;
use super::super::estimate::{self, Basis, Which};
use super::super::judged::SEED;
use super::super::side::Examined;
use crate::facts::{BucketKey, DifferenceKind, FindingKind, HistoryRun, Job, Severity};
use crate::units::Timestamp;

/// A level of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Known {
    /// Logarithm of the time, of µs.
    pub(crate) log: f64,
    /// Its variance, from the stretches of the run.
    pub(crate) variance: f64,
    /// Stretches that it was estimated from.
    pub(crate) stretches: usize,
}

/// A bucket of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Past {
    /// From collectives of which every rank has a record.
    pub(crate) whole: Option<Known>,
    /// From all.
    pub(crate) seen: Option<Known>,
    /// Operations of which every rank has a record, and all.
    pub(crate) complete: u64,
    pub(crate) operations: u64,
    /// Share of the records that every rank should have left.
    pub(crate) share_seen: f64,
    /// Kernel time of the records as a share of the run's.
    pub(crate) share_of_time: f64,
    /// Time hardly depends on the size.
    pub(crate) latency_bound: bool,
}

/// One run of a history.
#[derive(Debug, Clone)]
pub(crate) struct PastRun {
    pub(crate) facts: HistoryRun,
    /// First and last stamp.
    pub(crate) span: Option<(Timestamp, Timestamp)>,
    /// Buckets told apart by family.
    pub(crate) by_family: BTreeMap<BucketKey, Past>,
    /// The same with all families together.
    pub(crate) together: BTreeMap<BucketKey, Past>,
}

impl PastRun {
    pub(crate) fn of(run: &Examined) -> Self {
        let mut merged = Buckets::new();
        for (key, bucket) in &run.buckets {
            merged
                .entry(nameless(key))
                .or_default()
                .absorb(bucket.clone());
        }
        Self {
            facts: facts(&run.job),
            span: run.job.overview.span,
            by_family: all(&run.buckets, run.micros),
            together: all(&merged, run.micros),
        }
    }

    /// Families of a bucket.
    pub(crate) fn families(&self, shared: &BucketKey) -> BTreeSet<&Option<String>> {
        (self.by_family.keys())
            .filter(|k| nameless(k) == *shared)
            .map(|k| &k.family)
            .collect()
    }
}

/// A key without its family.
pub(crate) fn nameless(key: &BucketKey) -> BucketKey {
    BucketKey {
        family: None,
        ..key.clone()
    }
}

fn facts(job: &Job) -> HistoryRun {
    let speaks =
        |f: &&crate::facts::Finding| f.kind.is_performance() && f.severity >= Severity::Warning;
    HistoryRun {
        title: job.overview.title.clone(),
        start: job.overview.span.map(|s| s.0),
        records: job.inputs.records.values().sum(),
        warnings: job.findings.iter().filter(speaks).count() as u64,
    }
}

fn all(buckets: &Buckets, micros: f64) -> BTreeMap<BucketKey, Past> {
    let of = |(key, bucket): (&BucketKey, &Bucket)| {
        let known = |basis| {
            let e = estimate::estimate(bucket, basis, Which::Shortest, SEED)?;
            Some(Known {
                log: e.log,
                variance: e.variance,
                stretches: e.stretches,
            })
        };
        let past = Past {
            whole: known(Basis::Whole),
            seen: known(Basis::Seen),
            complete: bucket.complete,
            operations: bucket.operations,
            share_seen: bucket.seen().unwrap_or(0.0),
            share_of_time: bucket.micros / micros.max(1.0),
            latency_bound: bucket.latency_bound,
        };
        (key.clone(), past)
    };
    buckets
        .iter()
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(of)
        .collect()
}

/// Why a run says nothing of the candidate; `None` where it does.
pub(crate) fn unusable(run: &Job, candidate: &Job, allow_partial: bool) -> Option<String> {
    let little = |job: &Job| {
        (job.findings.iter())
            .any(|f| f.kind == FindingKind::TooLittleData && f.severity >= Severity::Warning)
    };
    if little(run) {
        return Some("too little data to say anything".to_owned());
    }
    if differences::same_run(run, candidate) {
        return Some("it is the candidate".to_owned());
    }
    // The words of a comparison in which it is the baseline.
    let differences = differences::differences(run, candidate);
    let of_candidate = differences::differences(candidate, candidate);
    differences
        .into_iter()
        .filter(|d| d.blocks && !of_candidate.iter().any(|c| c.summary == d.summary))
        .find(|d| !(allow_partial && d.kind == DifferenceKind::Partial))
        .map(|d| d.summary.replace("baseline", "run"))
}
