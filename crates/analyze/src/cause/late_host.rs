//! Hosts all of whose ranks are late together.

use std::collections::{BTreeMap, BTreeSet};

use super::carried::{by_pauses, lossy, shared_abroad, unseen_link, waited};
use super::delay::Delay;
use super::late_rank::LateRank;
use super::lateness::{Own, Series, weighted};
use crate::measured::Measured;
use crate::statistics::robust;
use crate::statistics::window::{self, Standout};

/// Times the noise, as for a rank.
const Z: f64 = 8.0;

/// Share of time lost, as for a rank.
const LOCAL_SHARE: f64 = 0.03;

/// So much of a host's ranks must be late by at least half of the host's median.
const MOST: f64 = 0.75;

/// A late host stands out this many times as far as other hosts do: lateness of whole hosts wanders, since each delay of a
/// rank on it stays until the next common step.
const OUTSTANDING: f64 = 4.0;

/// It also stands out so many times as far as the second of the others: one other host may be late as well.
const ABOVE_SECOND: f64 = 2.5;

/// Parts of a window in each of which a late host is late.
const PARTS: usize = 3;

/// A host that is late.
#[derive(Debug, Clone)]
pub(crate) struct LateHost {
    /// Host.
    pub(crate) host: String,
    /// When.
    pub(crate) standout: Standout,
    /// Lateness, µs an operation, median over its ranks.
    pub(crate) micros_late: f64,
    /// Time that ranks of other hosts lost waiting, µs.
    pub(crate) time_lost: f64,
    /// Ranks, and how many of them are late.
    pub(crate) ranks: (usize, usize),
    /// Communicators in which it shows.
    pub(crate) comms: BTreeSet<usize>,
}

/// Every late host that no late rank and no slow communicator on it explains. `explained` names hosts that have such.
pub(crate) fn late_hosts(
    m: &Measured,
    owns: &[Own],
    spanning: &BTreeSet<usize>,
    explained: &BTreeSet<String>,
    culprits: &[LateRank],
    delay: &Delay,
) -> Vec<LateHost> {
    let mut by_family: BTreeMap<usize, BTreeMap<String, Vec<&Own>>> = BTreeMap::new();
    for o in owns {
        let hosts: BTreeSet<&str> = m.topology.comms[o.comm]
            .members
            .iter()
            .map(|x| m.topology.processes[x.1.0 as usize].host.as_str())
            .collect();
        if hosts.len() > 1 && !spanning.contains(&o.comm) {
            let host = m.topology.processes[o.process].host.clone();
            by_family
                .entry(m.family_of[o.comm])
                .or_default()
                .entry(host)
                .or_default()
                .push(o);
        }
    }
    let mut best: BTreeMap<String, LateHost> = BTreeMap::new();
    for (host, owns_here, standout) in by_family.values().flat_map(|hosts| outstanding(m, hosts)) {
        let ranks: BTreeSet<usize> = owns_here.iter().map(|o| o.process).collect();
        let on_host = m
            .topology
            .processes
            .iter()
            .filter(|p| p.host == host)
            .count();
        let elsewhere = culprits
            .iter()
            .any(|c| unseen_link(m, owns, c, &host, owns_here, &standout));
        if explained.contains(&host)
            || elsewhere
            || ranks.len() < 2
            || ranks.len() < on_host
            || by_pauses(m, owns, &host, owns_here, &standout)
        {
            continue;
        }
        let window = standout.start..standout.end;
        let mean = |s: &Series| {
            let (sum, n) = s[window.clone()]
                .iter()
                .flatten()
                .fold((0.0, 0_u32), |a, v| (a.0 + v, a.1 + 1));
            if n > 0 { sum / f64::from(n) } else { 0.0 }
        };
        let late: Vec<&Own> = owns_here
            .iter()
            .filter(|o| mean(&o.measured) >= 0.5 * standout.mean)
            .copied()
            .collect();
        if (late.len() as f64) < MOST * owns_here.len() as f64
            || !throughout(m, owns_here, &standout)
            || (shared_abroad(m, owns, &host, &late, &mean, standout.mean)
                && (waited(m, &late, &window, delay) || lossy(m, &late)))
        {
            continue;
        }
        let (mut lost, mut time) = (0.0, 0.0);
        for o in &late {
            let comm = &m.topology.comms[o.comm];
            let abroad = comm
                .members
                .iter()
                .filter(|x| m.topology.processes[x.1.0 as usize].host != host)
                .count();
            let at_home = (comm.members.len() - abroad).max(1);
            let bins = &m.traces[o.comm].member(o.member)[window.clone()];
            let late: f64 = bins
                .iter()
                .zip(&o.measured[window.clone()])
                .map(|(b, v)| v.unwrap_or(0.0).max(0.0) * b.operations)
                .sum();
            // Ranks of one host in one communicator are late together: those abroad wait once.
            lost += late * abroad as f64 / at_home as f64;
            time += (0..comm.members.len())
                .flat_map(|i| &m.traces[o.comm].member(i)[window.clone()])
                .map(|b| b.micros)
                .sum::<f64>()
                / at_home as f64;
        }
        if lost < LOCAL_SHARE * time {
            continue;
        }
        let found = LateHost {
            host: host.clone(),
            standout,
            micros_late: standout.mean,
            time_lost: lost,
            ranks: (
                on_host,
                late.iter()
                    .map(|o| o.process)
                    .collect::<BTreeSet<_>>()
                    .len(),
            ),
            comms: late.iter().map(|o| o.comm).collect(),
        };
        if best.get(&host).is_none_or(|b| b.time_lost < lost) {
            best.insert(host, found);
        }
    }
    let mut out: Vec<LateHost> = best.into_values().collect();
    out.sort_by(|a, b| {
        b.time_lost
            .total_cmp(&a.time_lost)
            .then_with(|| a.host.cmp(&b.host))
    });
    out
}

/// Whether most of a host's ranks are late in each part of a window: pauses of single ranks, and of others that they wait for, come
/// and go.
fn throughout(m: &Measured, owns: &[&Own], s: &Standout) -> bool {
    let length = s.end - s.start;
    (0..PARTS).all(|k| {
        let part = s.start + k * length / PARTS..s.start + (k + 1) * length / PARTS;
        let levels: Vec<f64> = owns
            .iter()
            .filter_map(|o| {
                let bins = &m.traces[o.comm].member(o.member)[part.clone()];
                let (late, n) = bins.iter().fold((0.0, 0.0), |a, b| {
                    (a.0 + b.raw_lateness, a.1 + b.operations)
                });
                (n > 0.0).then(|| late / n)
            })
            .collect();
        let late = levels.iter().filter(|&&l| l >= 0.5 * s.mean).count();
        late as f64 >= MOST * levels.len() as f64
    })
}

/// Takes the ranks of hosts most of whose ranks are late alike out of the late ranks: each such host is one cause.
pub(crate) fn gather_ranks(m: &Measured, late: &mut Vec<LateRank>) -> Vec<LateHost> {
    let mut by_host: BTreeMap<String, Vec<LateRank>> = BTreeMap::new();
    for l in late.iter().filter(|l| l.among.is_empty()) {
        by_host
            .entry(m.topology.processes[l.process].host.clone())
            .or_default()
            .push(l.clone());
    }
    let mut out = Vec::new();
    for (host, ranks) in by_host {
        let on_host = m
            .topology
            .processes
            .iter()
            .filter(|p| p.host == host)
            .count();
        let most = ranks.iter().map(|l| l.micros_late).fold(0.0, f64::max);
        let alike: Vec<&LateRank> = ranks
            .iter()
            .filter(|l| l.micros_late >= 0.5 * most)
            .collect();
        let Some(first) = alike.first() else { continue };
        let overlapping = alike.iter().all(|l| {
            l.standout.start < first.standout.end && first.standout.start < l.standout.end
        });
        if alike.len() < 2 || (alike.len() as f64) < MOST * on_host as f64 || !overlapping {
            continue;
        }
        // Ranks of one host in one communicator are late together: those abroad wait once.
        let comms: BTreeSet<usize> = alike.iter().flat_map(|l| l.comms.iter().copied()).collect();
        let time_lost = alike.iter().map(|l| l.time_lost).fold(0.0, f64::max);
        let micros_late =
            robust::median(&mut alike.iter().map(|l| l.micros_late).collect::<Vec<_>>())
                .unwrap_or(most);
        out.push(LateHost {
            host: host.clone(),
            standout: first.standout,
            micros_late,
            time_lost,
            ranks: (on_host, alike.len()),
            comms,
        });
        late.retain(|l| !l.among.is_empty() || m.topology.processes[l.process].host != host);
    }
    out
}

/// Hosts of a family whose lateness stands out from its noise and from what other hosts show.
fn outstanding<'a>(
    m: &Measured,
    hosts: &'a BTreeMap<String, Vec<&'a Own>>,
) -> Vec<(String, &'a [&'a Own], Standout)> {
    let series: Vec<Series> = hosts.values().map(|owns| median_series(m, owns)).collect();
    let noise = window::noise(&series, 0.5);
    let found: Vec<Option<Standout>> = series
        .iter()
        .zip(hosts.values())
        .map(|(s, owns)| {
            window::standout(
                &weighted(s, m.traces[owns[0].comm].member(owns[0].member)),
                noise,
            )
        })
        .collect();
    let mut out = Vec::new();
    for (i, (host, owns)) in hosts.iter().enumerate() {
        let Some(standout) = found[i] else { continue };
        let mut others: Vec<f64> = found
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != i)
            .map(|(_, s)| s.map_or(0.0, |s| s.z))
            .collect();
        let typical = robust::median(&mut others).unwrap_or(0.0);
        others.sort_unstable_by(|a, b| b.total_cmp(a));
        let second = others.get(1).copied().unwrap_or(0.0);
        let stands_out = standout.z >= OUTSTANDING * typical && standout.z >= ABOVE_SECOND * second;
        // Where records lack, the pauses that make a host wander aren't all seen: only the whole run is evidence.
        let seen = standout.whole || !lossy(m, owns);
        if standout.z >= Z && stands_out && seen {
            out.push((host.clone(), owns.as_slice(), standout));
        }
    }
    out
}

fn median_series(m: &Measured, owns: &[&Own]) -> Series {
    let mut values = Vec::new();
    (0..m.grid.len())
        .map(|b| {
            values.clear();
            values.extend(owns.iter().filter_map(|o| o.measured[b]));
            robust::median(&mut values)
        })
        .collect()
}

/// Hosts of late ranks, and of those that they carry along: their lateness is explained.
pub(crate) fn hosts_of(m: &Measured, late: &[LateRank]) -> BTreeSet<String> {
    late.iter()
        .flat_map(LateRank::suspects)
        .map(|p| m.topology.processes[p].host.clone())
        .collect()
}
