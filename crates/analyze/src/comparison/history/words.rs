//! What a history comes to, in a word and in sentences.

use crate::comparison::verdict::{self, JUDGED, NOTE, Signs};
use crate::comparison::words::{name, percent};
use crate::facts::{
    BucketComparison, BucketTrend, BucketVerdict, History, HistoryRun, LeftOut, Metric, Trend,
    Verdict,
};

/// Earlier runs below which nothing is said.
const FEWEST: usize = 3;
/// Buckets named in the reasons.
const NAMED: usize = 3;

/// Puts it together.
pub(super) fn history(
    runs: Vec<HistoryRun>,
    left_out: Vec<LeftOut>,
    whole: Option<Trend>,
    buckets: Vec<BucketTrend>,
) -> History {
    let earlier = runs.len().saturating_sub(1);
    let is = |v: BucketVerdict| move |t: &&BucketTrend| t.trend.verdict == v;
    let impact = |v| {
        buckets
            .iter()
            .filter(is(v))
            .filter_map(|t| Some(t.share_of_time * t.trend.reference.as_ref()?.change.abs()))
            .sum::<f64>()
    };
    let of_whole = |v| whole.as_ref().is_some_and(|t| t.verdict == v);
    let changed = |v| impact(v) >= NOTE || of_whole(v);
    let judged: f64 = (buckets.iter())
        .filter(|t| t.trend.verdict != BucketVerdict::Inconclusive)
        .map(|t| t.share_of_time)
        .sum();
    let signs = Signs {
        worse: changed(BucketVerdict::Regression),
        better: changed(BucketVerdict::Improvement),
        judged: judged >= JUDGED,
        blocked: earlier < FEWEST,
    };
    let verdict = verdict::whole(signs);
    let mut reasons = Vec::new();
    for way in [BucketVerdict::Regression, BucketVerdict::Improvement] {
        if let Some(t) = whole.as_ref().filter(|t| t.verdict == way) {
            reasons.extend(sentence("The transfers as a whole", "time", t, &runs));
        }
        let of: Vec<&BucketTrend> = buckets.iter().filter(is(way)).collect();
        reasons.extend(of.iter().take(NAMED).filter_map(|t| {
            let what = if t.metric.is_bandwidth() {
                "bandwidth"
            } else {
                "time"
            };
            sentence(&name(&t.key), what, &t.trend, &runs)
        }));
        if let Some(more @ 1..) = of.len().checked_sub(NAMED) {
            let word = if way == BucketVerdict::Regression {
                "worse"
            } else {
                "better"
            };
            reasons.push(format!(
                "{more} more outside what the earlier runs vary by, {word}."
            ));
        }
    }
    if earlier < FEWEST {
        reasons.push(format!(
            "The history has {} that compares; it takes {FEWEST}.",
            counted(earlier)
        ));
    } else if verdict == Verdict::Unchanged {
        reasons.push(format!("Within what {} vary by.", counted(earlier)));
    } else if verdict == Verdict::Inconclusive {
        reasons.push(format!(
            "What {} vary by is too much to tell.",
            counted(earlier)
        ));
    }
    History {
        verdict,
        reasons,
        runs,
        left_out,
        whole,
        buckets,
    }
}

fn counted(runs: usize) -> String {
    format!("{runs} earlier {}", if runs == 1 { "run" } else { "runs" })
}

fn sentence(subject: &str, what: &str, trend: &Trend, runs: &[HistoryRun]) -> Option<String> {
    let r = trend.reference.as_ref()?;
    let since = trend.shifts.last().and_then(|s| {
        let first = runs.get(s.run as usize)?;
        let is_candidate = s.run as usize + 1 == runs.len();
        (!is_candidate).then(|| {
            format!(
                "; the level shifted by {} with {}",
                percent(s.change),
                first.title
            )
        })
    });
    Some(format!(
        "{subject}: {what} {} ({} to {}) against {}, 95 % of which lie within {} … {}{}.",
        percent(r.change),
        percent(r.ci_low),
        percent(r.ci_high),
        counted(r.runs.len()),
        percent(r.low / r.level - 1.0),
        percent(r.high / r.level - 1.0),
        since.unwrap_or_default()
    ))
}

/// Whether too few earlier runs compare for the history to say anything.
pub(crate) fn too_short(history: &History) -> bool {
    history.runs.len() <= FEWEST
}

/// Why a bucket that differs from the baseline is still as the earlier runs were: both levels lie among theirs.
pub(crate) fn as_before(bucket: &BucketComparison, history: &History) -> Option<String> {
    let (before, now) = (
        bucket.baseline.as_ref()?.median,
        bucket.candidate.as_ref()?.median,
    );
    let track = history.buckets.iter().find(|t| t.key == bucket.key)?;
    let same_metric = |m: Metric| m == bucket.metric;
    let reference = track
        .trend
        .reference
        .as_ref()
        .filter(|_| same_metric(track.metric))?;
    let values: Vec<f64> = (reference.runs.iter())
        .filter_map(|&r| *track.trend.values.get(r as usize)?)
        .collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The baseline may be one of the runs, so its level is one of the ends: rounding must not put it outside.
    let inside = |v: f64| v >= low * (1.0 - 1e-9) && v <= high * (1.0 + 1e-9);
    (inside(before) && inside(now)).then(|| {
        format!(
            "differs from the baseline, but lies within what {} vary by",
            counted(values.len())
        )
    })
}
