//! What the figures of findings are drawn from.

use std::collections::BTreeMap;

use super::lateness::Own;
use super::transfer::Unit;
use crate::facts::{CollectiveTimeline, Finding, HeatMap, ProcessId, RankArrival};
use crate::measured::Measured;
use crate::units::{ExecTime, MessageSize};

/// Rank × time: lateness of its own, and slowness of the transfers that it takes part in.
pub(crate) fn heat_maps(m: &Measured, owns: &[Own], units: &[Unit]) -> Vec<HeatMap> {
    let stretches = m.grid.len();
    let n = m.topology.processes.len();
    let mut late = vec![(0.0, 0.0); n * stretches];
    for o in owns {
        let bins = m.traces[o.comm].member(o.member);
        for b in 0..stretches {
            if let Some(v) = o.at(b) {
                let cell = &mut late[o.process * stretches + b];
                *cell = (
                    cell.0 + v.max(0.0) * bins[b].operations,
                    cell.1 + bins[b].operations,
                );
            }
        }
    }
    let mut slow = vec![(0.0, 0.0); n * stretches];
    for u in units {
        for &p in &u.processes {
            for b in 0..stretches {
                if let Some(r) = u.ratio[b] {
                    let cell = &mut slow[p * stretches + b];
                    *cell = (cell.0 + u.time[b], cell.1 + u.time[b] / r);
                }
            }
        }
    }
    let map = |title: &str, unit: &str, sums: &[(f64, f64)], neutral| {
        let values: Vec<Option<f64>> = sums
            .iter()
            .map(|s| (s.1 > 0.0).then(|| s.0 / s.1))
            .collect();
        let mut edges: Vec<_> = (0..stretches).map(|b| m.grid.bounds(b).0).collect();
        edges.extend(stretches.checked_sub(1).map(|last| m.grid.bounds(last).1));
        HeatMap {
            title: title.into(),
            unit: unit.into(),
            rows: (0..n)
                .map(|p| ProcessId(u32::try_from(p).unwrap_or(u32::MAX)))
                .collect(),
            edges,
            values,
            neutral,
        }
    };
    let mut out = Vec::new();
    if late.iter().any(|s| s.1 > 0.0) {
        out.push(map(
            "Late arrival of a rank's own, mean over its collectives",
            "µs",
            &late,
            0.0,
        ));
    }
    if slow.iter().any(|s| s.1 > 0.0) {
        out.push(map("Transfer time of a rank's communicators and pairs, against the fast ones of their kind", "×", &slow, 1.0));
    }
    out
}

/// For each finding about a rank, the collective of its communicator that waited longest for one rank, if it was that rank.
pub(crate) fn timelines(
    m: &Measured,
    findings: &[(Finding, Option<(usize, usize)>)],
) -> Vec<CollectiveTimeline> {
    let mut out = Vec::new();
    for (finding, place) in findings {
        let &Some((comm, member)) = place else {
            continue;
        };
        let Some((_, rows)) = &m.traces[comm].worst else {
            continue;
        };
        let longest = rows.iter().map(|r| r.micros).fold(0.0, f64::max);
        let Some(last) = rows.iter().min_by(|a, b| a.micros.total_cmp(&b.micros)) else {
            continue;
        };
        if last.member as usize != member {
            continue;
        }
        let shortest = last.micros;
        let by_member: BTreeMap<u32, f64> = rows.iter().map(|r| (r.member, r.micros)).collect();
        out.push(CollectiveTimeline {
            finding: finding.id.clone(),
            communicator: u32::try_from(comm).unwrap_or(u32::MAX),
            operation: m.function(last.function).to_owned(),
            sequence_number: last.sequence_number.unsigned_abs(),
            size: MessageSize::from_bytes(last.size),
            ranks: by_member
                .into_iter()
                .map(|(i, micros)| {
                    let (rank, process, _) = m.topology.comms[comm].members[i as usize];
                    RankArrival {
                        rank,
                        process: Some(process),
                        arrival: ExecTime::from_micros(longest - micros),
                        wait: ExecTime::from_micros(micros - shortest),
                        exec_time: ExecTime::from_micros(micros),
                    }
                })
                .collect(),
        });
    }
    out
}
