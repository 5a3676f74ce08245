//! Hosts that are late because of others: their ranks' pauses, a culprit elsewhere, a pipeline.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::delay::Delay;
use super::late_rank::LateRank;
use super::lateness::{Own, Series};
use super::pipeline::Replicas;
use crate::measured::Measured;
use crate::statistics::robust;
use crate::statistics::window::Standout;

/// Pauses explain a host's lateness from this part on: operations that overlap with computing see the same delay several times.
const PAUSES: f64 = 0.2;

/// Hosts most of whose ranks a culprit carries along: those in its communicators, and the replicas of a pipeline that they are in.
pub(super) fn carried_along(
    m: &Measured,
    places: &[Vec<(usize, usize)>],
    replicas: &Replicas,
    culprits: impl Iterator<Item = usize>,
) -> BTreeSet<String> {
    let mut ranks: BTreeMap<&str, usize> = BTreeMap::new();
    for p in &m.topology.processes {
        *ranks.entry(p.host.as_str()).or_default() += 1;
    }
    let mut out = BTreeSet::new();
    for culprit in culprits {
        // Communicators inside its host carry delay on at once; those over hosts are where it shows.
        let home = m.topology.processes[culprit].host.as_str();
        let inside = |c: usize| {
            let members = m.topology.comms[c].members.iter();
            members
                .map(|x| x.1.0 as usize)
                .all(|p| m.topology.processes[p].host == home)
        };
        let near: BTreeSet<usize> = places[culprit]
            .iter()
            .filter(|x| inside(x.0))
            .flat_map(|x| m.topology.comms[x.0].members.iter())
            .map(|x| x.1.0 as usize)
            .chain([culprit])
            .collect();
        let far: BTreeSet<usize> = near.iter().flat_map(|&p| replicas.fellows(p)).collect();
        let mut carried: BTreeMap<&str, usize> = BTreeMap::new();
        for &p in &far {
            *carried
                .entry(m.topology.processes[p].host.as_str())
                .or_default() += 1;
        }
        let most = carried.into_iter().filter(|(h, n)| 2 * n >= ranks[h]);
        out.extend(most.map(|x| x.0.to_owned()));
    }
    out
}

/// Whether pauses of single ranks on the host explain its lateness: they delay its other ranks through the communicators
/// inside the host, a different rank each time.
pub(super) fn by_pauses(
    m: &Measured,
    owns: &[Own],
    host: &str,
    owns_here: &[&Own],
    standout: &Standout,
) -> bool {
    let window = standout.start..standout.end;
    let mut events: BTreeMap<&str, f64> = BTreeMap::new();
    for o in owns {
        let mut hosts = m.topology.comms[o.comm]
            .members
            .iter()
            .map(|x| m.topology.processes[x.1.0 as usize].host.as_str());
        let home = m.topology.processes[o.process].host.as_str();
        if hosts.all(|h| h == home) {
            *events.entry(home).or_default() += m.traces[o.comm].member(o.member)[window.clone()]
                .iter()
                .map(|b| b.event_micros)
                .sum::<f64>();
        }
    }
    let mine = events.remove(host).unwrap_or(0.0);
    let elsewhere = robust::median(&mut events.into_values().collect::<Vec<_>>()).unwrap_or(0.0);
    let late: f64 = owns_here
        .iter()
        .map(|o| lateness_in(m, o, &window))
        .sum::<f64>()
        / owns_here.len().max(1) as f64;
    mine - elsewhere >= PAUSES * late
}

/// What a rank is late by in a communicator in a window, µs in all.
fn lateness_in(m: &Measured, o: &Own, window: &Range<usize>) -> f64 {
    let bins = &m.traces[o.comm].member(o.member)[window.clone()];
    bins.iter()
        .zip(&o.measured[window.clone()])
        .map(|(b, v)| v.unwrap_or(0.0).max(0.0) * b.operations)
        .sum()
}

/// Whether so many collectives lack ranks that waiting in Send and Recv won't be whole either.
pub(super) fn lossy(m: &Measured, owns: &[&Own]) -> bool {
    let (collectives, complete) = owns.iter().fold((0, 0), |a, o| {
        (
            a.0 + m.facts[o.comm].collectives(),
            a.1 + m.facts[o.comm].complete(),
        )
    });
    5 * complete < 4 * collectives
}

/// Whether a host's ranks waited longer in Send and Recv than their peers in the same stage: then the delay came to them
/// through the pipeline. The culprit of the replica is waited for.
pub(super) fn waited(m: &Measured, late: &[&Own], window: &Range<usize>, delay: &Delay) -> bool {
    let waited: f64 = late
        .iter()
        .map(|o| delay.beyond_fellows(m, o, window))
        .sum();
    let late: f64 = late.iter().map(|o| lateness_in(m, o, window)).sum();
    waited >= PAUSES * late
}

/// Whether fellows on other hosts are as late, so that the delay isn't the host's: another stage of the same pipeline replica.
pub(super) fn shared_abroad(
    m: &Measured,
    owns: &[Own],
    host: &str,
    late: &[&Own],
    mean: &dyn Fn(&Series) -> f64,
    level: f64,
) -> bool {
    let by_process: BTreeMap<usize, Vec<&Own>> = owns.iter().fold(BTreeMap::new(), |mut map, o| {
        map.entry(o.process).or_insert_with(Vec::new).push(o);
        map
    });
    let (mut shared, mut asked) = (0, 0);
    for o in late {
        let family = m.family_of[o.comm];
        for through in by_process[&o.process]
            .iter()
            .map(|x| x.comm)
            .chain(pipelines(m, o.process))
        {
            if m.family_of[through] == family {
                continue;
            }
            let mut levels: Vec<f64> = m.topology.comms[through]
                .members
                .iter()
                .map(|x| x.1.0 as usize)
                .filter(|&p| m.topology.processes[p].host != host)
                .flat_map(|p| by_process.get(&p).into_iter().flatten())
                .filter(|x| m.family_of[x.comm] == family && x.comm != o.comm)
                .map(|x| mean(&x.measured))
                .collect();
            if let Some(median) = robust::median(&mut levels) {
                asked += 1;
                shared += usize::from(median >= 0.5 * level);
            }
        }
    }
    asked > 0 && 2 * shared >= late.len()
}

fn pipelines(m: &Measured, process: usize) -> impl Iterator<Item = usize> + '_ {
    (0..m.pairs.len()).filter(move |&c| {
        !m.pairs[c].is_empty()
            && m.topology.comms[c]
                .members
                .iter()
                .any(|x| x.1.0 as usize == process)
    })
}

/// Whether a culprit on a host that shares no communicator with this one, but those of everybody, is as late in the same family:
/// then both may belong to one replica of a pipeline whose Send and Recv left no records.
pub(super) fn unseen_link(
    m: &Measured,
    owns: &[Own],
    culprit: &LateRank,
    host: &str,
    owns_here: &[&Own],
    standout: &Standout,
) -> bool {
    let everybody = m.topology.processes.len();
    let apart = !m.topology.comms.iter().any(|c| {
        let sits = |p: usize| m.topology.processes[p].host == host;
        c.members.len() < everybody
            && c.members.iter().any(|x| x.1.0 as usize == culprit.process)
            && c.members.iter().any(|x| sits(x.1.0 as usize))
    });
    let family = owns_here.first().map(|o| m.family_of[o.comm]);
    (apart || lossy(m, owns_here))
        && owns
            .iter()
            .filter(|o| o.process == culprit.process && Some(m.family_of[o.comm]) == family)
            .any(|o| {
                let mut inside: Vec<f64> = o.measured[standout.start..standout.end]
                    .iter()
                    .flatten()
                    .copied()
                    .collect();
                robust::median(&mut inside).is_some_and(|level| level >= 0.5 * standout.mean)
            })
}
