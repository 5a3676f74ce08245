//! The level of a bucket in a run, how uncertain it is, and the change between two runs.
//!
//! Everything is in logarithms of times, so that a change is a ratio whichever way it is looked at.
//!
//! The level is the median over communicators of the median over their blocks (stretches) of the block's median time. Its variance has two parts. Stretches of the run: the bootstrap over
//! stretches, widened where neighbouring stretches resemble each other. Communicators: what they differ by beyond what their own
//! stretches explain (`DerSimonian` and Laird, 1986); where both runs have communicators of the same places in the layout, what the *changes*
//! differ by, since a communicator that is always slower says nothing about the change. Degrees of freedom are put together after
//! Welch and Satterthwaite.

use std::collections::BTreeMap;

use super::block::Times;
use super::bucket::{Bucket, thinned};
use crate::statistics::bootstrap::{self, Value};
use crate::statistics::{robust, student, weighted};

/// Stretches that a run is cut into: enough for an error to be estimated, long enough to hold what goes on in a run.
const STRETCHES: usize = 24;
/// Collectives that a communicator has in a stretch on average.
const IN_A_STRETCH: u64 = 4;
/// From this many stretches on, their likeness to their neighbours can be estimated.
const LIKENESS_FROM: usize = 8;
/// Likeness above this isn't believed: the variance would grow without bound.
const LIKENESS_MOST: f64 = 0.8;
/// More blocks than this are drawn stretch by stretch.
const DRAWN_BLOCKS: usize = 2_048;
/// Quantiles that are drawn of a level: every 2.5 %.
pub(crate) const QUANTILES: usize = 41;

/// Which time of a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// The shortest over ranks.
    Shortest,
    /// The mean over ranks.
    Mean,
}

/// Which collectives, and with that which quantile of a block: with ranks missing, the shortest time that is there may contain
/// waiting, the less of it the lower one looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Those of which every rank has a record.
    Whole,
    /// All.
    Seen,
}

impl Basis {
    const fn quantile(self) -> f64 {
        match self {
            Self::Whole => 0.5,
            Self::Seen => 0.25,
        }
    }
}

/// The level of a bucket in a run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Estimate {
    /// Logarithm of the level, of µs.
    pub(crate) log: f64,
    /// Variance of it from stretches of the run.
    pub(crate) variance: f64,
    /// Stretches.
    pub(crate) stretches: usize,
    /// Blocks.
    pub(crate) blocks: usize,
    /// Place, logarithm of the level, and its variance, of each communicator.
    pub(crate) comms: Vec<(u64, f64, f64)>,
}

/// The level of a bucket; `None` when no block has a time.
pub(crate) fn estimate(bucket: &Bucket, basis: Basis, which: Which, seed: u64) -> Option<Estimate> {
    let width = if truncated(bucket) { 1.0 } else { 0.0 };
    let place = stretches(bucket, basis);
    let mut groups: Vec<Vec<Value>> = Vec::new();
    let mut comms = Vec::new();
    for series in &bucket.comms {
        let mut by_stretch: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
        for (stretch, block) in &series.blocks {
            let Some(&cluster) = place.get(stretch) else {
                continue;
            };
            let into = by_stretch.entry(cluster).or_default();
            for part in thinned(block, basis == Basis::Whole) {
                let (times, weight) = part.times();
                into.extend(
                    times
                        .iter()
                        .map(|t| (time(*t, which), weight))
                        .filter(|t| t.0.is_finite()),
                );
            }
        }
        let mut own = Vec::new();
        for (cluster, mut times) in by_stretch {
            times.sort_by(|a, b| a.0.total_cmp(&b.0));
            let level = weighted::quantile_of_truncated(&times, basis.quantile(), width)
                .filter(|&t| t > 0.0);
            if let Some(level) = level {
                let weight = times.iter().map(|t| t.1).sum();
                own.push(Value {
                    value: level.ln(),
                    weight,
                    cluster,
                });
            }
        }
        own.sort_by(|a, b| a.value.total_cmp(&b.value));
        if let Some(level) = bootstrap::median(&own) {
            comms.push((series.place, level, variance_of_mean(&own)));
        }
        groups.push(own);
    }
    let log = bootstrap::median_of_medians(&groups)?;
    let clusters = place.values().max().map_or(0, |m| m + 1);
    let blocks = groups.iter().map(Vec::len).sum();
    let by_cluster = by_cluster(&groups, clusters);
    let few = clusters as f64 / (clusters as f64 - 1.0).max(1.0);
    let drawn = if blocks > DRAWN_BLOCKS {
        std::slice::from_ref(&by_cluster)
    } else {
        groups.as_slice()
    };
    let drawn = bootstrap::variance_of_median(drawn, clusters, seed)? * few;
    // The bootstrap of a median of few values may find hardly any spread by luck; the mean of the stretches can't.
    let variance = drawn.max(variance_of_mean(&by_cluster)) * likeness(&by_cluster);
    Some(Estimate {
        log,
        variance,
        stretches: clusters,
        blocks,
        comms,
    })
}

fn time(times: Times, which: Which) -> f64 {
    f64::from(match which {
        Which::Shortest => times.0,
        Which::Mean => times.1,
    })
}

/// Whether times were truncated to whole microseconds: plugins that don't write a fraction do.
fn truncated(bucket: &Bucket) -> bool {
    let blocks = bucket.comms.iter().flat_map(|c| &c.blocks);
    blocks
        .flat_map(|(_, b)| thinned(b, false))
        .flat_map(|t| t.times().0)
        .all(|t| t.0.fract() == 0.0)
}

/// The stretches of the run that blocks are taken from: the grid's, joined so that each holds about as many collectives and enough
/// of them. Gives for each stretch of the grid that has any the number of its joined stretch, from 0 without gaps.
fn stretches(bucket: &Bucket, basis: Basis) -> BTreeMap<usize, usize> {
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    let mut longest = 0;
    for series in &bucket.comms {
        let mut of_comm = 0;
        for (stretch, block) in &series.blocks {
            let n: u64 = thinned(block, basis == Basis::Whole)
                .map(super::block::Thinned::count)
                .sum();
            if n > 0 {
                *counts.entry(*stretch).or_default() += n;
                of_comm += n;
            }
        }
        longest = longest.max(of_comm);
    }
    let wanted = usize::try_from(longest / IN_A_STRETCH)
        .unwrap_or(STRETCHES)
        .clamp(1, STRETCHES);
    let total: u64 = counts.values().sum();
    let mut out = BTreeMap::new();
    let (mut before, mut last, mut number) = (0.0, usize::MAX, 0_usize);
    for (stretch, n) in counts {
        let middle = before + n as f64 / 2.0;
        before += n as f64;
        let joined = ((middle * wanted as f64 / total as f64) as usize).min(wanted - 1);
        if last != usize::MAX && joined != last {
            number += 1;
        }
        last = joined;
        out.insert(stretch, number);
    }
    out
}

/// How far each cluster lies from the ordinary, in the median of its communicators, each measured from its own median: in ascending
/// order.
fn by_cluster(groups: &[Vec<Value>], clusters: usize) -> Vec<Value> {
    let mut own: Vec<Vec<Value>> = vec![Vec::new(); clusters];
    for group in groups {
        let Some(middle) = bootstrap::median(group) else {
            continue;
        };
        for v in group {
            own[v.cluster].push(Value {
                value: v.value - middle,
                ..*v
            });
        }
    }
    let mut out: Vec<Value> = Vec::new();
    for (cluster, mut v) in own.into_iter().enumerate() {
        v.sort_by(|a, b| a.value.total_cmp(&b.value));
        if let Some(value) = bootstrap::median(&v) {
            out.push(Value {
                value,
                weight: v.iter().map(|v| v.weight).sum(),
                cluster,
            });
        }
    }
    out.sort_by(|a, b| a.value.total_cmp(&b.value).then(a.cluster.cmp(&b.cluster)));
    out
}

/// Variance of the mean of values, each counted once; infinite for fewer than two.
fn variance_of_mean(values: &[Value]) -> f64 {
    let n = values.len() as f64;
    if n < 2.0 {
        return f64::INFINITY;
    }
    let mean = values.iter().map(|v| v.value).sum::<f64>() / n;
    values.iter().map(|v| (v.value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n
}

/// By how much likeness of neighbouring stretches widens the variance of their mean: (1 + r) / (1 − r) for the correlation r of
/// neighbours, as for a series of first order.
fn likeness(by_cluster: &[Value]) -> f64 {
    let n = by_cluster.len();
    if n < LIKENESS_FROM {
        return 1.0;
    }
    let mut series = vec![f64::NAN; by_cluster.iter().map(|v| v.cluster + 1).max().unwrap_or(0)];
    let mut all: Vec<f64> = by_cluster.iter().map(|v| v.value).collect();
    let Some(middle) = robust::median(&mut all) else {
        return 1.0;
    };
    for v in by_cluster {
        series[v.cluster] = v.value - middle;
    }
    let present: Vec<f64> = series.into_iter().filter(|v| v.is_finite()).collect();
    let square: f64 = present.iter().map(|v| v * v).sum();
    let product: f64 = present.windows(2).map(|w| w[0] * w[1]).sum();
    if square <= 0.0 {
        return 1.0;
    }
    let r = (product / square).clamp(0.0, LIKENESS_MOST);
    (1.0 + r) / (1.0 - r)
}

/// A difference of logarithms, how uncertain it is, and what its error was estimated from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gap {
    /// Candidate − baseline, of logarithms of times.
    pub(crate) log: f64,
    /// Standard error.
    pub(crate) error: f64,
    /// Degrees of freedom.
    pub(crate) df: f64,
}

impl Gap {
    /// A gap whose error has several independent parts, each a variance and the degrees of freedom that it was estimated with
    /// (Welch and Satterthwaite).
    pub(crate) fn of_parts(log: f64, parts: &[(f64, f64)]) -> Self {
        let variance: f64 = parts.iter().map(|p| p.0).sum();
        let spread: f64 = parts
            .iter()
            .filter(|p| p.0 > 0.0)
            .map(|(v, df)| v * v / df)
            .sum();
        let df = if spread > 0.0 {
            variance * variance / spread
        } else {
            f64::INFINITY
        };
        Self {
            log,
            error: variance.sqrt(),
            df: if df.is_nan() { 0.0 } else { df },
        }
    }

    /// The two-sided probability of a gap this large between equal runs.
    pub(crate) fn p(&self) -> f64 {
        if self.error <= 0.0 {
            return if self.log == 0.0 { 1.0 } else { 0.0 };
        }
        student::two_sided(self.log / self.error, self.df)
    }

    /// Half the width of the interval that misses the truth with probability `p`.
    pub(crate) fn half_width(&self, p: f64) -> f64 {
        if self.error <= 0.0 {
            0.0
        } else {
            self.error * student::quantile(p, self.df)
        }
    }
}

/// The difference of two levels.
pub(crate) fn gap(baseline: &Estimate, candidate: &Estimate) -> Gap {
    let freedom = |e: &Estimate| (e.stretches as f64 - 1.0).max(0.0);
    let (own, df_own) = differing_communicators(baseline, candidate);
    let parts = [
        (baseline.variance, freedom(baseline)),
        (candidate.variance, freedom(candidate)),
        (own, df_own),
    ];
    Gap::of_parts(candidate.log - baseline.log, &parts)
}

/// The variance that communicators differing among themselves add to the change, and its degrees of freedom.
fn differing_communicators(baseline: &Estimate, candidate: &Estimate) -> (f64, f64) {
    let effects = |e: &Estimate| e.comms.iter().map(|c| (c.1, c.2)).collect::<Vec<_>>();
    if let Some(changes) = paired(baseline, candidate) {
        return between(&changes);
    }
    let (a, b) = (between(&effects(baseline)), between(&effects(candidate)));
    let df = |v: (f64, f64)| if v.0 > 0.0 { v.0 * v.0 / v.1 } else { 0.0 };
    let sum = a.0 + b.0;
    let spread = df(a) + df(b);
    (
        sum,
        if spread > 0.0 {
            sum * sum / spread
        } else {
            f64::INFINITY
        },
    )
}

/// The change of each communicator, where both runs have communicators of the same places, each once.
fn paired(baseline: &Estimate, candidate: &Estimate) -> Option<Vec<(f64, f64)>> {
    let by_place = |e: &Estimate| {
        let map: BTreeMap<u64, (f64, f64)> = e.comms.iter().map(|c| (c.0, (c.1, c.2))).collect();
        (map.len() == e.comms.len()).then_some(map)
    };
    let (a, b) = (by_place(baseline)?, by_place(candidate)?);
    let changes = a
        .values()
        .zip(b.values())
        .map(|(x, y)| (y.0 - x.0, x.1 + y.1));
    a.keys().eq(b.keys()).then(|| changes.collect())
}

/// Of the logarithm of a time: a millionth, squared.
const LEAST_VARIANCE: f64 = 1e-12;

/// What effects of given variance differ by beyond it, as a variance of their mean, and its degrees of freedom.
fn between(effects: &[(f64, f64)]) -> (f64, f64) {
    // Times that never vary have no variance to weigh by, and still differ from one communicator to the next.
    let known: Vec<(f64, f64)> = effects
        .iter()
        .filter(|e| e.1.is_finite())
        .map(|e| (e.0, e.1.max(LEAST_VARIANCE)))
        .collect();
    let n = known.len() as f64;
    if n < 2.0 {
        return (0.0, f64::INFINITY);
    }
    let (sum, squares) = known
        .iter()
        .map(|e| 1.0 / e.1)
        .fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
    let mean = known.iter().map(|e| e.0 / e.1).sum::<f64>() / sum;
    let q: f64 = known.iter().map(|e| (e.0 - mean).powi(2) / e.1).sum();
    let tau = ((q - (n - 1.0)) / (sum - squares / sum)).max(0.0);
    (tau / n, n - 1.0)
}

/// Quantiles of the times of a bucket at equal steps from 0 to 1, µs.
pub(crate) fn quantiles(bucket: &Bucket, basis: Basis, which: Which) -> Vec<f64> {
    let mut times: Vec<(f64, f64)> = Vec::new();
    for (_, block) in bucket.comms.iter().flat_map(|c| &c.blocks) {
        for part in thinned(block, basis == Basis::Whole) {
            let (kept, weight) = part.times();
            times.extend(
                kept.iter()
                    .map(|t| (time(*t, which), weight))
                    .filter(|t| t.0.is_finite()),
            );
        }
    }
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at =
        |k: usize| weighted::quantile_of_truncated(&times, k as f64 / (QUANTILES - 1) as f64, 0.0);
    (0..QUANTILES).filter_map(at).collect()
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
