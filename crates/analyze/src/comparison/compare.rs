//! From two examined runs to one verdict with its reasons.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::bucket;
use super::conclude::{Parts, conclude};
use super::differences;
use super::findings;
use super::history;
use super::judged::{self, Context, Draft};
use super::side::Examined;
use super::verdict::SIGNIFICANCE;
use super::waiting::{self, Part};
use super::words::name;
use crate::facts::{
    BucketComparison, BucketKey, BucketVerdict, Comparison, Difference, DifferenceKind, History,
    Sides,
};
use crate::records::algorithms::Algorithms;
use crate::rules::Rules;
use crate::statistics::multiple;

/// An algorithm's share of a bucket's records that changes by this much is worth a word.
const ALGORITHM: f64 = 0.05;
/// Algorithms named of a run.
const NAMED: usize = 3;

/// Choices of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// The smallest change that matters: 0.03 is 3 %.
    pub threshold: f64,
    /// Whether runs of which a part is missing may be called unchanged or improved.
    pub allow_partial: bool,
    /// Limits of the user's own, held against the candidate.
    pub rules: Option<Rules>,
}

impl Default for CompareOptions {
    /// Three percent, and partial runs don't pass.
    fn default() -> Self {
        Self {
            threshold: 0.03,
            allow_partial: false,
            rules: None,
        }
    }
}

/// Compares a candidate with a baseline, and with earlier runs where there are any.
#[must_use]
pub fn compare(
    baseline: &Examined,
    candidate: &Examined,
    history: Option<History>,
    options: &CompareOptions,
) -> Comparison {
    let context = Context {
        micros: (baseline.micros, candidate.micros),
        loss_differs: differences::loss_differs(&baseline.job, &candidate.job),
        threshold: options.threshold,
    };
    let aligned: Vec<_> = bucket::align(&baseline.buckets, &candidate.buckets)
        .into_iter()
        .collect();
    let drafts: Vec<Draft> = aligned
        .into_par_iter()
        .map(|(key, sides)| {
            let algorithms = Sides {
                baseline: choices(&baseline.algorithms, &key),
                candidate: choices(&candidate.algorithms, &key),
            };
            judged::draft(key, sides, algorithms, &context)
        })
        .collect();
    let waiting = waiting::growth(&parts(&drafts), SIGNIFICANCE);
    let p: Vec<f64> = drafts.iter().map(|d| d.p().unwrap_or(f64::NAN)).collect();
    let adjusted = multiple::holm(&p);
    let mut buckets: Vec<BucketComparison> = drafts
        .into_iter()
        .zip(adjusted)
        .map(|(d, p)| d.finish(p, &context))
        .collect();
    for bucket in &mut buckets {
        let differs = matches!(
            bucket.verdict,
            BucketVerdict::Regression | BucketVerdict::Improvement
        );
        let usual = (history.as_ref()).and_then(|h| history::as_before(bucket, h));
        if let Some(note) = usual.filter(|_| differs) {
            bucket.verdict = BucketVerdict::Unchanged;
            bucket.note = Some(note);
        }
    }
    buckets.sort_by(|a, b| {
        rank(a)
            .cmp(&rank(b))
            .then(b.impact.abs().total_cmp(&a.impact.abs()))
            .then(b.share_of_time.total_cmp(&a.share_of_time))
            .then_with(|| a.key.cmp(&b.key))
    });
    let findings = findings::changed(&baseline.job.findings, &candidate.job.findings);
    let mut differences = differences::differences(&baseline.job, &candidate.job);
    differences.extend(algorithm_differences(&buckets));
    let longer = waiting.filter(|w| w.0 >= waiting::MATTERS && w.1 >= options.threshold);
    let shorter = waiting.filter(|w| w.0 <= -waiting::MATTERS);
    if let Some((growth, _)) = longer.or(shorter) {
        let (way, percent) = if growth > 0.0 {
            ("longer", growth)
        } else {
            ("less", -growth)
        };
        let summary = format!(
            "Ranks wait {way} for each other: {:.0} % of the baseline's communication time.",
            100.0 * percent
        );
        differences.push(Difference {
            kind: DifferenceKind::Waiting,
            summary,
            blocks: false,
        });
    }
    conclude(
        Parts {
            buckets,
            findings,
            differences,
            longer: longer.map(|w| w.0),
            history,
        },
        baseline,
        candidate,
        options,
    )
}

/// What is read first.
const fn rank(b: &BucketComparison) -> u8 {
    match b.verdict {
        BucketVerdict::Regression => 0,
        BucketVerdict::Improvement => 1,
        BucketVerdict::Inconclusive => 2,
        BucketVerdict::OnlyInBaseline | BucketVerdict::OnlyInCandidate => 3,
        BucketVerdict::Unchanged => 4,
    }
}

/// The parts of the felt time, of the buckets that both runs have.
fn parts(drafts: &[Draft]) -> Vec<Part> {
    let of = |d: &Draft| {
        d.p()?;
        let c = &d.comparison;
        let (link, felt) = (c.link_time?, c.felt_time?);
        let transfer = (link.baseline / felt.baseline).min(1.0);
        Some(Part {
            share: c.baseline.as_ref()?.share_of_time,
            felt: d.felt?,
            transfer,
            link: d.link?,
        })
    };
    drafts.iter().filter_map(of).collect()
}

/// Algorithm and protocol of a bucket by share, the largest first.
fn choices(of: &Algorithms, key: &BucketKey) -> Vec<(String, f64)> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for operation in bucket::operations(key) {
        for (name, n) in of
            .get(&bucket::group_key(key, operation))
            .into_iter()
            .flatten()
        {
            *counts.entry(name.clone()).or_default() += n;
        }
    }
    let total: u64 = counts.values().sum();
    let mut out: Vec<(String, f64)> = counts
        .into_iter()
        .map(|(name, n)| (name, n as f64 / total as f64))
        .collect();
    out.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    out
}

fn algorithm_differences(buckets: &[BucketComparison]) -> Vec<Difference> {
    let mut out: Vec<Difference> = Vec::new();
    for b in buckets {
        let (before, now) = (&b.algorithms.baseline, &b.algorithms.candidate);
        if before.is_empty() || now.is_empty() {
            continue;
        }
        let share =
            |of: &[(String, f64)], name: &str| of.iter().find(|a| a.0 == name).map_or(0.0, |a| a.1);
        let moved = before
            .iter()
            .chain(now)
            .any(|(name, _)| (share(before, name) - share(now, name)).abs() > ALGORITHM);
        if moved {
            let words = |of: &[(String, f64)]| {
                of.iter()
                    .take(NAMED)
                    .map(|(name, s)| format!("{name} {:.0} %", 100.0 * s))
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let summary = format!(
                "{}: NCCL chose {}, was {}.",
                name(&b.key),
                words(now),
                words(before)
            );
            out.push(Difference {
                kind: DifferenceKind::Algorithm,
                summary,
                blocks: false,
            });
        }
    }
    out
}
