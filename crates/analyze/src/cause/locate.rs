//! Which links explain the communicators and pairs that are slow.
//!
//! The smallest set of cards (or hosts) that lies in all of the slow and in none of the fast. A fast unit clears its members only of
//! what its own kind would show: a communicator over many cards of a host can be held up by another part of the network so far that
//! one slow card, or a slow host, makes it no slower. What such units say chooses among candidates that are left.

use std::collections::{BTreeMap, BTreeSet};

use super::slow_link::{Slow, SlowLink};
use super::transfer::{Kind, Unit};
use crate::facts::Scope;
use crate::measured::Measured;
use crate::statistics::robust;

/// Up to this a unit counts as fast.
const FAST: f64 = 1.05;

/// Explains units that are slow at the same time by as few links as possible.
pub(super) fn localise(
    m: &Measured,
    units: &[Unit],
    slow: &[Slow],
    network: bool,
) -> Vec<SlowLink> {
    let Some(first) = slow.first() else {
        return Vec::new();
    };
    let fast = fast(units, slow, network, first);
    let kinds: BTreeSet<Kind> = slow.iter().map(|s| units[s.unit].kind).collect();
    let clear = Cleared::by(m, units, &fast);
    // Slow against what? Without a fast one of a kind there is nothing to compare with, but for another time of the run.
    let mut left: Vec<Slow> = slow
        .iter()
        .copied()
        .filter(|s| !s.standout.whole || clear.processes.contains_key(&units[s.unit].kind))
        .collect();
    let mut out = Vec::new();
    while !left.is_empty() {
        let suspects = Suspects::of(m, units, &left, network, &clear);
        let most_process = suspects.processes.values().map(BTreeSet::len).max();
        let most_host = suspects.hosts.values().map(BTreeSet::len).max();
        let of_cards = if network { Scope::Nic } else { Scope::Nvlink };
        let (scope, processes, hosts, covered) = match (most_process, most_host) {
            // Every member is cleared by a fast unit: the fault lies between them, and the strongest unit stands for itself.
            (None, None) => {
                let members = units[left[0].unit].processes.clone();
                (of_cards, members, Vec::new(), BTreeSet::from([0]))
            }
            // As many units as a host explains: the card is the smaller claim. Equal claims are all candidates.
            (Some(cards), hosts) if hosts.is_none_or(|hosts| cards >= hosts) => {
                let (same, covered) = equal(suspects.processes, cards);
                let same = not_cleared(same, |p| clear.everywhere.contains(p));
                (of_cards, same, Vec::new(), covered)
            }
            (_, hosts) => {
                let (same, covered) = equal(suspects.hosts, hosts.unwrap_or(0));
                let same = not_cleared(same, |h| clear.hosts_everywhere.contains(h));
                let same = same.into_iter().map(str::to_owned).collect();
                (Scope::Host, Vec::new(), same, covered)
            }
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

/// Units that are fast while those are slow. Alone of its kind, a unit is its own reference and clears nobody.
fn fast(units: &[Unit], slow: &[Slow], network: bool, first: &Slow) -> Vec<usize> {
    let is_slow: BTreeSet<usize> = slow.iter().map(|s| s.unit).collect();
    let mut siblings: BTreeMap<Kind, usize> = BTreeMap::new();
    for u in units {
        *siblings.entry(u.kind).or_default() += 1;
    }
    let window = first.standout.start..first.standout.end;
    (0..units.len())
        .filter(|&i| units[i].network == network && !is_slow.contains(&i))
        .filter(|&i| siblings[&units[i].kind] > 1)
        .filter(|&i| {
            let inside = units[i].ratio[window.clone()].iter().flatten();
            robust::median(&mut inside.copied().collect::<Vec<_>>()).is_some_and(|r| r < FAST)
        })
        .collect()
}

/// Whom fast units clear.
struct Cleared<'a> {
    /// Processes, of what units of a kind show.
    processes: BTreeMap<Kind, BTreeSet<usize>>,
    /// Their hosts.
    hosts: BTreeMap<Kind, BTreeSet<&'a str>>,
    /// Processes in any of them.
    everywhere: BTreeSet<usize>,
    /// Their hosts.
    hosts_everywhere: BTreeSet<&'a str>,
}

impl<'a> Cleared<'a> {
    fn by(m: &'a Measured, units: &[Unit], fast: &[usize]) -> Self {
        let mut out = Self {
            processes: BTreeMap::new(),
            hosts: BTreeMap::new(),
            everywhere: BTreeSet::new(),
            hosts_everywhere: BTreeSet::new(),
        };
        for unit in fast.iter().map(|&f| &units[f]) {
            let hosts = unit
                .processes
                .iter()
                .map(|&p| m.topology.processes[p].host.as_str());
            out.hosts_everywhere.extend(hosts.clone());
            out.everywhere.extend(&unit.processes);
            out.hosts.entry(unit.kind).or_default().extend(hosts);
            out.processes
                .entry(unit.kind)
                .or_default()
                .extend(&unit.processes);
        }
        out
    }
}

/// Who may be why: of each suspect the slow units that it would explain.
struct Suspects<'a> {
    processes: BTreeMap<usize, BTreeSet<usize>>,
    hosts: BTreeMap<&'a str, BTreeSet<usize>>,
}

impl<'a> Suspects<'a> {
    fn of(
        m: &'a Measured,
        units: &[Unit],
        slow: &[Slow],
        network: bool,
        clear: &Cleared<'_>,
    ) -> Self {
        let mut out = Self {
            processes: BTreeMap::new(),
            hosts: BTreeMap::new(),
        };
        for (k, unit) in slow.iter().map(|s| &units[s.unit]).enumerate() {
            let processes = clear.processes.get(&unit.kind);
            let hosts = clear.hosts.get(&unit.kind);
            for p in &unit.processes {
                let host = m.topology.processes[*p].host.as_str();
                if processes.is_none_or(|c| !c.contains(p)) {
                    out.processes.entry(*p).or_default().insert(k);
                }
                if network && hosts.is_none_or(|c| !c.contains(host)) {
                    out.hosts.entry(host).or_default().insert(k);
                }
            }
        }
        out
    }
}

/// Of those that explain most, the first and all that explain the same.
fn equal<K: Ord>(suspects: BTreeMap<K, BTreeSet<usize>>, most: usize) -> (Vec<K>, BTreeSet<usize>) {
    let first = suspects
        .values()
        .find(|v| v.len() == most)
        .cloned()
        .unwrap_or_default();
    let same = suspects
        .into_iter()
        .filter(|(_, v)| *v == first)
        .map(|(k, _)| k)
        .collect();
    (same, first)
}

/// Those that nothing clears, if there are any.
fn not_cleared<K>(suspects: Vec<K>, cleared: impl Fn(&K) -> bool) -> Vec<K> {
    if suspects.iter().all(&cleared) {
        return suspects;
    }
    suspects.into_iter().filter(|s| !cleared(s)).collect()
}
