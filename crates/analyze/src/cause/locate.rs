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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::window::Standout;

    const KIND: Kind = Kind {
        family: 0,
        p2p: false,
        network: true,
    };

    /// A unit whose transfers take so many times as long as they should, which costs 10 µs in each stretch where that is more than once.
    fn unit(processes: &[usize], ratio: f64, kind: Kind) -> Unit {
        Unit {
            comm: 0,
            pair: None,
            processes: processes.to_vec(),
            network: true,
            kind,
            ratio: vec![Some(ratio); 96],
            excess: vec![if ratio > 1.0 { 10.0 } else { 0.0 }; 96],
            time: vec![100.0; 96],
            chunks: vec![1.0; 96],
            sparse: false,
            partial: false,
            operations: 100.0,
        }
    }

    /// Six processes, two on each of three hosts.
    fn job() -> Measured {
        let mut m = Measured::blank(6, &[(0, &[0, 1, 2, 3, 4, 5])]);
        for (p, process) in m.topology.processes.iter_mut().enumerate() {
            process.host = format!("host{}", p / 2);
        }
        m
    }

    /// What explains the units that are slow in stretches 10 to 20, of the whole run or of it alone.
    fn links(units: &[Unit], whole: bool) -> Vec<(Scope, Vec<usize>, Vec<String>)> {
        let slow: Vec<Slow> = (0..units.len())
            .filter(|&u| units[u].ratio[0] > Some(1.5))
            .map(|unit| Slow {
                unit,
                standout: Standout {
                    start: 10,
                    end: 20,
                    mean: 0.7,
                    z: 20.0,
                    whole,
                },
                ratio: 2.0,
            })
            .collect();
        localise(&job(), units, &slow, true)
            .into_iter()
            .map(|l| (l.scope, l.processes, l.hosts))
            .collect()
    }

    #[test]
    fn a_card_lies_in_all_that_is_slow_and_in_nothing_fast() {
        let units = [
            unit(&[0, 2], 2.0, KIND),
            unit(&[0, 4], 2.0, KIND),
            unit(&[2, 4], 1.0, KIND),
        ];
        assert_eq!(links(&units, true), [(Scope::Nic, vec![0], vec![])]);
    }

    #[test]
    fn what_explains_as_much_is_a_candidate() {
        let units = [unit(&[0, 2], 2.0, KIND), unit(&[1, 3], 1.0, KIND)];
        assert_eq!(links(&units, true), [(Scope::Nic, vec![0, 2], vec![])]);
        // A unit of another kind that is fast clears nobody, but chooses.
        let pairs = Kind { family: 1, ..KIND };
        let others = [unit(&[2, 5], 1.0, pairs), unit(&[3, 5], 1.0, pairs)];
        let more = [&units[..], &others].concat();
        assert_eq!(links(&more, true), [(Scope::Nic, vec![0], vec![])]);
    }

    /// Cards 0 and 1 are each in one of the slow, their host in both; 2 to 5 are cleared.
    #[test]
    fn a_host_explains_what_no_card_does() {
        let units = [
            unit(&[0, 2], 2.0, KIND),
            unit(&[1, 4], 2.0, KIND),
            unit(&[2, 4], 1.0, KIND),
            unit(&[3, 5], 1.0, KIND),
        ];
        let host = (Scope::Host, vec![], vec!["host0".to_owned()]);
        assert_eq!(links(&units, true), [host]);
    }

    #[test]
    fn two_faults_are_two_links() {
        let units = [
            unit(&[0, 2], 2.0, KIND),
            unit(&[0, 4], 2.0, KIND),
            unit(&[3, 4], 2.0, KIND),
            unit(&[2, 4], 1.0, KIND),
        ];
        let expected = [(Scope::Nic, vec![0], vec![]), (Scope::Nic, vec![3], vec![])];
        assert_eq!(links(&units, true), expected);
    }

    /// Slow all the time and alone of its kind: against what? Slow for a time it is slow against the rest of the run.
    #[test]
    fn without_anything_fast_only_another_time_is_a_reference() {
        let units = [unit(&[0, 2], 2.0, KIND)];
        assert!(links(&units, true).is_empty());
        assert_eq!(links(&units, false), [(Scope::Nic, vec![0, 2], vec![])]);
    }

    /// Two units of 10 µs too much in each of ten stretches.
    #[test]
    fn the_loss_is_that_of_the_units_explained() {
        let units = [
            unit(&[0, 2], 2.0, KIND),
            unit(&[0, 4], 2.0, KIND),
            unit(&[2, 4], 1.0, KIND),
        ];
        let standout = Standout {
            start: 10,
            end: 20,
            mean: 0.7,
            z: 20.0,
            whole: true,
        };
        let slow = [0, 1].map(|unit| Slow {
            unit,
            standout,
            ratio: 2.0,
        });
        let found = localise(&job(), &units, &slow, true);
        assert_eq!(
            (found.len(), found[0].time_lost, found[0].fast),
            (1, 200.0, 1)
        );
    }
}
