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

/// A culprit and those of its communicators inside its host, through which delay passes at once; those over hosts are where it shows.
fn near(m: &Measured, places: &[Vec<(usize, usize)>], culprit: usize) -> BTreeSet<usize> {
    let home = m.topology.processes[culprit].host.as_str();
    let inside = |c: usize| {
        let members = m.topology.comms[c].members.iter();
        members
            .map(|x| x.1.0 as usize)
            .all(|p| m.topology.processes[p].host == home)
    };
    places[culprit]
        .iter()
        .filter(|x| inside(x.0))
        .flat_map(|x| m.topology.comms[x.0].members.iter())
        .map(|x| x.1.0 as usize)
        .chain([culprit])
        .collect()
}

/// A culprit and whom it carries along: those near it, and the replicas of a pipeline that they are in.
pub(super) fn reached(
    m: &Measured,
    places: &[Vec<(usize, usize)>],
    replicas: &Replicas,
    culprit: usize,
) -> BTreeSet<usize> {
    let near = near(m, places, culprit);
    let far: Vec<usize> = near.iter().flat_map(|&p| replicas.fellows(p)).collect();
    near.into_iter().chain(far).collect()
}

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
        let near = near(m, places, culprit);
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

#[cfg(test)]
mod tests {
    use super::super::lateness;
    use super::*;
    use crate::collective::facts::CellFacts;
    use crate::collective::trace::{Bin, Trace};

    /// Two hosts of two ranks: tensor groups 0–1 and 2–3, pipelines 0–2 and 1–3, data-parallel groups 0–2 and 1–3 of the family 2.
    fn job() -> Measured {
        let comms: &[(usize, &[u32])] = &[
            (0, &[0, 1]),
            (0, &[2, 3]),
            (1, &[0, 2]),
            (1, &[1, 3]),
            (2, &[0, 2]),
            (2, &[1, 3]),
        ];
        let mut m = Measured::blank(4, comms);
        for (p, process) in m.topology.processes.iter_mut().enumerate() {
            process.host = format!("host{}", p / 2);
        }
        for c in [2, 3] {
            m.pairs[c].entry((0, 1, 8192)).or_default();
        }
        for c in [0, 1, 4, 5] {
            m.traces[c] = Trace {
                stretches: 96,
                bins: vec![Bin::default(); 2 * 96],
                ..Trace::default()
            };
        }
        m
    }

    fn own(comm: usize, member: usize, process: usize, late: f64) -> Own {
        Own {
            comm,
            member,
            process,
            measured: vec![Some(late); 96],
            own: vec![Some(late); 96],
        }
    }

    fn standout(mean: f64) -> Standout {
        Standout {
            start: 10,
            end: 20,
            mean,
            z: 20.0,
            whole: false,
        }
    }

    /// Rank 0 delays rank 1 of its tensor group, and both the pipelines that they are in: all of the other host.
    #[test]
    fn a_culprit_carries_the_other_stage_along() {
        let mut m = job();
        let carried = |m: &Measured| {
            carried_along(m, &lateness::places(m), &Replicas::of(m), [0].into_iter())
        };
        assert_eq!(carried(&m), BTreeSet::from(["host1".to_owned()]));
        // Without pipelines nobody.
        m.pairs[2].clear();
        m.pairs[3].clear();
        assert!(carried(&m).is_empty());
    }

    /// Of ten operations in each stretch each is 5 µs late: 500 µs in the window. A fifth of it in pauses is enough.
    #[test]
    fn pauses_inside_a_host_explain_its_lateness() {
        let paused = |micros: f64| {
            let mut m = job();
            for c in [4, 5] {
                m.traces[c]
                    .bins
                    .iter_mut()
                    .for_each(|b| b.operations = 10.0);
            }
            m.traces[0].bins[15].event_micros = micros;
            let abroad = [own(4, 0, 0, 5.0), own(5, 0, 1, 5.0)];
            let inside = [own(0, 0, 0, 0.0), own(0, 1, 1, 0.0), own(1, 0, 2, 0.0)];
            let owns: Vec<Own> = abroad.iter().chain(&inside).cloned().collect();
            let here: Vec<&Own> = abroad.iter().collect();
            by_pauses(&m, &owns, "host0", &here, &standout(5.0))
        };
        assert!(paused(100.0));
        assert!(!paused(99.0));
    }

    #[test]
    fn a_fifth_of_collectives_may_lack_ranks() {
        let mut m = job();
        let mut lossy_with = |complete| {
            let cell = CellFacts {
                collectives: 100,
                complete,
                ..CellFacts::default()
            };
            m.facts[4].cells.insert((0, 8192), cell);
            lossy(&m, &[&own(4, 0, 0, 5.0)])
        };
        assert!(!lossy_with(80));
        assert!(lossy_with(79));
    }

    /// Ranks 0 and 1 are 50 µs late in their data-parallel groups. The other ranks of their pipelines share it where they are half as late
    /// in another group of the family.
    #[test]
    fn a_stage_abroad_that_is_as_late_shares_the_delay() {
        let shared = |abroad: f64| {
            let m = job();
            let owns = [
                own(4, 0, 0, 50.0),
                own(5, 0, 1, 50.0),
                own(5, 1, 2, abroad),
                own(4, 1, 3, abroad),
            ];
            let late: Vec<&Own> = owns[..2].iter().collect();
            let mean = |s: &Series| s[10].unwrap_or(0.0);
            shared_abroad(&m, &owns, "host0", &late, &mean, 50.0)
        };
        assert!(shared(25.0));
        assert!(!shared(24.0));
    }

    /// Rank 0 waited 10 µs in Send and Recv in each of ten stretches, its fellow not at all: 100 µs. Late by 5 µs in each of ten operations a
    /// stretch it is 500 µs late in all, of which a fifth suffices.
    #[test]
    fn who_waited_in_the_pipeline_was_delayed_there() {
        let waited_for = |micros: f64| {
            let mut m = job();
            m.traces[4]
                .bins
                .iter_mut()
                .for_each(|b| b.operations = 10.0);
            m.p2p_micros[2] = vec![0.0; 2 * 96];
            m.p2p_micros[2][10..20].fill(micros);
            let o = own(4, 0, 0, 5.0);
            waited(&m, &[&o], &(10..20), &Delay::of(&m, &[]))
        };
        assert!(waited_for(10.0));
        assert!(!waited_for(9.9));
    }
}
