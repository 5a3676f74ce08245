//! From two examined runs to one verdict with its reasons.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::bucket::{self, SEND_RECV};
use super::differences;
use super::findings::{self, Changed};
use super::judged::{self, Context, Draft, percent};
use super::side::Examined;
use super::verdict::{self, JUDGED, NOTE, SIGNIFICANCE, Signs};
use super::waiting::{self, Part};
use crate::facts::{
    BucketComparison, BucketKey, BucketVerdict, Comparison, Difference, DifferenceKind, Sides,
    Verdict,
};
use crate::records::algorithms::Algorithms;
use crate::statistics::multiple;

/// An algorithm's share of a bucket's records that changes by this much is worth a word.
const ALGORITHM: f64 = 0.05;
/// Buckets named in one reason.
const NAMED: usize = 3;

/// Choices of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// The smallest change that matters: 0.03 is 3 %.
    pub threshold: f64,
    /// Whether runs of which a part is missing may be called unchanged or improved.
    pub allow_partial: bool,
}

impl Default for CompareOptions {
    /// Three percent, and partial runs don't pass.
    fn default() -> Self {
        Self {
            threshold: 0.03,
            allow_partial: false,
        }
    }
}

/// Compares a candidate with a baseline.
#[must_use]
pub fn compare(baseline: &Examined, candidate: &Examined, options: &CompareOptions) -> Comparison {
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
        },
        baseline,
        candidate,
        options,
    )
}

/// Everything but the whole.
struct Parts {
    buckets: Vec<BucketComparison>,
    findings: Changed,
    differences: Vec<Difference>,
    longer: Option<f64>,
}

fn conclude(
    parts: Parts,
    baseline: &Examined,
    candidate: &Examined,
    options: &CompareOptions,
) -> Comparison {
    let Parts {
        buckets,
        findings,
        differences,
        longer,
    } = parts;
    let confirmed = |verdict| {
        buckets
            .iter()
            .filter(|b| b.verdict == verdict)
            .map(|b| b.impact.abs())
            .sum::<f64>()
    };
    let (worse, better) = (
        confirmed(BucketVerdict::Regression),
        confirmed(BucketVerdict::Improvement),
    );
    let share = |side: fn(&BucketComparison) -> Option<f64>| {
        let judged = |b: &&BucketComparison| {
            matches!(
                b.verdict,
                BucketVerdict::Regression | BucketVerdict::Improvement | BucketVerdict::Unchanged
            )
        };
        let sum: f64 = buckets.iter().filter(judged).filter_map(side).sum();
        sum
    };
    let share_judged = share(|b| Some(b.baseline.as_ref()?.share_of_time))
        .min(share(|b| Some(b.candidate.as_ref()?.share_of_time)));
    let new: Vec<_> = findings
        .new
        .iter()
        .filter(|f| findings::matters(f))
        .collect();
    let gone: Vec<_> = findings
        .gone
        .iter()
        .filter(|f| findings::matters(f))
        .collect();
    let blocked = differences
        .iter()
        .any(|d| d.blocks && !(options.allow_partial && d.kind == DifferenceKind::Partial));
    let signs = Signs {
        worse: worse >= NOTE || !new.is_empty() || !findings.grown.is_empty() || longer.is_some(),
        better: better >= NOTE || !gone.is_empty(),
        judged: share_judged >= JUDGED,
        blocked,
    };
    let verdict = verdict::whole(signs);

    let mut reasons: Vec<String> = new.iter().map(|f| format!("New: {}", f.summary)).collect();
    reasons.extend(findings.grown.iter().map(|(before, f)| {
        let now = f.impact.share_of_collective_time;
        format!(
            "Worse than in the baseline ({:.0} % of the time, was {:.0} %): {}",
            100.0 * now,
            100.0 * before,
            f.summary
        )
    }));
    reasons.extend(in_words(&buckets, BucketVerdict::Regression, worse));
    reasons.extend(longer.map(|g| {
        format!(
            "Ranks wait longer for each other: {:.0} % of the baseline's communication time.",
            100.0 * g
        )
    }));
    reasons.extend(gone.iter().map(|f| format!("Gone: {}", f.summary)));
    reasons.extend(in_words(&buckets, BucketVerdict::Improvement, better));
    if !signs.worse && blocked {
        reasons.extend(
            differences
                .iter()
                .filter(|d| d.blocks)
                .map(|d| d.summary.clone()),
        );
    }
    if !signs.worse && !signs.judged {
        reasons.push(format!(
            "Only {:.0} % of the communication time lies in operations that both runs have and that could be judged.",
            100.0 * share_judged
        ));
    }
    if verdict == Verdict::Unchanged {
        reasons.push(format!(
            "No change of {:.3} % or more in {:.0} % of the communication time, and no new finding.",
            100.0 * options.threshold,
            100.0 * share_judged.min(1.0)
        ).replace(".000 %", " %"));
    }
    Comparison {
        verdict,
        reasons,
        threshold: options.threshold,
        significance: SIGNIFICANCE,
        baseline: differences::run_facts(&baseline.job),
        candidate: differences::run_facts(&candidate.job),
        differences,
        time_change: buckets
            .iter()
            .filter(|b| {
                matches!(
                    b.verdict,
                    BucketVerdict::Regression | BucketVerdict::Improvement
                )
            })
            .map(|b| b.impact)
            .sum(),
        share_judged: share_judged.min(1.0),
        buckets,
        findings_new: findings.new,
        findings_gone: findings.gone,
        findings_common: findings.common,
    }
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

fn in_words(buckets: &[BucketComparison], verdict: BucketVerdict, impact: f64) -> Vec<String> {
    let mut of: Vec<&BucketComparison> = buckets.iter().filter(|b| b.verdict == verdict).collect();
    of.sort_by(|a, b| b.impact.abs().total_cmp(&a.impact.abs()));
    let mut out: Vec<String> = of.iter().take(NAMED).filter_map(|b| sentence(b)).collect();
    if of.len() > NAMED {
        let (n, way) = (
            of.len() - NAMED,
            if verdict == BucketVerdict::Regression {
                "slower"
            } else {
                "faster"
            },
        );
        out.push(format!(
            "{n} more {} {way}; together {:.1} % of the communication time.",
            if n == 1 { "bucket is" } else { "buckets are" },
            100.0 * impact
        ));
    }
    if !of.is_empty() && impact < NOTE {
        out.push(
            "That is too small a part of the communication time to decide anything.".to_owned(),
        );
    }
    out
}

fn sentence(b: &BucketComparison) -> Option<String> {
    let c = b.change?;
    let what = if b.metric.is_bandwidth() {
        "bandwidth"
    } else {
        "time"
    };
    Some(format!(
        "{}: {what} {} ({} to {}), in {:.1} % of the communication time.",
        name(&b.key),
        percent(c.change),
        percent(c.ci_low),
        percent(c.ci_high),
        100.0 * b.share_of_time
    ))
}

/// "`AllReduce` of 64 MiB, hca-only, 2 ranks on 2 nodes (DP Group)"
fn name(key: &BucketKey) -> String {
    let operation = match (key.operation.as_str(), key.crosses_network) {
        (SEND_RECV, Some(true)) => "Send/Recv between hosts",
        (SEND_RECV, Some(false)) => "Send/Recv within a host",
        (SEND_RECV, None) => "Send/Recv",
        (other, _) => other,
    };
    let family = key
        .family
        .as_ref()
        .filter(|f| !f.is_empty())
        .map(|f| format!(" ({f})"))
        .unwrap_or_default();
    format!(
        "{operation} of {}, {}, {} ranks on {} nodes{family}",
        size(key.size.as_bytes()),
        key.class,
        key.n_ranks,
        key.nnodes
    )
}

/// A message size in binary units.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.max(1).ilog2() / 10) as usize;
    let unit = 1_u64 << (10 * power);
    if bytes.is_multiple_of(unit) {
        format!("{} {}", bytes / unit, UNITS[power])
    } else {
        format!("{:.1} {}", bytes as f64 / unit as f64, UNITS[power])
    }
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
