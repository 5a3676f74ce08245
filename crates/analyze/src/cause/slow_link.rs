//! Links that are slow though nobody is late.
//!
//! A slow link shows in every communicator and pair that uses it, and in none that doesn't. So: find the units that take
//! longer than the fast ones of their kind, and then the smallest set of cards (or hosts) that lies in all of the slow and
//! in none of the fast. Where several remain, all are named.

use std::collections::{BTreeMap, BTreeSet};

use super::lateness::Series;
use super::transfer::{Kind, Unit};
use crate::facts::Scope;
use crate::measured::Measured;
use crate::statistics::robust;
use crate::statistics::window::{self, Noise, Point, Standout};

/// Transfers of a slow unit take at least this much longer. Communicators of one shape differ by a few percent by where their
/// ranks sit on the switches; a card that lost a lane or a rate step loses a quarter at least.
const SLOW: f64 = 1.12;

/// Where the transfer had to be estimated from the ranks that wait least, it still contains some waiting, here more, there less.
const SLOW_SPARSE: f64 = 1.3;

/// Up to this a unit counts as fast.
const FAST: f64 = 1.05;

/// Times the noise; see `late_rank`.
const Z: f64 = 6.0;

/// Windows of one cause overlap by at least this part of their union.
const SAME_WINDOW: f64 = 0.5;

/// A fault of the fabric touches nearly all network units.
const FABRIC: f64 = 0.8;

/// A link, or links of which one is slow.
#[derive(Debug, Clone)]
pub(crate) struct SlowLink {
    /// Which links.
    pub(crate) scope: Scope,
    /// Candidate processes; empty for a host or the fabric.
    pub(crate) processes: Vec<usize>,
    /// Candidate hosts; empty for cards.
    pub(crate) hosts: Vec<String>,
    /// When.
    pub(crate) standout: Standout,
    /// Time over that of the fast ones, in the window.
    pub(crate) ratio: f64,
    /// Slow units, as indices.
    pub(crate) units: Vec<usize>,
    /// Units of the same kinds that are fast.
    pub(crate) fast: usize,
    /// Kernel time above the reference, µs.
    pub(crate) time_lost: f64,
}

/// A unit found slow.
#[derive(Debug, Clone, Copy)]
struct Slow {
    unit: usize,
    standout: Standout,
    ratio: f64,
}

/// Every slow link, by time lost.
pub(crate) fn slow_links(m: &Measured, units: &[Unit]) -> Vec<SlowLink> {
    let slow = slow_units(units);
    let mut out = Vec::new();
    let mut rest = Vec::new();
    match fabric(m, units) {
        Some((link, covered)) => {
            rest.extend(slow.into_iter().filter(|s| {
                !covered.contains(&s.unit) || overlap(&s.standout, &link.standout) < SAME_WINDOW
            }));
            out.push(link);
        }
        None => rest.extend(slow),
    }
    for network in [false, true] {
        let mine: Vec<Slow> = rest
            .iter()
            .copied()
            .filter(|s| units[s.unit].network == network)
            .collect();
        for together in by_window(mine) {
            out.extend(localise(m, units, &together, network));
        }
    }
    out.sort_by(|a, b| {
        b.time_lost
            .total_cmp(&a.time_lost)
            .then_with(|| a.units.cmp(&b.units))
    });
    out
}

fn logs(unit: &Unit) -> Series {
    unit.ratio.iter().map(|r| r.map(f64::ln)).collect()
}

fn points(series: &Series, weights: &[f64]) -> Vec<Option<Point>> {
    series
        .iter()
        .zip(weights)
        .map(|(v, &weight)| v.map(|value| Point { value, weight }))
        .collect()
}

fn slow_units(units: &[Unit]) -> Vec<Slow> {
    let noises = noises(units);
    let mut out = Vec::new();
    for (i, unit) in units.iter().enumerate() {
        let Some(standout) =
            window::standout(&points(&logs(unit), &unit.chunks), noises[&unit.kind])
        else {
            continue;
        };
        let ratio = standout.mean.exp();
        if standout.z >= Z && ratio >= if unit.sparse { SLOW_SPARSE } else { SLOW } {
            out.push(Slow {
                unit: i,
                standout,
                ratio,
            });
        }
    }
    out
}

fn noises(units: &[Unit]) -> BTreeMap<Kind, Noise> {
    let mut by_kind: BTreeMap<Kind, Vec<Series>> = BTreeMap::new();
    for u in units {
        by_kind.entry(u.kind).or_default().push(logs(u));
    }
    // A thousandth: medians of whole microseconds aren't surer than that.
    by_kind
        .into_iter()
        .map(|(k, s)| (k, window::noise(&s, 1e-3)))
        .collect()
}

/// A time in which nearly every network transfer was slow: the fabric. Needs a rest of the run to compare with.
fn fabric(m: &Measured, units: &[Unit]) -> Option<(SlowLink, BTreeSet<usize>)> {
    let network: Vec<usize> = (0..units.len()).filter(|&i| units[i].network).collect();
    // Of each unit, the ratio against its own usual pace.
    let own: Vec<Series> = network
        .iter()
        .map(|&i| {
            let logs = logs(&units[i]);
            let usual = robust::median(&mut logs.iter().flatten().copied().collect::<Vec<_>>())
                .unwrap_or(0.0);
            logs.into_iter().map(|v| v.map(|v| v - usual)).collect()
        })
        .collect();
    // Pooled they are sharper than any unit alone.
    let pooled: Series = (0..m.grid.len())
        .map(|b| robust::median(&mut own.iter().filter_map(|s| s[b]).collect::<Vec<_>>()))
        .collect();
    let chunks: Vec<f64> = (0..m.grid.len())
        .map(|b| network.iter().map(|&i| units[i].chunks[b]).sum())
        .collect();
    let noise = window::noise(std::slice::from_ref(&pooled), 1e-3);
    let standout = window::standout(&points(&pooled, &chunks), noise)?;
    if standout.whole || standout.z < Z || standout.mean.exp() < SLOW {
        return None;
    }
    let inside = standout.start..standout.end;
    let level = |s: &Series| {
        let (sum, n) = s[inside.clone()]
            .iter()
            .flatten()
            .fold((0.0, 0_u32), |a, v| (a.0 + v, a.1 + 1));
        (n > 0).then(|| sum / f64::from(n))
    };
    let levels: Vec<(usize, f64)> = network
        .iter()
        .zip(&own)
        .filter_map(|(&i, s)| Some((i, level(s)?)))
        .collect();
    let covered: BTreeSet<usize> = levels
        .iter()
        .filter(|x| x.1 >= 0.5 * standout.mean)
        .map(|x| x.0)
        .collect();
    if (covered.len() as f64) < FABRIC * levels.len() as f64 {
        return None;
    }
    let time_lost = covered
        .iter()
        .map(|&i| units[i].excess[inside.clone()].iter().sum::<f64>())
        .sum();
    let hosts = m
        .topology
        .processes
        .iter()
        .map(|p| p.host.clone())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let link = SlowLink {
        scope: Scope::Fabric,
        processes: Vec::new(),
        hosts,
        standout,
        ratio: standout.mean.exp(),
        units: covered.iter().copied().collect(),
        fast: network.len() - covered.len(),
        time_lost,
    };
    Some((link, covered))
}

fn overlap(a: &Standout, b: &Standout) -> f64 {
    let shared = a.end.min(b.end).saturating_sub(a.start.max(b.start));
    let union = a.end.max(b.end) - a.start.min(b.start);
    shared as f64 / union.max(1) as f64
}

/// Slow units grouped by when they are slow.
fn by_window(mut slow: Vec<Slow>) -> Vec<Vec<Slow>> {
    slow.sort_by(|a, b| {
        b.standout
            .z
            .total_cmp(&a.standout.z)
            .then(a.unit.cmp(&b.unit))
    });
    let mut groups: Vec<Vec<Slow>> = Vec::new();
    for s in slow {
        let near = |g: &Vec<Slow>| {
            (g[0].standout.whole && s.standout.whole)
                || overlap(&g[0].standout, &s.standout) >= SAME_WINDOW
        };
        match groups.iter_mut().find(|g| near(g)) {
            Some(g) => g.push(s),
            None => groups.push(vec![s]),
        }
    }
    groups
}

/// Explains units that are slow at the same time by as few links as possible.
fn localise(m: &Measured, units: &[Unit], slow: &[Slow], network: bool) -> Vec<SlowLink> {
    let when = slow[0].standout;
    let is_slow: BTreeSet<usize> = slow.iter().map(|s| s.unit).collect();
    let kinds: BTreeSet<Kind> = slow.iter().map(|s| units[s.unit].kind).collect();
    // Alone of its kind, a unit is its own reference and clears nobody.
    let siblings = units
        .iter()
        .fold(BTreeMap::new(), |mut n: BTreeMap<Kind, usize>, u| {
            *n.entry(u.kind).or_default() += 1;
            n
        });
    let fast: Vec<usize> = (0..units.len())
        .filter(|&i| {
            units[i].network == network && !is_slow.contains(&i) && siblings[&units[i].kind] > 1
        })
        .filter(|&i| {
            let mut inside: Vec<f64> = units[i].ratio[when.start..when.end]
                .iter()
                .flatten()
                .copied()
                .collect();
            robust::median(&mut inside).is_some_and(|r| r < FAST)
        })
        .collect();
    // Slow against what? Without a fast one of a kind there is nothing to compare with, but for another time of the run.
    let mut left: Vec<Slow> = slow
        .iter()
        .copied()
        .filter(|s| !s.standout.whole || fast.iter().any(|&f| units[f].kind == units[s.unit].kind))
        .collect();
    let cleared_processes: BTreeSet<usize> = fast
        .iter()
        .flat_map(|&f| units[f].processes.iter().copied())
        .collect();
    let host = |p: usize| m.topology.processes[p].host.as_str();
    let cleared_hosts: BTreeSet<&str> = cleared_processes.iter().map(|&p| host(p)).collect();

    let mut out = Vec::new();
    while !left.is_empty() {
        let mut by_process: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut by_host: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (k, s) in left.iter().enumerate() {
            for &p in &units[s.unit].processes {
                if !cleared_processes.contains(&p) {
                    by_process.entry(p).or_default().push(k);
                }
                if network && !cleared_hosts.contains(host(p)) {
                    by_host.entry(host(p)).or_default().insert(k);
                }
            }
        }
        let most_process = by_process.values().map(Vec::len).max().unwrap_or(0);
        let most_host = by_host.values().map(BTreeSet::len).max().unwrap_or(0);
        let (scope, processes, hosts, covered): (Scope, Vec<usize>, Vec<String>, BTreeSet<usize>) =
            if most_process == 0 && most_host == 0 {
                // Every member is cleared by a fast unit: the fault lies between them, and the strongest unit stands for itself.
                let members = units[left[0].unit].processes.clone();
                (
                    if network { Scope::Nic } else { Scope::Nvlink },
                    members,
                    Vec::new(),
                    BTreeSet::from([0]),
                )
            } else if most_process >= most_host {
                // As many units as a host explains: the card is the smaller claim. Equal claims are all candidates.
                let first = by_process
                    .values()
                    .find(|v| v.len() == most_process)
                    .cloned()
                    .unwrap_or_default();
                let same: Vec<usize> = by_process
                    .iter()
                    .filter(|(_, v)| **v == first)
                    .map(|(&p, _)| p)
                    .collect();
                (
                    if network { Scope::Nic } else { Scope::Nvlink },
                    same,
                    Vec::new(),
                    first.into_iter().collect(),
                )
            } else {
                let first = by_host
                    .values()
                    .find(|v| v.len() == most_host)
                    .cloned()
                    .unwrap_or_default();
                let same: Vec<String> = by_host
                    .iter()
                    .filter(|(_, v)| **v == first)
                    .map(|(h, _)| (*h).to_owned())
                    .collect();
                (Scope::Host, Vec::new(), same, first)
            };
        let explained: Vec<Slow> = covered.iter().map(|&k| left[k]).collect();
        left = left
            .iter()
            .enumerate()
            .filter(|(k, _)| !covered.contains(k))
            .map(|(_, s)| *s)
            .collect();
        let inside = |s: &Slow| s.standout.start..s.standout.end;
        out.push(SlowLink {
            scope,
            processes,
            hosts,
            standout: explained[0].standout,
            ratio: robust::median(&mut explained.iter().map(|s| s.ratio).collect::<Vec<_>>())
                .unwrap_or(1.0),
            time_lost: explained
                .iter()
                .map(|s| units[s.unit].excess[inside(s)].iter().sum::<f64>())
                .sum(),
            units: explained.iter().map(|s| s.unit).collect(),
            fast: fast
                .iter()
                .filter(|&&f| kinds.contains(&units[f].kind))
                .count(),
        });
    }
    out
}
