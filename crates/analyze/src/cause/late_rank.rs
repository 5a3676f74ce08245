//! Ranks that arrive late all the time, or for a part of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::delay::Delay;
use super::lateness::{self, OWN, Own, Quantity, Series};
use super::pipeline::{Index, Replicas};
use crate::collective::trace::Bin;
use crate::measured::Measured;
use crate::statistics::robust;
use crate::statistics::window::{self, Standout};

/// A window's mean must be this many times the noise. A job of 4096 ranks with eight communicators each has some 10⁸ windows
/// to choose from; a normal z of 6 happens 10⁻⁹ of the time, and the rest is for noise that isn't normal.
const Z: f64 = 8.0;

/// Ranks lose at least this share of the communicator's time by waiting for it: below that a cause isn't worth a night's sleep,
/// and differences of a few microseconds between processes are ordinary.
const LOCAL_SHARE: f64 = 0.03;

/// A rank is carried along by a culprit when its lateness is at least this part of the culprit's.
const CARRIED: f64 = 0.3;

/// A lateness is unusual at this many times what other ranks of the family usually differ by.
const UNUSUAL: f64 = 4.0;

/// In a communicator of up to so many ranks one rank is half of what the others are compared with.
const SMALL: usize = 3;

/// Up to this part of a culprit's lateness may rub off on its peers where records lack.
const SHADOW: f64 = 0.25;

/// Fewer operations in a window are an episode.
const LEAST_OPERATIONS: f64 = 24.0;

/// A rank must be late in so many stretches of time: one pause, the chunk that it fills and the smoothing cover fewer.
const LEAST_STRETCHES: usize = 6;

/// Fewer ranks than this have nothing usual.
const LEAST_RANKS: usize = 4;

/// Launch jitter and the truncation to whole microseconds leave this much, whatever the job.
const LEAST_MICROS: f64 = 5.0;

/// Delay that was passed on to a rank explains its lateness from this part on.
const PASSED_ON: f64 = 0.5;

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

/// What ranks of a family usually differ by, over the whole run: some processes do a little more on their CPU, every time, and
/// nobody is to be woken for that.
struct Usual {
    /// Process, mean own lateness (µs), independent measurements behind it: of every rank of the family.
    means: Vec<(usize, f64, f64)>,
}

impl Usual {
    /// The lateness of `process` in a window of `weight` measurements that is unusual: a mean of fewer varies more. `near` are the
    /// ranks whose values a late `process` changes itself: they don't tell what is usual without it.
    fn limit(&self, process: usize, near: &BTreeSet<usize>, weight: f64) -> f64 {
        let apart: Vec<&(usize, f64, f64)> = self
            .means
            .iter()
            .filter(|x| x.0 != process && !near.contains(&x.0))
            .collect();
        // Of two or three ranks one late one is a third at least: nothing is usual there.
        if apart.len() + 1 < LEAST_RANKS {
            return LEAST_MICROS;
        }
        let scale = robust::scale(&apart.iter().map(|x| x.1).collect::<Vec<_>>()).unwrap_or(0.0);
        let usual =
            robust::median(&mut apart.iter().map(|x| x.2).collect::<Vec<_>>()).unwrap_or(0.0);
        (UNUSUAL * scale * (usual / weight.max(1.0)).max(1.0).sqrt()).max(LEAST_MICROS)
    }
}

fn usual_differences(m: &Measured, owns: &[Own]) -> BTreeMap<usize, Usual> {
    let mut out: BTreeMap<usize, Usual> = BTreeMap::new();
    for o in owns {
        let (sum, weight) = o.points(m).iter().flatten().fold((0.0, 0.0), |a, p| {
            (a.0 + p.value * p.weight, a.1 + p.weight)
        });
        if weight > 0.0 {
            out.entry(m.family_of[o.comm])
                .or_insert_with(|| Usual { means: Vec::new() })
                .means
                .push((o.process, sum / weight, weight));
        }
    }
    out
}

/// Ranks that sit with `process` in a communicator so small that it moves their median of others.
fn near(m: &Measured, places: &[Vec<(usize, usize)>], process: usize) -> BTreeSet<usize> {
    places[process]
        .iter()
        .map(|&(c, _)| &m.topology.comms[c].members)
        .filter(|members| members.len() <= SMALL)
        .flat_map(|members| members.iter().map(|x| x.1.0 as usize))
        .collect()
}

/// Every rank that is late by itself, by time lost.
pub(crate) fn late_ranks(
    m: &Measured,
    places: &[Vec<(usize, usize)>],
    owns: &[Own],
    spanning: &BTreeSet<usize>,
    replicas: &Replicas,
    delay: &Delay,
) -> Vec<LateRank> {
    let noises = noises(m, owns);
    let judge = Judge {
        m,
        places,
        noises: &noises,
        usual: usual_differences(m, owns),
        spanning,
        delay,
    };
    let mut best: BTreeMap<usize, LateRank> = BTreeMap::new();
    for found in owns.iter().filter_map(|o| judge.late_by_itself(o)) {
        add(&mut best, found);
    }
    if !replicas.comms.is_empty() {
        // All ranks of a pipeline's replica share its lateness: there it is the one that the others wait for.
        let apart = lateness::separate(m, places, Quantity::Lateness, &replicas.comms);
        let index = Index::over(m, &apart);
        let known: BTreeSet<usize> = best.keys().copied().collect();
        for o in apart.iter().filter(|o| !known.contains(&o.process)) {
            let Some(found) = judge.late_by_itself(o) else {
                continue;
            };
            let window = found.standout.start..found.standout.end;
            let late = found.micros_late * found.operations;
            let level = |x: &Own| mean(&x.own, &window);
            if replicas.wait_for(m, (&index, delay), o, &window, late, &level) {
                add(&mut best, found);
            }
        }
    }
    let mut out: Vec<LateRank> = best.into_values().collect();
    drop_shadows(m, &mut out);
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

/// What a rank's lateness is held against.
struct Judge<'a> {
    m: &'a Measured,
    places: &'a [Vec<(usize, usize)>],
    noises: &'a BTreeMap<usize, window::Noise>,
    usual: BTreeMap<usize, Usual>,
    spanning: &'a BTreeSet<usize>,
    delay: &'a Delay,
}

impl Judge<'_> {
    /// Whether a rank is late in a communicator, unusually and by itself.
    fn late_by_itself(&self, o: &Own) -> Option<LateRank> {
        let m = self.m;
        let family = m.family_of[o.comm];
        let points = o.points(m);
        let standout = window::standout(&points, self.noises[&family])?;
        let window = standout.start..standout.end;
        let weight: f64 = points[window.clone()]
            .iter()
            .flatten()
            .map(|p| p.weight)
            .sum();
        let measured: f64 = o.measured[window.clone()]
            .iter()
            .zip(&points[window.clone()])
            .map(|(v, p)| v.unwrap_or(0.0) * p.map_or(0.0, |p| p.weight))
            .sum();
        // Not a rest of what fellows share, and more than ranks usually differ by.
        if standout.z < Z
            || standout.mean * weight < OWN * measured
            || self.spanning.contains(&o.comm)
        {
            return None;
        }
        let near = near(m, self.places, o.process);
        if standout.mean < self.usual[&family].limit(o.process, &near, weight) {
            return None;
        }
        let trace = &m.traces[o.comm];
        let (operations, late) = trace.member(o.member)[window.clone()]
            .iter()
            .zip(&o.own[window.clone()])
            .fold((0.0, 0.0), |a, (b, v)| {
                (a.0 + b.operations, a.1 + v.unwrap_or(0.0) * b.operations)
            });
        let members = m.topology.comms[o.comm].members.len();
        let time: f64 = (0..members)
            .flat_map(|i| &trace.member(i)[window.clone()])
            .map(|b| b.micros)
            .sum();
        let local_share = if time > 0.0 {
            late * (members - 1) as f64 / time
        } else {
            0.0
        };
        // What a late neighbour in the pipeline added to its way here isn't its own; a part of it is shared by fellows, and has been
        // taken off already. What slow links added isn't either, however well the fellows show it.
        let shared: f64 = trace.member(o.member)[window.clone()]
            .iter()
            .zip(
                o.measured[window.clone()]
                    .iter()
                    .zip(&o.own[window.clone()]),
            )
            .map(|(b, (all, own))| (all.unwrap_or(0.0) - own.unwrap_or(0.0)) * b.operations)
            .sum();
        let passed_on = (self.delay.beyond_fellows(m, o, &window) - shared)
            .max(self.delay.by_links(m, o, &window))
            >= PASSED_ON * late;
        let enough = operations >= LEAST_OPERATIONS
            && persists(trace.member(o.member), &window, standout.mean);
        (local_share >= LOCAL_SHARE && enough && !passed_on).then(|| LateRank {
            process: o.process,
            comm: o.comm,
            member: o.member,
            standout,
            micros_late: late / operations,
            operations,
            time_lost: late * (members - 1) as f64,
            comms: BTreeSet::from([o.comm]),
            local_share,
            alike: BTreeSet::new(),
        })
    }
}

/// Mean of a series in a window; 0 where it has no value.
fn mean(s: &Series, window: &Range<usize>) -> f64 {
    let (sum, n) = s[window.clone()]
        .iter()
        .flatten()
        .fold((0.0, 0_u32), |a, v| (a.0 + v, a.1 + 1));
    if n > 0 { sum / f64::from(n) } else { 0.0 }
}

/// Whether a rank is late in most of a window's stretches, and in so many that it wasn't one pause: where communication
/// overlaps with computing, a pause delays all operations of a step, which can be most of a chunk.
fn persists(bins: &[Bin], window: &Range<usize>, level: f64) -> bool {
    let seen = |bins: &[Bin]| bins.iter().filter(|b| b.operations > 0.0).count();
    let late = bins[window.clone()]
        .iter()
        .filter(|b| b.operations > 0.0 && b.lateness / b.operations >= 0.5 * level)
        .count();
    late >= LEAST_STRETCHES.min(2 * seen(bins) / 5) && 5 * late >= 3 * seen(&bins[window.clone()])
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Six ranks in pairs. Without ranks 0 and 1 the means are 1, −1, 2, −2: their median is 0, the distances 1, 1, 2, 2, so the
    /// scale is 1.4826 × 1.5 = 2.2239, and four times that 8.8956.
    #[test]
    fn a_late_rank_and_its_mirror_dont_make_lateness_usual() {
        let usual = Usual {
            means: [60.0, -60.0, 1.0, -1.0, 2.0, -2.0]
                .into_iter()
                .enumerate()
                .map(|(p, mean)| (p, mean, 10.0))
                .collect(),
        };
        let near = BTreeSet::from([0, 1]);
        assert!((usual.limit(0, &near, 10.0) - 8.8956).abs() < 1e-9);
        assert!((usual.limit(0, &near, 40.0) - 8.8956).abs() < 1e-9);
        // A quarter of the measurements, twice the scale.
        assert!((usual.limit(0, &near, 2.5) - 17.7912).abs() < 1e-9);
        // Two others tell nothing.
        let near = BTreeSet::from([0, 1, 2, 3]);
        assert_eq!(usual.limit(0, &near, 10.0), LEAST_MICROS);
    }

    #[test]
    fn one_pause_doesnt_persist() {
        let bin = |lateness| Bin {
            lateness,
            operations: 1.0,
            ..Bin::default()
        };
        let mut bins = vec![bin(0.0); 40];
        bins[10..13].fill(bin(100.0));
        assert!(!persists(&bins, &(8..16), 40.0));
        bins[10..16].fill(bin(100.0));
        assert!(persists(&bins, &(10..16), 100.0));
        // Late in half of the window's stretches only.
        assert!(!persists(&bins, &(10..22), 100.0));
    }
}
