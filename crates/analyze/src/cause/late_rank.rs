//! Ranks that arrive late all the time, or for a part of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::delay::Delay;
use super::intermittent::Intermittent;
use super::judge::Judge;
use super::late_replica;
use super::lateness::{self, Own, Quantity, Series};
use super::pipeline::{Index, Replicas};
use super::usual::usual_differences;
use super::waits::Waits;
use crate::collective::trace::Bin;
use crate::measured::Measured;
use crate::statistics::window::{self, Standout};

/// A window's mean must be this many times the noise. A job of 4096 ranks with eight communicators each has some 10⁸ windows
/// to choose from; a normal z of 6 happens 10⁻⁹ of the time, and the rest is for noise that isn't normal.
pub(super) const Z: f64 = 8.0;

/// A rank is carried along by a culprit when its lateness is at least this part of the culprit's.
const CARRIED: f64 = 0.3;

/// Up to this part of a culprit's lateness may rub off on its peers where records lack.
const SHADOW: f64 = 0.25;

/// Delay that was passed on to a rank explains its lateness from this part on.
pub(super) const PASSED_ON: f64 = 0.5;

/// A delay is seen by at most so many operations of another communicator: about the gradient buckets of a step.
const SEEN: f64 = 6.0;

/// Least noise that is believed: times are whole microseconds.
const NOISE_FLOOR_MICROS: f64 = 0.5;

/// A rank that is late by itself.
#[derive(Debug, Clone)]
pub(crate) struct LateRank {
    /// Process.
    pub(crate) process: usize,
    /// The communicator in which it shows most, and the place in it.
    pub(crate) comm: usize,
    /// Its member index in it.
    pub(crate) member: usize,
    /// When, and how far above the noise.
    pub(crate) standout: Standout,
    /// Lateness of its own, µs an operation, in the window.
    pub(crate) micros_late: f64,
    /// Operations in the window.
    pub(crate) operations: f64,
    /// Kernel time that others lost waiting, in all communicators that it or those it carries along sit in, µs.
    pub(crate) time_lost: f64,
    /// Communicators in which ranks waited.
    pub(crate) comms: BTreeSet<usize>,
    /// Share of the communicator's time that its other ranks lost.
    pub(crate) local_share: f64,
    /// Ranks of sibling communicators that are as late: the delay may have begun with one of them, and have come to the others in
    /// Sends and Receives that left no records.
    pub(crate) alike: BTreeSet<usize>,
    /// Ranks of its pipeline's replica of which it is one, where the data can't say which; itself among them. Empty where it is known.
    pub(crate) among: BTreeSet<usize>,
}

impl LateRank {
    /// A rank whose pauses are so regular that it is late always. How far it stands out is how many standard deviations it has
    /// more of them than its peers (of a Poisson number).
    pub(crate) fn of_pauses(m: &Measured, i: &Intermittent) -> Self {
        let bins = &m.traces[i.comm].member(i.member)[i.window.clone()];
        let operations: f64 = bins.iter().map(|b| b.operations).sum();
        let members = m.topology.comms[i.comm].members.len();
        let mean = i.time_lost / (members.max(2) - 1) as f64 / operations.max(1.0);
        let seen = |bins: &[Bin]| bins.iter().filter(|b| b.operations > 0.0).count();
        Self {
            process: i.process,
            comm: i.comm,
            member: i.member,
            standout: Standout {
                start: i.window.start,
                end: i.window.end,
                mean,
                z: (i.events - i.events_of_peers) / i.events_of_peers.max(1.0).sqrt(),
                whole: 10 * seen(bins) >= 9 * seen(m.traces[i.comm].member(i.member)),
            },
            micros_late: mean,
            operations,
            time_lost: i.time_lost,
            comms: BTreeSet::from([i.comm]),
            local_share: i.local_share,
            alike: BTreeSet::new(),
            among: BTreeSet::new(),
        }
    }

    /// Stretches of time in which it is late.
    pub(crate) fn window(&self) -> Range<usize> {
        self.standout.start..self.standout.end
    }

    /// Itself, or all of whom it is one.
    pub(crate) fn suspects(&self) -> impl Iterator<Item = usize> + '_ {
        let one = self.among.is_empty().then_some(self.process);
        one.into_iter().chain(self.among.iter().copied())
    }
}

/// Lateness of every rank, per operation, µs.
pub(crate) fn lateness(m: &Measured, places: &[Vec<(usize, usize)>]) -> Vec<Own> {
    lateness::separate(m, places, Quantity::Lateness, &BTreeSet::new())
}

/// Noise of lateness in each family: how much own lateness moves about its median.
pub(crate) fn noises(m: &Measured, owns: &[Own]) -> BTreeMap<usize, window::Noise> {
    let mut by_family: BTreeMap<usize, Vec<Series>> = BTreeMap::new();
    for o in owns {
        by_family
            .entry(m.family_of[o.comm])
            .or_default()
            .push(o.own.clone());
    }
    by_family
        .into_iter()
        .map(|(f, series)| (f, window::noise(&series, NOISE_FLOOR_MICROS)))
        .collect()
}

/// Every rank that is late by itself, by time lost.
pub(crate) fn late_ranks(
    m: &Measured,
    places: &[Vec<(usize, usize)>],
    owns: &[Own],
    spanning: &BTreeSet<usize>,
    replicas: &Replicas,
    (delay, waits): (&Delay, &Waits),
) -> Vec<LateRank> {
    let noises = noises(m, owns);
    let judge = Judge {
        m,
        places,
        noises: &noises,
        usual: usual_differences(m, owns),
        spanning,
        delay,
        index: Index::over(m, owns),
    };
    let mut best: BTreeMap<usize, LateRank> = BTreeMap::new();
    for o in owns {
        let Some(found) = judge.late_by_itself(o) else {
            continue;
        };
        // Without a tensor group, ranks of a replica can't be told apart by lateness, but by who waits for whom.
        let by_waits = waits.knows(o) && judge.alone(o.process, replicas);
        if !by_waits || judge.late_alone(o, &found, replicas, waits) {
            add(&mut best, found);
        }
    }
    if !replicas.comms.is_empty() {
        let known: Vec<LateRank> = best.values().cloned().collect();
        for found in late_replica::late_in_replicas(&judge, replicas, waits, &known) {
            add(&mut best, found);
        }
    }
    let mut out: Vec<LateRank> = best.into_values().collect();
    drop_shadows(m, &mut out);
    drop_carried(owns, &mut out);
    note_alike(m, places, &mut out);
    for late in &mut out {
        add_carried(m, owns, &noises, late);
    }
    out.sort_by(|a, b| {
        b.time_lost
            .total_cmp(&a.time_lost)
            .then(a.process.cmp(&b.process))
    });
    out
}

fn add(best: &mut BTreeMap<usize, LateRank>, found: LateRank) {
    match best.get_mut(&found.process) {
        Some(known) if known.time_lost >= found.time_lost => known.comms.extend(found.comms),
        Some(known) => {
            let mut comms = std::mem::take(&mut known.comms);
            comms.extend(found.comms.iter().copied());
            *known = LateRank { comms, ..found };
        }
        None => {
            best.insert(found.process, found);
        }
    }
}

/// Mean of a series in a window; 0 where it has no value.
pub(super) fn mean(s: &Series, window: &Range<usize>) -> f64 {
    let (sum, n) = s[window.clone()]
        .iter()
        .flatten()
        .fold((0.0, 0_u32), |a, v| (a.0 + v, a.1 + 1));
    if n > 0 { sum / f64::from(n) } else { 0.0 }
}

/// Notes for each rank which others are as late, where only Sends and Receives could tell with whom it began and none is recorded:
/// the oldest plugins record none, and a rank without a tensor group meets its replica of the pipeline nowhere else.
fn note_alike(m: &Measured, places: &[Vec<(usize, usize)>], late: &mut [LateRank]) {
    if m.pairs.iter().any(|p| !p.is_empty()) {
        return;
    }
    let everybody = m.topology.processes.len();
    let groups = |p: usize| {
        places[p]
            .iter()
            .filter(|x| (2..everybody).contains(&m.topology.comms[x.0].members.len()))
            .count()
    };
    let all = late.to_vec();
    for l in late.iter_mut().filter(|l| groups(l.process) == 1) {
        l.alike = all
            .iter()
            .filter(|o| o.comm != l.comm && m.family_of[o.comm] == m.family_of[l.comm])
            .filter(|o| groups(o.process) == 1)
            .filter(|o| o.standout.start < l.standout.end && l.standout.start < o.standout.end)
            .filter(|o| (0.5..=2.0).contains(&(o.micros_late / l.micros_late)))
            .map(|o| o.process)
            .collect();
    }
}

/// Drops ranks that are a fraction as late as another of their communicator, where most collectives lack ranks: there a rank is
/// compared with the culprit in one collective and without it in the next, and a part of the culprit's lateness rubs off.
fn drop_shadows(m: &Measured, late: &mut Vec<LateRank>) {
    let all = late.clone();
    late.retain(|l| {
        let facts = &m.facts[l.comm];
        2 * facts.complete() >= facts.collectives()
            || !all.iter().any(|o| {
                o.comm == l.comm && o.process != l.process && l.micros_late < SHADOW * o.micros_late
            })
    });
}

/// Drops ranks that are late because of another of them: they wait for it in a communicator of both, in which it is late by as much in all
/// and they aren't.
fn drop_carried(owns: &[Own], late: &mut Vec<LateRank>) {
    let all = late.clone();
    late.retain(|l| {
        !all.iter().any(|o| {
            let window = o.standout.start..o.standout.end;
            let meet = window.start < l.standout.end && l.standout.start < window.end;
            let waits = || {
                owns.iter()
                    .find(|x| x.comm == o.comm && x.process == l.process)
                    .is_some_and(|x| mean(&x.measured, &window) <= 0.0)
            };
            let enough = o.micros_late * o.operations >= PASSED_ON * l.micros_late * l.operations;
            o.process != l.process && o.comm != l.comm && meet && enough && waits()
        })
    });
}

/// Adds the time that is lost to ranks which the culprit carries along: fellows that are as late as it is in the same family.
fn add_carried(
    m: &Measured,
    owns: &[Own],
    noises: &BTreeMap<usize, window::Noise>,
    late: &mut LateRank,
) {
    let window = late.standout.start..late.standout.end;
    let mean = |s: &Series| mean(s, &window);
    // In which families it is late, and by how much.
    let mut own_families: BTreeMap<usize, f64> = BTreeMap::new();
    let mut fellows: BTreeSet<usize> = BTreeSet::new();
    for o in owns.iter().filter(|o| o.process == late.process) {
        let noise = noises[&m.family_of[o.comm]].point;
        let chunks: f64 = m.traces[o.comm].member(o.member)[window.clone()]
            .iter()
            .map(|b| b.chunks)
            .sum();
        let level = own_families.entry(m.family_of[o.comm]).or_insert(0.0);
        // Families in which it isn't clearly late carry nobody along.
        if mean(&o.measured) * chunks.max(1.0).sqrt() >= 0.5 * Z * noise {
            *level = level.max(mean(&o.measured));
        }
        fellows.extend(
            m.topology.comms[o.comm]
                .members
                .iter()
                .map(|x| x.1.0 as usize),
        );
    }
    let mut lost = 0.0;
    for o in owns.iter().filter(|o| fellows.contains(&o.process)) {
        let Some(&level) = own_families.get(&m.family_of[o.comm]) else {
            continue;
        };
        let carried = mean(&o.measured);
        let same = o.process == late.process;
        if level <= 0.0
            || carried <= 0.0
            || (!same && (carried < CARRIED * level || mean(&o.own) > 0.5 * carried))
        {
            continue;
        }
        let waiting = (m.topology.comms[o.comm].members.len() - 1) as f64;
        let bins = &m.traces[o.comm].member(o.member)[window.clone()];
        let late_micros: f64 = bins
            .iter()
            .zip(&o.measured[window.clone()])
            .map(|(b, v)| v.unwrap_or(0.0).max(0.0) * b.operations)
            .sum();
        // A delay that overlaps with computing is seen by several operations, but not by any number.
        let late_micros = late_micros.min(SEEN * late.micros_late * late.operations);
        // What waited can't exceed what was waited in all.
        let all: f64 = (0..m.topology.comms[o.comm].members.len())
            .flat_map(|i| &m.traces[o.comm].member(i)[window.clone()])
            .map(|b| b.wait)
            .sum();
        let waited = if all > 0.0 {
            (late_micros * waiting).min(all)
        } else {
            late_micros * waiting
        };
        if waited > 0.0 {
            lost += waited;
            late.comms.insert(o.comm);
        }
    }
    late.time_lost = late.time_lost.max(lost);
}
