//! From buckets, findings and differences to the whole: a verdict and its reasons.

use super::compare::CompareOptions;
use super::differences;
use super::findings::{self, Changed};
use super::history;
use super::side::Examined;
use super::verdict::{self, JUDGED, NOTE, SIGNIFICANCE, Signs};
use super::words::{name, percent};
use crate::facts::{
    BucketComparison, BucketVerdict, Comparison, Difference, DifferenceKind, History, Verdict,
};
use crate::rules;

/// Buckets named in one reason.
const NAMED: usize = 3;

/// Everything but the whole.
pub(crate) struct Parts {
    pub(crate) buckets: Vec<BucketComparison>,
    pub(crate) findings: Changed,
    pub(crate) differences: Vec<Difference>,
    /// How much longer ranks wait, where that's too much.
    pub(crate) longer: Option<f64>,
    pub(crate) history: Option<History>,
}

/// The whole.
pub(crate) fn conclude(
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
        history,
    } = parts;
    let of_history = history.as_ref().map(|h| h.verdict);
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
        // The sum of nothing is −0.
        buckets.iter().filter(judged).filter_map(side).sum::<f64>() + 0.0
    };
    let share_judged = share(|b| Some(b.baseline.as_ref()?.share_of_time))
        .min(share(|b| Some(b.candidate.as_ref()?.share_of_time)));
    let new: Vec<_> = findings
        .new
        .iter()
        .filter(|f| findings::decides(f, options.threshold))
        .collect();
    let gone: Vec<_> = findings
        .gone
        .iter()
        .filter(|f| findings::decides(f, options.threshold))
        .collect();
    let blocked = differences
        .iter()
        .any(|d| d.blocks && !(options.allow_partial && d.kind == DifferenceKind::Partial));
    let short = history.as_ref().is_some_and(history::too_short);
    let signs = Signs {
        worse: worse >= NOTE
            || !new.is_empty()
            || !findings.grown.is_empty()
            || longer.is_some()
            || matches!(of_history, Some(Verdict::Regression | Verdict::Mixed)),
        better: better >= NOTE
            || !gone.is_empty()
            || matches!(of_history, Some(Verdict::Improvement | Verdict::Mixed)),
        judged: share_judged >= JUDGED,
        blocked: blocked || short,
    };
    let verdict = verdict::whole(signs);

    let mut reasons: Vec<String> = new.iter().map(|f| format!("New: {}", f.summary)).collect();
    let small = (findings.new.iter())
        .filter(|f| findings::matters(f) && !findings::decides(f, options.threshold));
    let small: Vec<String> = small
        .map(|f| {
            format!(
                "New, but too small a part of the time to decide: {}",
                f.summary
            )
        })
        .collect();
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
    reasons.extend(history.iter().flat_map(|h| h.reasons.iter().cloned()));
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
            "No change of {:.3} % or more in {:.0} % of the communication time, and no new finding that costs as much.",
            100.0 * options.threshold,
            100.0 * share_judged.min(1.0)
        ).replace(".000 %", " %"));
    }
    reasons.extend(small);
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
        history,
        rules: options.rules.as_ref().map_or_else(Vec::new, |r| {
            rules::check(r, &candidate.job, &candidate.tails, Some(&baseline.job))
        }),
    }
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
