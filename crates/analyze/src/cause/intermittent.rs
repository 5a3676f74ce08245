//! Ranks that are late now and then, far more often than their peers.
//!
//! Every process pauses sometimes. What counts is how many of a rank's pauses exceed a length that its peers' seldom do:
//! under equal chances that number is Poisson with the peers' mean, and its tail is the evidence.

use std::collections::{BTreeMap, BTreeSet};

use super::delay::Delay;
use super::lateness::{self, Own, Quantity};
use super::pipeline::{Index, Replicas};
use crate::measured::Measured;
use crate::statistics::robust;

/// Fewer events are anecdotes.
const LEAST_EVENTS: f64 = 4.0;

/// Chance of so many events among equals, over all ranks, communicators and limits tried. Pauses come in clusters (a
/// garbage collector, a checkpoint), so the evidence asked for is far beyond the customary.
const CHANCE: f64 = 3e-5;

/// Others lose at least this share of the communicator's time to the events.
const LOCAL_SHARE: f64 = 0.01;

/// Limits are these quantiles of the peers' event lengths: 0 counts nearly all events, 1 those longer than any peer's.
const LIMITS: [f64; 4] = [0.0, 0.5, 0.9, 1.0];

/// A rank that is late now and then.
#[derive(Debug, Clone)]
pub(crate) struct Intermittent {
    /// Process.
    pub(crate) process: usize,
    /// Communicator in which it shows most, and the place in it.
    pub(crate) comm: usize,
    /// Its member index in it.
    pub(crate) member: usize,
    /// Events of its own, and the mean over its peers.
    pub(crate) events: f64,
    /// Mean over the peers.
    pub(crate) events_of_peers: f64,
    /// Only events longer than this were counted, µs.
    pub(crate) limit: f64,
    /// Median length of the events, µs.
    pub(crate) typical_micros: f64,
    /// Kernel time lost by the other ranks, µs.
    pub(crate) time_lost: f64,
    /// Chance of this among equals, all tries counted.
    pub(crate) chance: f64,
    /// Operations recorded.
    pub(crate) operations: f64,
}

/// Every such rank that isn't late all the time, by time lost.
pub(crate) fn intermittents(
    m: &Measured,
    places: &[Vec<(usize, usize)>],
    spanning: &BTreeSet<usize>,
    replicas: &Replicas,
    late: &BTreeSet<usize>,
    delay: &Delay,
) -> Vec<Intermittent> {
    // Events that fellows share in another communicator are passed on, not a rank's own. Those of a pipeline's replica are of the
    // rank that the others waited for.
    let owns = lateness::separate(m, places, Quantity::Events, &replicas.comms);
    let index = Index::over(m, &owns);
    let mut by_family: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for o in owns.iter().filter(|o| !spanning.contains(&o.comm)) {
        by_family
            .entry(m.family_of[o.comm])
            .or_default()
            .push(Candidate::of(m, o, &index, replicas, delay));
    }
    let tries: usize = by_family.values().map(Vec::len).sum::<usize>() * LIMITS.len();
    let mut best: BTreeMap<usize, Intermittent> = BTreeMap::new();
    for candidates in by_family.values() {
        for (i, c) in candidates.iter().enumerate() {
            if c.lengths.len() < LEAST_EVENTS as usize || late.contains(&c.process) {
                continue;
            }
            let Some(found) = judge(m, candidates, i, tries as f64) else {
                continue;
            };
            if best
                .get(&found.process)
                .is_none_or(|b| b.time_lost < found.time_lost)
            {
                best.insert(found.process, found);
            }
        }
    }
    let mut out: Vec<Intermittent> = best.into_values().collect();
    out.sort_by(|a, b| {
        b.time_lost
            .total_cmp(&a.time_lost)
            .then(a.process.cmp(&b.process))
    });
    out
}

/// A rank of a communicator with its own events.
struct Candidate {
    process: usize,
    comm: usize,
    member: usize,
    operations: f64,
    lengths: Vec<f64>,
}

impl Candidate {
    fn of(m: &Measured, o: &Own, index: &Index<'_>, replicas: &Replicas, delay: &Delay) -> Self {
        let trace = &m.traces[o.comm];
        let mut own: Vec<(u32, f64)> = trace
            .events
            .iter()
            .filter(|e| e.0 as usize == o.member)
            .filter(|e| {
                // An event is the rank's own where most of what it was late by in that stretch of time is.
                let b = e.1 as usize;
                let own = o.measured[b]
                    .zip(o.own[b])
                    .is_some_and(|(all, own)| own >= 0.5 * all);
                let level = |x: &Own| x.own[b].unwrap_or(0.0);
                own && delay.beyond_fellows(m, o, &(b..b + 1)) < 0.5 * e.2
                    && replicas.wait_for(m, (index, delay), o, &(b..b + 1), e.2, &level)
            })
            .map(|e| (e.1, e.2))
            .collect();
        own.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        // One pause can delay several operations in a row, where communication overlaps with computing: that is one event.
        let lengths = own
            .chunk_by(|a, b| b.0 - a.0 <= 1)
            .map(|run| run.iter().map(|e| e.1).fold(0.0, f64::max))
            .collect();
        let operations = trace.member(o.member).iter().map(|b| b.operations).sum();
        Self {
            process: o.process,
            comm: o.comm,
            member: o.member,
            operations,
            lengths,
        }
    }

    fn beyond(&self, limit: f64) -> f64 {
        self.lengths.iter().filter(|&&l| l > limit).count() as f64
    }
}

fn judge(m: &Measured, candidates: &[Candidate], i: usize, tries: f64) -> Option<Intermittent> {
    let c = &candidates[i];
    let peers = || {
        candidates
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != i)
            .map(|x| x.1)
    };
    let exposure: f64 = peers().map(|p| p.operations).sum();
    if exposure <= 0.0 || c.operations <= 0.0 {
        return None;
    }
    let mut lengths: Vec<f64> = peers().flat_map(|p| p.lengths.iter().copied()).collect();
    let mut best: Option<Intermittent> = None;
    for q in LIMITS {
        let limit = robust::quantile(&mut lengths, q).unwrap_or(0.0);
        let events = c.beyond(limit);
        // One event more than was seen: of a rate known from few events only an upper estimate is safe.
        let expected =
            (peers().map(|p| p.beyond(limit)).sum::<f64>() + 1.0) * c.operations / exposure;
        let chance = (poisson_tail(events, expected) * tries).min(1.0);
        let mut own: Vec<f64> = c.lengths.iter().copied().filter(|&l| l > limit).collect();
        let members = m.topology.comms[c.comm].members.len();
        let lost = own.iter().sum::<f64>() * (members - 1) as f64;
        let time: f64 = m.traces[c.comm].bins.iter().map(|b| b.micros).sum();
        if events < LEAST_EVENTS || chance > CHANCE || lost < LOCAL_SHARE * time {
            continue;
        }
        let found = Intermittent {
            process: c.process,
            comm: c.comm,
            member: c.member,
            events,
            events_of_peers: expected,
            limit,
            typical_micros: robust::median(&mut own).unwrap_or(0.0),
            time_lost: lost,
            chance,
            operations: c.operations,
        };
        if best.as_ref().is_none_or(|b| found.chance < b.chance) {
            best = Some(found);
        }
    }
    best
}

/// Chance of `k` or more events where `mean` are expected (upper tail of a Poisson distribution, summed from the k-th term).
fn poisson_tail(k: f64, mean: f64) -> f64 {
    if k <= 0.0 {
        return 1.0;
    }
    if mean <= 0.0 {
        return 0.0;
    }
    // ln P(k) = k ln λ − λ − ln k!
    let mut n = k;
    let ln_factorial: f64 = (2..=k as u64).map(|i| (i as f64).ln()).sum();
    let mut term = (k * mean.ln() - mean - ln_factorial).exp();
    let mut sum = 0.0;
    while n < k + 2000.0 && (term > sum * 1e-12 || n < mean) {
        sum += term;
        n += 1.0;
        term *= mean / n;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::poisson_tail;

    /// Sums of the terms from the k-th on, in Python with math.lgamma.
    #[test]
    fn tails_are_the_sums_of_their_terms() {
        for (k, mean, expected) in [
            (1.0, 1.0, 0.632_120_558_828_557_7),
            (5.0, 1.4, 0.014_253_309_1),
            (14.0, 1.4, 3.464_525_057e-10),
            (0.0, 3.0, 1.0),
        ] {
            let got = poisson_tail(k, mean);
            assert!((got / expected - 1.0).abs() < 1e-3, "{k} {mean}: {got}");
        }
    }
}
