//! One bucket of two runs.

use super::bucket::Bucket;
use super::estimate::{self, Basis, Estimate, Gap, Which};
use super::verdict::{self, INTERVAL, Worsening};
use super::words::percent;
use crate::facts::{BucketComparison, BucketKey, BucketVerdict, Change, Level, Metric, Sides};
use crate::records::operation::bus_bandwidth;

/// Operations below which nothing is said of a bucket.
pub(crate) const FEWEST: u64 = 16;
/// Stretches of the run below which nothing is said.
pub(crate) const FEWEST_STRETCHES: usize = 3;
/// Draws of the bootstrap start here, so that a comparison gives the same numbers in every run.
pub(crate) const SEED: u64 = 0x6e63_636c;

/// A bucket half-way: everything but what needs the other buckets.
pub(crate) struct Draft {
    pub(crate) comparison: BucketComparison,
    /// Change of the shortest time.
    pub(crate) link: Option<Gap>,
    /// Change of the mean time.
    pub(crate) felt: Option<Gap>,
    /// Why nothing can be said, where that's so.
    short: Option<String>,
}

/// What the buckets of a comparison have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// Kernel time of the runs, µs.
    pub(crate) micros: (f64, f64),
    /// More was lost in one run than in the other, so much that they don't compare.
    pub(crate) loss_differs: bool,
    /// The smallest change that matters.
    pub(crate) threshold: f64,
}

/// The part of a bucket that needs no other bucket.
pub(crate) fn draft(
    key: BucketKey,
    sides: (Option<Bucket>, Option<Bucket>),
    algorithms: Sides<Vec<(String, f64)>>,
    context: &Context,
) -> Draft {
    let (baseline, candidate) = sides;
    let basis = basis(baseline.as_ref(), candidate.as_ref());
    let latency_bound = [&baseline, &candidate]
        .into_iter()
        .flatten()
        .any(|b| b.latency_bound);
    let metric = metric(&key, basis, latency_bound);
    let side = |bucket: Option<&Bucket>, total: f64, seed: u64| {
        let bucket = bucket?;
        let link = estimate::estimate(bucket, basis, Which::Shortest, SEED ^ seed);
        let felt = estimate::estimate(bucket, basis, Which::Mean, SEED ^ seed);
        let level = level(
            &key,
            bucket,
            basis,
            metric,
            link.as_ref(),
            bucket.micros / total.max(1.0),
        );
        Some((level, link, felt))
    };
    let left = side(baseline.as_ref(), context.micros.0, 1);
    let right = side(candidate.as_ref(), context.micros.1, 2);
    let both = baseline.as_ref().zip(candidate.as_ref());
    let short = both
        .and_then(|(b, c)| too_short(b, c, basis, context.loss_differs))
        .or_else(|| {
            let estimates = (left.as_ref()?.1.as_ref(), right.as_ref()?.1.as_ref());
            match estimates {
                (Some(b), Some(c)) if b.stretches.min(c.stretches) < FEWEST_STRETCHES => {
                    Some(format!(
                        "the times lie in {} stretches of the run only",
                        b.stretches.min(c.stretches)
                    ))
                }
                (Some(_), Some(_)) => None,
                _ => Some("no time can be told".to_owned()),
            }
        });
    let gap = |of: fn(&(Level, Option<Estimate>, Option<Estimate>)) -> Option<&Estimate>| {
        Some(estimate::gap(of(left.as_ref()?)?, of(right.as_ref()?)?))
    };
    let (link, felt) = (gap(|s| s.1.as_ref()), gap(|s| s.2.as_ref()));
    let verdict = match (&left, &right) {
        (Some(_), None) => BucketVerdict::OnlyInBaseline,
        (None, Some(_)) => BucketVerdict::OnlyInCandidate,
        _ => BucketVerdict::Inconclusive,
    };
    let levels = (
        left.as_ref()
            .and_then(|s| Some((s.1.as_ref()?.log, s.2.as_ref().map(|f| f.log)))),
        right
            .as_ref()
            .and_then(|s| Some((s.1.as_ref()?.log, s.2.as_ref().map(|f| f.log)))),
    );
    let times = |pick: fn(&(f64, Option<f64>)) -> Option<f64>| {
        Some((
            pick(levels.0.as_ref()?)?.exp(),
            pick(levels.1.as_ref()?)?.exp(),
        ))
    };
    let (link_times, felt_times) = (times(|l| Some(l.0)), times(|l| l.1));
    let bandwidth = |t: f64| bus_bandwidth(&key.operation, key.n_ranks, key.size.as_bytes(), t);
    let of_time = |t: Option<(f64, f64)>, gap: Option<Gap>| Some(change(t?, gap?, false));
    let of_bandwidth = |t: Option<(f64, f64)>, gap: Option<Gap>| {
        let (b, c) = t?;
        Some(change((bandwidth(b)?, bandwidth(c)?), gap?, true))
    };
    // Of all the time that the bucket takes, the transfer's part is what a change of the shortest time changes.
    let transfer = felt_times
        .zip(link_times)
        .map_or(1.0, |(f, l)| (l.0 / f.0).min(1.0));
    let share = |s: &Option<(Level, Option<Estimate>, Option<Estimate>)>| {
        s.as_ref().map_or(0.0, |s| s.0.share_of_time)
    };
    let impact = link.map_or(0.0, |g| share(&left) * transfer * g.log.exp_m1());
    let comparison = BucketComparison {
        verdict,
        note: None,
        metric,
        change: if metric.is_bandwidth() {
            of_bandwidth(link_times, link)
        } else {
            of_time(link_times, link)
        },
        link_busbw: of_bandwidth(link_times, link),
        felt_busbw: of_bandwidth(felt_times, felt),
        link_time: of_time(link_times, link),
        felt_time: of_time(felt_times, felt),
        latency_bound,
        share_of_time: share(&left).max(share(&right)),
        impact,
        algorithms,
        baseline: left.map(|s| s.0),
        candidate: right.map(|s| s.0),
        key,
    };
    Draft {
        comparison,
        link,
        felt,
        short,
    }
}

impl Draft {
    /// The finished bucket, given the probability of its change corrected for the number of buckets.
    pub(crate) fn finish(mut self, p_adjusted: f64, context: &Context) -> BucketComparison {
        let c = &mut self.comparison;
        let changes = [&mut c.change, &mut c.link_busbw, &mut c.link_time];
        changes
            .into_iter()
            .flatten()
            .for_each(|change| change.p_adjusted = p_adjusted);
        if matches!(
            c.verdict,
            BucketVerdict::OnlyInBaseline | BucketVerdict::OnlyInCandidate
        ) {
            return self.comparison;
        }
        let Some(change) = c.change else {
            c.note = self.short;
            return self.comparison;
        };
        if self.short.is_some() {
            c.note = self.short;
            return self.comparison;
        }
        let w = worsening(&change, c.metric);
        c.verdict = verdict::judge(&w, context.threshold);
        if c.verdict == BucketVerdict::Inconclusive {
            c.note = Some(format!(
                "the runs vary too much for their length: the change lies between {} and {}",
                percent(change.ci_low),
                percent(change.ci_high)
            ));
        }
        self.comparison
    }

    /// The probability of the change between equal runs; `None` where nothing is judged.
    pub(crate) fn p(&self) -> Option<f64> {
        self.short.is_none().then_some(())?;
        self.link.map(|g| g.p())
    }
}

/// The change with above zero for worse.
pub(crate) fn worsening(change: &Change, metric: Metric) -> Worsening {
    let (size, low, high) = (change.change, change.ci_low, change.ci_high);
    let p = change.p_adjusted;
    if metric.is_bandwidth() {
        Worsening {
            size: -size,
            low: -high,
            high: -low,
            p,
        }
    } else {
        Worsening { size, low, high, p }
    }
}

/// A change between two levels; `inverse` where the levels are of one over the time.
pub(crate) fn change(levels: (f64, f64), gap: Gap, inverse: bool) -> Change {
    let half = gap.half_width(INTERVAL);
    let sign = if inverse { -1.0 } else { 1.0 };
    let middle = sign * gap.log;
    let p = gap.p();
    Change {
        baseline: levels.0,
        candidate: levels.1,
        change: middle.exp_m1(),
        ci_low: (middle - half).exp_m1(),
        ci_high: (middle + half).exp_m1(),
        p,
        p_adjusted: p,
    }
}

/// Complete collectives where both runs have enough of them, else all that is there.
fn basis(baseline: Option<&Bucket>, candidate: Option<&Bucket>) -> Basis {
    let enough = |b: &Bucket| b.complete >= FEWEST;
    basis_of([baseline, candidate].into_iter().flatten().all(enough))
}

/// Complete collectives where there are enough of them, else all.
pub(crate) const fn basis_of(enough_complete: bool) -> Basis {
    if enough_complete {
        Basis::Whole
    } else {
        Basis::Seen
    }
}

pub(crate) fn metric(key: &BucketKey, basis: Basis, latency_bound: bool) -> Metric {
    let has_bandwidth = bus_bandwidth(&key.operation, key.n_ranks, key.size.as_bytes(), 1.0)
        .is_some_and(|b| b > 0.0);
    match (basis, has_bandwidth && !latency_bound) {
        (Basis::Whole, true) => Metric::LinkBusbwGbs,
        (Basis::Whole, false) => Metric::LinkTimeUs,
        (Basis::Seen, true) => Metric::SeenBusbwGbs,
        (Basis::Seen, false) => Metric::SeenTimeUs,
    }
}

fn too_short(
    baseline: &Bucket,
    candidate: &Bucket,
    basis: Basis,
    loss_differs: bool,
) -> Option<String> {
    let seen = |b: &Bucket| b.seen().unwrap_or(0.0);
    if loss_differs || (seen(baseline) - seen(candidate)).abs() > super::differences::LOSS {
        return Some(format!(
            "the runs lost records differently: {:.0} % of the candidate's are there, {:.0} % of the baseline's",
            100.0 * seen(candidate),
            100.0 * seen(baseline)
        ));
    }
    let count = |b: &Bucket| {
        if basis == Basis::Whole {
            b.complete
        } else {
            b.operations
        }
    };
    let few = count(baseline).min(count(candidate));
    (few < FEWEST).then(|| format!("too few operations: {few}"))
}

fn level(
    key: &BucketKey,
    bucket: &Bucket,
    basis: Basis,
    metric: Metric,
    link: Option<&Estimate>,
    share: f64,
) -> Level {
    let of_time = |t: f64| {
        if metric.is_bandwidth() {
            bus_bandwidth(&key.operation, key.n_ranks, key.size.as_bytes(), t).unwrap_or(f64::NAN)
        } else {
            t
        }
    };
    let mut quantiles: Vec<f64> = estimate::quantiles(bucket, basis, Which::Shortest)
        .into_iter()
        .map(of_time)
        .filter(|v| v.is_finite())
        .collect();
    quantiles.sort_by(f64::total_cmp);
    Level {
        median: link.map_or(f64::NAN, |e| of_time(e.log.exp())),
        operations: if basis == Basis::Whole {
            bucket.complete
        } else {
            bucket.operations
        },
        blocks: link.map_or(0, |e| e.blocks as u64),
        communicators: bucket.comms.len() as u64,
        seen: bucket.seen(),
        share_of_time: share,
        quantiles,
    }
}
