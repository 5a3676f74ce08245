//! Ranks that make the whole replica of a pipeline late.
//!
//! All ranks of a replica share its lateness. Whose it is shows in Send and Recv: the others waited for that rank. Where most of the
//! collectives of a step don't meet the delay, lateness shows it badly, and the waiting itself tells.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::judge::{Judge, LOCAL_SHARE};
use super::late_rank::{LateRank, PASSED_ON, Z, mean};
use super::lateness::{self, Own, Quantity};
use super::pipeline::{AS_LATE, Blame, Index, LEAST_WAITED, Replicas, waited};
use super::waits::Waits;
use crate::collective::trace::Bin;
use crate::statistics::robust;
use crate::statistics::window::Standout;

/// Every replica that is late and holds none of the ranks `known` to be late then: the rank with which it began, or those of whom
/// it is one.
pub(super) fn late_in_replicas(
    judge: &Judge<'_>,
    replicas: &Replicas,
    waits: &Waits,
    known: &[LateRank],
) -> Vec<LateRank> {
    let m = judge.m;
    let apart = lateness::separate(m, judge.places, Quantity::Lateness, &replicas.comms);
    let index = Index::over(m, &apart);
    let mut late: BTreeMap<usize, Vec<LateRank>> = BTreeMap::new();
    for o in &apart {
        let Some(chain) = replicas.chain_of(o.process) else {
            continue;
        };
        let found = if waits.knows(o) {
            judge.late_with_replica(o)
        } else {
            judge.late_by_itself(o)
        };
        late.entry(chain).or_default().extend(found);
    }
    let mut out: Vec<LateRank> = Vec::new();
    let run = 0..m.grid.len();
    for (chain, late) in late {
        let members = || {
            let members = m.topology.comms[chain].members.iter();
            members.map(|x| x.1.0 as usize)
        };
        let processes: BTreeSet<usize> = members().collect();
        let explained = |window: &Range<usize>| {
            known.iter().any(|k| {
                let meet = k.standout.start < window.end && window.start < k.standout.end;
                meet && processes.contains(&k.process)
            })
        };
        let of = |p: usize| {
            let known = index.of_process(p).filter(|o| waits.knows(o));
            known.max_by_key(|o| o.comm)
        };
        let ranks: Vec<&Own> = members().filter_map(of).collect();
        let all = ranks.len() == processes.len()
            && processes.iter().all(|&p| judge.alone(p, replicas))
            && !explained(&run);
        if let Some(found) = all.then(|| waited_for(judge, waits, &ranks)).flatten() {
            out.push(found);
            continue;
        }
        let most = late
            .iter()
            .max_by(|a, b| a.standout.z.total_cmp(&b.standout.z))
            .filter(|most| !explained(&most.window()));
        let ranks: Vec<usize> = members().collect();
        out.extend(most.and_then(|most| in_window(judge, waits, (&ranks, &index), &late, most)));
    }
    out
}

/// The rank with which the lateness of a replica in a window began, or those of whom it is one. `late` are those of its ranks that stand out,
/// `most` the one that does so most.
fn in_window(
    judge: &Judge<'_>,
    waits: &Waits,
    (members, index): (&[usize], &Index<'_>),
    late: &[LateRank],
    most: &LateRank,
) -> Option<LateRank> {
    let m = judge.m;
    let family = m.family_of[most.comm];
    let window = most.window();
    let level = |o: &Own| mean(&o.own, &window);
    // In the same family, or else where its stage meets.
    let place = |&p: &usize| {
        let of = index.of(p, family);
        let latest = of.max_by(|a, b| level(a).total_cmp(&level(b)));
        latest.or_else(|| index.of_process(p).find(|o| waits.knows(o)))
    };
    let ranks: Vec<&Own> = members.iter().filter_map(place).collect();
    let top = ranks.iter().map(|o| level(o)).fold(0.0, f64::max);
    let as_late = ranks.iter().filter(|o| level(o) >= AS_LATE * top);
    let as_late: BTreeSet<usize> = as_late.map(|o| o.process).collect();
    // One delay is seen once by collectives of each function and size at most.
    let cells = m.facts[most.comm].cells.len().max(1);
    let seen = most.micros_late * most.operations / cells as f64;
    match Replicas::blame(m, waits, (&ranks, &as_late), &window, seen) {
        Blame::One(o) => {
            let own = late.iter().find(|l| l.process == o.process).cloned();
            Some(own.unwrap_or_else(|| judge.measure(o, most.standout)))
        }
        Blame::Among(among) => Some(LateRank {
            among,
            ..most.clone()
        }),
        Blame::Nobody => None,
    }
}

/// The rank of a replica for which all the others waited in nearly every step of the run, if they did far beyond what ranks differ by.
fn waited_for(judge: &Judge<'_>, waits: &Waits, ranks: &[&Own]) -> Option<LateRank> {
    let m = judge.m;
    let run = 0..m.grid.len();
    let waited = waited(m, waits, ranks, &run)?;
    let [(culprit, least), others @ ..] = waited.as_slice() else {
        return None;
    };
    let (second, last) = (others.first()?.1, others.last()?.1);
    let gap = second.micros - least.micros;
    let z = gap / second.error.hypot(least.error);
    if z < Z || gap < LEAST_WAITED * (last.micros - least.micros) {
        return None;
    }
    let bins = m.traces[culprit.comm].member(culprit.member);
    let seen = |b: &Bin| b.operations > 0.0;
    let late = judge.measure(
        culprit,
        Standout {
            start: bins.iter().position(seen)?,
            end: bins.iter().rposition(seen)? + 1,
            mean: 0.0,
            z,
            whole: true,
        },
    );
    // What they waited is what the replica comes late by, once a step, and it must be as late at its collectives indeed. Where all that
    // it does is late, lateness shows it whole.
    let mut delays: Vec<f64> = others.iter().map(|w| w.1.micros).collect();
    let delay = robust::median(&mut delays)?;
    let met: f64 = bins.iter().map(|b| b.raw_lateness).sum();
    let lost = met.min(delay).max(late.micros_late * late.operations);
    let members = m.topology.comms[culprit.comm].members.len();
    let time: f64 = m.traces[culprit.comm].bins.iter().map(|b| b.micros).sum();
    let time_lost = lost * (members - 1) as f64;
    let enough = lost >= PASSED_ON * delay && time_lost >= LOCAL_SHARE * time;
    let by_links = judge.by_links(culprit, &run).0;
    let mean = lost / late.operations.max(1.0);
    (enough && by_links < PASSED_ON * lost).then(|| LateRank {
        standout: Standout {
            mean,
            ..late.standout
        },
        micros_late: mean,
        time_lost,
        local_share: time_lost / time.max(1.0),
        ..late
    })
}
