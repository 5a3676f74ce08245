//! Ranks that arrive late all the time, or for a part of the run.

use std::collections::{BTreeMap, BTreeSet};

use super::lateness::{self, Own, Series};
use crate::measured::Measured;
use crate::statistics::window::{self, Standout};

/// A window's mean must be this many times the noise. A job of 4096 ranks with eight communicators each has some 10⁸ windows
/// to choose from; a normal z of 6 happens 10⁻⁹ of the time, and the rest is for noise that isn't normal.
const Z: f64 = 8.0;

/// Ranks lose at least this share of the communicator's time by waiting for it: below that a cause isn't worth a night's sleep,
/// and differences of a few microseconds between processes are ordinary.
const LOCAL_SHARE: f64 = 0.03;

/// A rank is carried along by a culprit when its lateness is at least this part of the culprit's.
const CARRIED: f64 = 0.3;

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
}

/// Lateness of every rank, per operation, µs.
pub(crate) fn lateness(m: &Measured, places: &[Vec<(usize, usize)>]) -> Vec<Own> {
    lateness::separate(m, places, &|b| (b.operations > 0.0).then(|| b.lateness / b.operations))
}

/// Noise of lateness in each family: how much own lateness moves about its median.
pub(crate) fn noises(m: &Measured, owns: &[Own]) -> BTreeMap<usize, window::Noise> {
    let mut by_family: BTreeMap<usize, Vec<Series>> = BTreeMap::new();
    for o in owns {
        by_family.entry(m.family_of[o.comm]).or_default().push(o.own.clone());
    }
    by_family.into_iter().map(|(f, series)| (f, window::noise(&series, NOISE_FLOOR_MICROS))).collect()
}

/// Every rank that is late by itself, by time lost.
pub(crate) fn late_ranks(m: &Measured, owns: &[Own], spanning: &BTreeSet<usize>) -> Vec<LateRank> {
    let noises = noises(m, owns);
    let mut best: BTreeMap<usize, LateRank> = BTreeMap::new();
    for o in owns {
        let Some(standout) = window::standout(&o.own, noises[&m.family_of[o.comm]]) else { continue };
        if standout.z < Z || spanning.contains(&o.comm) {
            continue;
        }
        let trace = &m.traces[o.comm];
        let window = standout.start..standout.end;
        let (operations, late) = trace.member(o.member)[window.clone()].iter().zip(&o.own[window.clone()]).fold((0.0, 0.0), |a, (b, v)| {
            (a.0 + b.operations, a.1 + v.unwrap_or(0.0) * b.operations)
        });
        let members = m.topology.comms[o.comm].members.len();
        let time: f64 = (0..members).flat_map(|i| &trace.member(i)[window.clone()]).map(|b| b.micros).sum();
        let local_share = if time > 0.0 { late * (members - 1) as f64 / time } else { 0.0 };
        if local_share < LOCAL_SHARE || operations <= 0.0 {
            continue;
        }
        let found = LateRank {
            process: o.process,
            comm: o.comm,
            member: o.member,
            standout,
            micros_late: late / operations,
            operations,
            time_lost: late * (members - 1) as f64,
            comms: BTreeSet::from([o.comm]),
            local_share,
        };
        match best.get_mut(&o.process) {
            Some(known) if known.time_lost >= found.time_lost => {
                known.comms.insert(o.comm);
            }
            Some(known) => {
                let mut comms = std::mem::take(&mut known.comms);
                comms.insert(o.comm);
                *known = LateRank { comms, ..found };
            }
            None => {
                best.insert(o.process, found);
            }
        }
    }
    let mut out: Vec<LateRank> = best.into_values().collect();
    for late in &mut out {
        add_carried(m, owns, late);
    }
    out.sort_by(|a, b| b.time_lost.total_cmp(&a.time_lost).then(a.process.cmp(&b.process)));
    out
}

/// Adds the time that is lost to ranks which the culprit carries along: fellows that are as late as it is in the same family.
fn add_carried(m: &Measured, owns: &[Own], late: &mut LateRank) {
    let window = late.standout.start..late.standout.end;
    let mean = |s: &Series| {
        let (sum, n) = s[window.clone()].iter().flatten().fold((0.0, 0_u32), |a, v| (a.0 + v, a.1 + 1));
        if n > 0 { sum / f64::from(n) } else { 0.0 }
    };
    // In which families it is late, and by how much.
    let mut own_families: BTreeMap<usize, f64> = BTreeMap::new();
    let mut fellows: BTreeSet<usize> = BTreeSet::new();
    for o in owns.iter().filter(|o| o.process == late.process) {
        let level = own_families.entry(m.family_of[o.comm]).or_insert(0.0);
        *level = level.max(mean(&o.measured));
        fellows.extend(m.topology.comms[o.comm].members.iter().map(|x| x.1.0 as usize));
    }
    let mut lost = 0.0;
    for o in owns.iter().filter(|o| fellows.contains(&o.process)) {
        let Some(&level) = own_families.get(&m.family_of[o.comm]) else { continue };
        let carried = mean(&o.measured);
        let same = o.process == late.process;
        if level <= 0.0 || carried <= 0.0 || (!same && (carried < CARRIED * level || mean(&o.own) > 0.5 * carried)) {
            continue;
        }
        let waiting = (m.topology.comms[o.comm].members.len() - 1) as f64;
        let bins = &m.traces[o.comm].member(o.member)[window.clone()];
        let late_micros: f64 = bins.iter().zip(&o.measured[window.clone()]).map(|(b, v)| v.unwrap_or(0.0).max(0.0) * b.operations).sum();
        // What waited can't exceed what was waited in all.
        let all: f64 = (0..m.topology.comms[o.comm].members.len())
            .flat_map(|i| &m.traces[o.comm].member(i)[window.clone()])
            .map(|b| b.wait)
            .sum();
        let waited = if all > 0.0 { (late_micros * waiting).min(all) } else { late_micros * waiting };
        if waited > 0.0 {
            lost += waited;
            late.comms.insert(o.comm);
        }
    }
    late.time_lost = late.time_lost.max(lost);
}
