//! Ranks that are late now and then, far more often than their peers.
//!
//! Every process pauses sometimes. What counts is how many of a rank's pauses exceed a length that its peers' seldom do:
//! under equal chances that number is Poisson with the peers' mean, and its tail is the evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::delay::Delay;
use super::late_rank::LateRank;
use super::lateness::{self, Own, Quantity};
use super::pipeline::{Index, Replicas};
use super::waits::Waits;
use crate::collective::trace::Event;
use crate::measured::Measured;
use crate::statistics::robust;

/// Fewer events are anecdotes.
const LEAST_EVENTS: f64 = 4.0;

/// Chance of so many events among equals, over all ranks, communicators and limits tried: a thousandth is worth telling.
const CHANCE: f64 = 1e-3;

/// Above this chance nobody is woken. Pauses come in clusters (a garbage collector, a checkpoint), so the evidence asked for is
/// far beyond the customary.
pub(crate) const SURE_CHANCE: f64 = 3e-5;

/// Others lose at least this share of the communicator's time to the events.
const LOCAL_SHARE: f64 = 0.01;

/// Operations that follow each other at up to this distance may be late by one pause: the next, or the next but one where a record lacks.
const QUEUED: u64 = 2;

/// An operation that is later than the one before it by more than this factor met a pause of its own; launch jitter is far below.
const LONGER: f64 = 1.5;

/// Fewer pauses aren't regular, whatever their distances.
const LEAST_REGULAR: usize = 6;

/// Distances are equal up to this part of their median: a record may lack, or a step have an operation more.
const EQUAL: f64 = 0.2;

/// So many of the distances are equal where a rank is late in every step. Of pauses that come by chance no distance is more frequent
/// than the chance of a pause in a step: even of those in a third of the steps, a third.
const MOST_EQUAL: f64 = 0.6;

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
    /// Whether it is late so regularly that it is so always: in each step, of whose operations only the first meet the delay.
    pub(crate) always: bool,
    /// Stretches of time from the first event to the last.
    pub(crate) window: Range<usize>,
    /// Share of the communicator's time that its other ranks lost.
    pub(crate) local_share: f64,
    /// Whether it meets a culprit that costs far more.
    pub(crate) beside_culprit: bool,
}

impl Intermittent {
    /// Whether its pauses cost more than what it is late by always, where it is one of those that are `late`.
    pub(crate) fn costs_more(&self, m: &Measured, late: &[LateRank]) -> bool {
        let of_late = |l: &LateRank| {
            let waiting = m.topology.comms[l.comm].members.len() - 1;
            l.micros_late * l.operations * waiting as f64
        };
        let late = late.iter().find(|l| l.process == self.process);
        late.is_none_or(|l| !self.always && self.time_lost > of_late(l))
    }
}

/// Every such rank that isn't late all the time, by time lost.
pub(crate) fn intermittents(
    m: &Measured,
    places: &[Vec<(usize, usize)>],
    spanning: &BTreeSet<usize>,
    replicas: &Replicas,
    late: &BTreeSet<usize>,
    brought: (&Delay, &Waits),
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
            .push(Candidate::of(m, o, &index, replicas, brought));
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
    always: bool,
    window: Range<usize>,
}

impl Candidate {
    fn of(
        m: &Measured,
        o: &Own,
        index: &Index<'_>,
        replicas: &Replicas,
        (delay, waits): (&Delay, &Waits),
    ) -> Self {
        let trace = &m.traces[o.comm];
        let waited = waits.longest(m, o);
        let mut own: Vec<Event> = trace
            .events
            .iter()
            .filter(|e| e.member as usize == o.member)
            .filter(|e| {
                // An event is the rank's own where most of what it was late by in that stretch of time is.
                let b = e.stretch as usize;
                let own = o.measured[b]
                    .zip(o.own[b])
                    .is_some_and(|(all, own)| own >= 0.5 * all);
                let level = |x: &Own| x.own[b].unwrap_or(0.0);
                let began_here = || match waited.get(b).copied().flatten() {
                    Some(waited) => waited < 0.5 * e.micros,
                    None => {
                        delay.beyond_fellows(m, o, &(b..b + 1)) < 0.5 * e.micros
                            && replicas.wait_for(
                                m,
                                (index, delay),
                                o,
                                &(b..b + 1),
                                e.micros,
                                &level,
                            )
                    }
                };
                own && began_here()
            })
            .copied()
            .collect();
        own.sort_by_key(|e| (e.function, e.number));
        // One pause can delay several operations in a row, where communication overlaps with computing: that is one event.
        let pauses: Vec<&[Event]> = own.chunk_by(one_pause).collect();
        let mut lengths: Vec<f64> = pauses
            .iter()
            .map(|run| run.iter().map(|e| e.micros).fold(0.0, f64::max))
            .collect();
        let numbers = pauses.iter().map(|run| (run[0].function, run[0].number));
        let always = regular(&numbers.collect::<Vec<_>>());
        let mut window = 0..0;
        // Single events are matched in time as well as dumps allow; all of them together must say the same.
        let stretches = own.iter().map(|e| e.stretch as usize);
        if let (Some(first), Some(last)) = (stretches.clone().min(), stretches.max()) {
            window = first..last + 1;
            let level = |x: &Own| x.own[window.clone()].iter().flatten().sum::<f64>();
            let late = lengths.iter().sum::<f64>();
            if !waits.knows(o) && !replicas.wait_for(m, (index, delay), o, &window, late, &level) {
                lengths.clear();
            }
        }
        let operations = trace.member(o.member).iter().map(|b| b.operations).sum();
        Self {
            process: o.process,
            comm: o.comm,
            member: o.member,
            operations,
            lengths,
            always,
            window,
        }
    }

    fn beyond(&self, limit: f64) -> f64 {
        self.lengths.iter().filter(|&&l| l > limit).count() as f64
    }
}

/// Whether pauses come at equal distances, given function and number of the first operation of each.
fn regular(pauses: &[(u32, i64)]) -> bool {
    let of_function = pauses.chunk_by(|a, b| a.0 == b.0);
    let Some(numbers) = of_function.max_by_key(|x| x.len()) else {
        return false;
    };
    let gaps: Vec<f64> = numbers
        .windows(2)
        .map(|w| w[1].1.abs_diff(w[0].1) as f64)
        .collect();
    let usual = robust::median(&mut gaps.clone()).unwrap_or(0.0);
    let equal = gaps
        .iter()
        .filter(|&&g| (g - usual).abs() <= EQUAL * usual)
        .count();
    numbers.len() >= LEAST_REGULAR && equal as f64 >= MOST_EQUAL * gaps.len() as f64
}

/// Whether a late arrival is of the same pause as the one before it: operations that are queued behind a late one wait less and less.
fn one_pause(before: &Event, after: &Event) -> bool {
    before.function == after.function
        && after.number.abs_diff(before.number) <= QUEUED
        && after.micros <= LONGER * before.micros
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
            always: c.always,
            window: c.window.clone(),
            local_share: if time > 0.0 { lost / time } else { 0.0 },
            beside_culprit: false,
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
    use super::*;

    #[test]
    fn what_comes_in_nearly_every_step_is_regular() {
        let every = |step: i64| (0..12).map(|k| (1, k * step)).collect::<Vec<_>>();
        assert!(regular(&every(6)));
        // Gaps of 1, 1, 2, 1, 3, 3 steps: the median is 1.5, and none is that. With 1, 1, 1, 2, 1, 3, 1, 1 six of eight are.
        let of_steps =
            |steps: &[i64]| regular(&steps.iter().map(|s| (1, 6 * s)).collect::<Vec<_>>());
        assert!(!of_steps(&[0, 1, 2, 4, 5, 8, 11]));
        assert!(of_steps(&[0, 1, 2, 3, 5, 6, 9, 10, 11]));
        assert!(!regular(&every(6)[..5]));
    }

    #[test]
    fn what_queues_behind_a_pause_is_the_same_pause() {
        let event = |function, number, micros| Event {
            member: 0,
            stretch: 7,
            micros,
            function,
            number,
        };
        // A pause of 15 ms shows in three operations; the next is at a distance, or later than the one before it.
        assert!(one_pause(&event(1, 10, 15e3), &event(1, 11, 1.4e3)));
        assert!(one_pause(&event(1, 10, 15e3), &event(1, 12, 1.4e3)));
        assert!(!one_pause(&event(1, 10, 15e3), &event(1, 13, 1.4e3)));
        assert!(!one_pause(&event(1, 12, 1.4e3), &event(1, 13, 13e3)));
        assert!(!one_pause(&event(1, 10, 15e3), &event(2, 11, 1.4e3)));
    }

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
