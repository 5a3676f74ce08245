//! What job this is.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Dialect, Overview};
use crate::measured::Measured;
use crate::units::ExecTime;

/// The head of the report.
pub(crate) fn overview(m: &Measured, title: String) -> Overview {
    let hosts: BTreeSet<&str> = m
        .topology
        .processes
        .iter()
        .map(|p| p.host.as_str())
        .collect();
    let (collectives, complete) = m
        .facts
        .iter()
        .fold((0, 0), |a, f| (a.0 + f.collectives(), a.1 + f.complete()));
    let other: u64 = m
        .census
        .timings
        .iter()
        .filter(|(t, _)| **t != m.timing)
        .map(|(_, n)| n)
        .sum();
    let bytes = m
        .census
        .cells
        .iter()
        .filter(|(k, _)| k.timing == m.timing)
        .map(|(_, s)| s.bytes)
        .fold(0, u64::saturating_add);
    Overview {
        title,
        hosts: hosts.into_iter().map(str::to_owned).collect(),
        ranks: m.topology.processes.len() as u64,
        // Runs in one folder are promised their ranks each.
        ranks_expected: expected(m),
        span: m.topology.span(),
        dialects: dialects(m),
        timing: m.timing,
        records_other_timing: other,
        dump_interval: m.dump_interval.map(ExecTime::from_micros),
        sampled: sampled(m),
        time: ExecTime::from_micros(m.total_micros()),
        bytes,
        complete: (collectives > 0).then(|| complete as f64 / collectives as f64),
        bandwidth_mismatches: m.census.mismatches,
    }
}

fn expected(m: &Measured) -> Option<u64> {
    let mut largest: BTreeMap<u32, u64> = BTreeMap::new();
    for c in &m.topology.comms {
        let l = largest.entry(c.run).or_default();
        *l = (*l).max(u64::from(c.n_ranks));
    }
    // A run of many ranks whose communicators are all small promises no more than what is seen.
    let mut seen: BTreeMap<u32, u64> = BTreeMap::new();
    for p in &m.topology.processes {
        *seen.entry(p.run).or_default() += 1;
    }
    (!largest.is_empty()).then(|| {
        largest
            .iter()
            .map(|(run, &n)| n.max(seen.get(run).copied().unwrap_or(0)))
            .sum()
    })
}

fn dialects(m: &Measured) -> Vec<Dialect> {
    let mut by_version: BTreeMap<&str, (BTreeSet<&str>, u64)> = BTreeMap::new();
    for ((version, revision), n) in &m.census.dialects {
        let entry = by_version
            .entry(version.as_deref().unwrap_or("unknown"))
            .or_default();
        entry.0.extend(revision.as_deref());
        entry.1 += n;
    }
    let mut out: Vec<Dialect> = by_version
        .into_iter()
        .map(|(version, (revisions, records))| Dialect {
            version: version.to_owned(),
            git_revs: revisions.into_iter().map(str::to_owned).collect(),
            records,
        })
        .collect();
    out.sort_by(|a, b| {
        b.records
            .cmp(&a.records)
            .then_with(|| a.version.cmp(&b.version))
    });
    out
}

/// The first behaviour of v4.0 keeps one record a communicator between two dumps. Its records have no name (later ones say
/// "unknown" where there is none), there are no Send/Recv, no dump statistics, and no two records of one communicator are
/// written together.
pub(crate) fn sampled(m: &Measured) -> bool {
    let v4_0 = m
        .census
        .dialects
        .keys()
        .any(|(v, _)| v.as_deref() == Some("v4.0"));
    let no_p2p = m.pairs.iter().all(BTreeMap::is_empty);
    let no_stats = m.dropped.iter().all(Option::is_none);
    v4_0 && !m.census.named && no_p2p && no_stats && m.census.gaps.one_a_dump()
}
