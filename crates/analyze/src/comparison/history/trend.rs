//! From the runs before and the candidate to a series for each bucket, and one for the whole.

use std::collections::BTreeMap;

use super::past::{self, Known, Past, PastRun, nameless};
use super::series::{self, Against, Judged};
use crate::comparison::compare::CompareOptions;
use crate::comparison::differences::LOSS;
use crate::comparison::judged::{self, FEWEST, FEWEST_STRETCHES};
use crate::comparison::side::Examined;
use crate::comparison::verdict::{self, INTERVAL, JUDGED};
use crate::facts::{
    BucketKey, BucketTrend, BucketVerdict, Change, History, LeftOut, LevelShift, Metric, Reference,
    Trend,
};
use crate::records::operation::bus_bandwidth;
use crate::statistics::{multiple, robust, student};

/// Takes the runs before one by one, so that only what is needed of each stays in memory.
#[derive(Debug)]
pub struct HistoryBuilder<'a> {
    candidate: &'a Examined,
    allow_partial: bool,
    /// By number of the call of [`HistoryBuilder::add`].
    runs: Vec<(usize, PastRun)>,
    left_out: Vec<LeftOut>,
    added: usize,
}

impl<'a> HistoryBuilder<'a> {
    /// A history of nothing yet. `allow_partial`: a run of which a part is missing is used all the same.
    #[must_use]
    pub const fn new(candidate: &'a Examined, allow_partial: bool) -> Self {
        Self {
            candidate,
            allow_partial,
            runs: Vec::new(),
            left_out: Vec::new(),
            added: 0,
        }
    }

    /// Adds a run; runs are added the oldest first. One that doesn't compare with the candidate is left out and named.
    pub fn add(&mut self, run: &Examined) {
        self.added += 1;
        match past::unusable(&run.job, &self.candidate.job, self.allow_partial) {
            None => self.runs.push((self.added - 1, PastRun::of(run))),
            Some(reason) => self.left_out.push(LeftOut {
                name: run.job.overview.title.clone(),
                reason,
            }),
        }
    }

    /// Names input of the history that can't be read.
    pub fn leave_out(&mut self, name: String, reason: String) {
        self.left_out.push(LeftOut { name, reason });
    }

    /// What isn't used, and why.
    #[must_use]
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Puts the runs in order of time and takes out those after the candidate. Runs that overlap in time, as far as their stamps
    /// say, keep the order in which they were added.
    pub fn sort(&mut self) {
        let span = self.candidate.job.overview.span;
        let mut spans: Vec<_> = self.runs.iter().map(|r| r.1.span).chain([span]).collect();
        spans.sort();
        let apart = spans.windows(2).all(|w| match (w[0], w[1]) {
            (Some(a), Some(b)) => a.1 < b.0,
            _ => false,
        });
        if !apart {
            return;
        }
        self.runs.sort_by_key(|r| r.1.span);
        let after = self.runs.partition_point(|r| r.1.span <= span);
        for (_, run) in self.runs.drain(after..) {
            self.left_out.push(LeftOut {
                name: run.facts.title,
                reason: "it ran after the candidate".to_owned(),
            });
        }
    }

    /// The latest run that can be used: the number of the call of [`HistoryBuilder::add`] that brought it, from 0.
    #[must_use]
    pub fn latest(&self) -> Option<usize> {
        self.runs.last().map(|r| r.0)
    }

    /// What the runs before say of the candidate.
    #[must_use]
    pub fn finish(self, options: &CompareOptions) -> History {
        let candidate = PastRun::of(self.candidate);
        let mut runs: Vec<PastRun> = self.runs.into_iter().map(|r| r.1).collect();
        runs.push(candidate);
        let mut tracks = tracks(&runs);
        let least = options.threshold.ln_1p();
        let mut all: Vec<Judged> = tracks
            .iter()
            .map(|t| series::judge(&t.values, least))
            .collect();
        let whole = whole(&tracks);
        all.push(series::judge(&whole, least));
        let p: Vec<f64> = all
            .iter()
            .map(|j| j.against.as_ref().map_or(f64::NAN, |a| a.gap.p()))
            .collect();
        let adjusted = multiple::holm(&p);
        let mut judged = all.into_iter().zip(adjusted);
        let mut buckets: Vec<BucketTrend> = tracks
            .drain(..)
            .zip(judged.by_ref())
            .map(|(track, (j, p))| {
                let value = |log: f64| track.value(log);
                BucketTrend {
                    trend: trend(
                        &track.values,
                        &j,
                        p,
                        track.metric,
                        options.threshold,
                        &value,
                    ),
                    key: track.key,
                    metric: track.metric,
                    share_of_time: track.share,
                }
            })
            .collect();
        buckets.sort_by(|a, b| {
            let size = |t: &BucketTrend| {
                t.trend
                    .reference
                    .as_ref()
                    .map_or(0.0, |r| r.change.abs() * t.share_of_time)
            };
            (order(a.trend.verdict).cmp(&order(b.trend.verdict)))
                .then(size(b).total_cmp(&size(a)))
                .then(b.share_of_time.total_cmp(&a.share_of_time))
                .then_with(|| a.key.cmp(&b.key))
        });
        let whole = judged.next().and_then(|(j, p)| {
            let level = j.against.as_ref()?.level;
            // Relative to the reference: 1 is as before.
            let value = |log: f64| (log - level).exp();
            Some(trend(
                &whole,
                &j,
                p,
                Metric::LinkTimeUs,
                options.threshold,
                &value,
            ))
        });
        let facts: Vec<_> = runs.into_iter().map(|r| r.facts).collect();
        super::words::history(facts, self.left_out, whole, buckets)
    }
}

/// What is read first.
const fn order(verdict: BucketVerdict) -> u8 {
    match verdict {
        BucketVerdict::Regression => 0,
        BucketVerdict::Improvement => 1,
        BucketVerdict::Unchanged => 2,
        _ => 3,
    }
}

/// A bucket of the candidate, and its level in each run.
struct Track {
    key: BucketKey,
    metric: Metric,
    share: f64,
    values: Vec<Option<Known>>,
}

impl Track {
    /// From the logarithm of a time to the metric's unit.
    fn value(&self, log: f64) -> f64 {
        if self.metric.is_bandwidth() {
            let key = &self.key;
            bus_bandwidth(&key.operation, key.n_ranks, key.size.as_bytes(), log.exp())
                .unwrap_or(f64::NAN)
        } else {
            log.exp()
        }
    }
}

/// The candidate's buckets over all runs, of which it is the last.
fn tracks(runs: &[PastRun]) -> Vec<Track> {
    let Some(candidate) = runs.last() else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for shared in candidate.together.keys() {
        let families = candidate.families(shared);
        // Names may be given or withheld without anything else having changed.
        let apart = (runs.iter())
            .all(|r| !r.together.contains_key(shared) || r.families(shared) == families);
        if apart {
            let of_shared = candidate
                .by_family
                .keys()
                .filter(|k| nameless(k) == *shared);
            out.extend(of_shared.filter_map(|key| track(key, runs, |r| &r.by_family)));
        } else {
            out.extend(track(shared, runs, |r| &r.together));
        }
    }
    out
}

fn track(
    key: &BucketKey,
    runs: &[PastRun],
    of: impl Fn(&PastRun) -> &BTreeMap<BucketKey, Past>,
) -> Option<Track> {
    let candidate = of(runs.last()?).get(key)?;
    let whole = candidate.complete >= FEWEST;
    let known = |run: &PastRun| {
        let past = of(run).get(key)?;
        let (known, operations) = if whole {
            (past.whole?, past.complete)
        } else {
            (past.seen?, past.operations)
        };
        let comparable = operations >= FEWEST
            && known.stretches >= FEWEST_STRETCHES
            && (past.share_seen - candidate.share_seen).abs() <= LOSS;
        comparable.then_some(known)
    };
    let basis = judged::basis_of(whole);
    Some(Track {
        metric: judged::metric(key, basis, candidate.latency_bound),
        share: candidate.share_of_time,
        values: runs.iter().map(known).collect(),
        key: key.clone(),
    })
}

/// The time of the transfers of all buckets, weighed by the candidate's time in them, each from its own middle.
fn whole(tracks: &[Track]) -> Vec<Option<Known>> {
    let n = tracks.first().map_or(0, |t| t.values.len());
    let total: f64 = tracks.iter().map(|t| t.share).sum();
    let middles: Vec<Option<f64>> = tracks
        .iter()
        .map(|t| {
            let mut logs: Vec<f64> = t.values.iter().flatten().map(|k| k.log).collect();
            robust::median(&mut logs)
        })
        .collect();
    (0..n)
        .map(|run| {
            let (mut weight, mut log, mut error, mut stretches) = (0.0, 0.0, 0.0, usize::MAX);
            for (track, middle) in tracks.iter().zip(&middles) {
                if let (Some(k), Some(middle)) = (track.values[run], middle) {
                    weight += track.share;
                    log += track.share * (k.log - middle);
                    // What slows a stretch of a run slows all buckets: errors add up as if they were one.
                    error += track.share * k.variance.sqrt();
                    stretches = stretches.min(k.stretches);
                }
            }
            (weight > 0.0 && weight >= JUDGED * total).then(|| Known {
                log: log / weight,
                variance: (error / weight).powi(2),
                stretches,
            })
        })
        .collect()
}

fn trend(
    values: &[Option<Known>],
    judged: &Judged,
    p_adjusted: f64,
    metric: Metric,
    threshold: f64,
    value: &dyn Fn(f64) -> f64,
) -> Trend {
    let inverse = metric.is_bandwidth();
    let signed = |log: f64| if inverse { -log } else { log };
    let candidate = values.last().copied().flatten();
    let mut verdict = BucketVerdict::Inconclusive;
    let mut note = None;
    let reference = judged.against.as_ref().map(|a| {
        let levels = (value(a.level), value(a.level + a.gap.log));
        let change = Change {
            p_adjusted,
            ..judged::change(levels, a.gap, inverse)
        };
        verdict = verdict::judge(&judged::worsening(&change, metric), threshold);
        if verdict == BucketVerdict::Inconclusive {
            note = Some("the earlier runs vary too much for their number".to_owned());
        }
        reference(a, &change, value)
    });
    if reference.is_none() {
        note = Some(
            if candidate.is_none() {
                "too few operations of the candidate"
            } else {
                "fewer than three earlier runs compare"
            }
            .to_owned(),
        );
    }
    Trend {
        values: values
            .iter()
            .map(|v| v.map(|k| value(k.log)).filter(|v| v.is_finite()))
            .collect(),
        verdict,
        note,
        reference,
        shifts: (judged.shifts.iter())
            .map(|&(run, log)| LevelShift {
                run: u32::try_from(run).unwrap_or(u32::MAX),
                change: signed(log).exp_m1(),
            })
            .collect(),
    }
}

fn reference(a: &Against, change: &Change, value: &dyn Fn(f64) -> f64) -> Reference {
    let n = a.runs.len() as f64;
    let reach =
        a.spread.0 * (1.0 + 1.0 / n).sqrt() * student::quantile(INTERVAL, a.spread.1.max(1.0));
    let (one, other) = (value(a.level - reach), value(a.level + reach));
    Reference {
        runs: (a.runs.iter())
            .map(|&r| u32::try_from(r).unwrap_or(u32::MAX))
            .collect(),
        level: change.baseline,
        low: one.min(other),
        high: one.max(other),
        change: change.change,
        ci_low: change.ci_low,
        ci_high: change.ci_high,
        p_adjusted: change.p_adjusted,
    }
}
