//! Stages of a pipeline, and whether one as a whole takes longer.

use std::collections::{BTreeMap, BTreeSet};

use crate::measured::Measured;
use crate::statistics::robust;

/// A stage computes this much longer than the others before it is worth telling. It is information, never an accusation.
const IMBALANCE: f64 = 0.05;

/// With less of the collectives recorded, communication time doesn't tell computing time.
const COMPLETE: f64 = 0.9;

/// The stage of each process: (family of the pipeline's communicators, place in the chain).
///
/// A pipeline's ranks send to their neighbours only; a communicator in which somebody talks to more than two others is
/// something else (all-to-all as Send/Recv, a parameter exchange).
pub(crate) fn stage_of(m: &Measured) -> BTreeMap<usize, (usize, u32)> {
    let mut out = BTreeMap::new();
    for (c, pairs) in m.pairs.iter().enumerate() {
        let mut partners: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &(a, b, _) in pairs.keys() {
            partners.entry(a).or_default().insert(b);
            partners.entry(b).or_default().insert(a);
        }
        if partners.is_empty() || partners.values().any(|p| p.len() > 2) {
            continue;
        }
        for member in &m.topology.comms[c].members {
            out.insert(member.1.0 as usize, (m.family_of[c], member.0));
        }
    }
    out
}

/// A stage that takes longer.
#[derive(Debug, Clone)]
pub(crate) struct Imbalance {
    /// Place in the pipeline, from 0.
    pub(crate) stage: u32,
    /// Its processes.
    pub(crate) processes: Vec<usize>,
    /// Its computing time relative to the median of the others, e.g. 0.2 for 20 % more.
    pub(crate) excess: f64,
    /// Time in collectives and Send/Recv of a process, median over the stage and over the other stages, µs.
    pub(crate) communication: (f64, f64),
    /// Communicators of the pipeline.
    pub(crate) comms: BTreeSet<usize>,
}

/// The stage that computes longest, if by much: whoever computes longer communicates (waits) less.
pub(crate) fn imbalance(m: &Measured) -> Option<Imbalance> {
    let stages = stage_of(m);
    let (collectives, complete) = m
        .facts
        .iter()
        .fold((0, 0), |a, f| (a.0 + f.collectives(), a.1 + f.complete()));
    if stages.is_empty()
        || m.topology.runs.len() != 1
        || (complete as f64) < COMPLETE * collectives as f64
    {
        return None;
    }
    if m.dropped.iter().flatten().any(|&d| d > 0) {
        return None;
    }
    let (start, end) = m.topology.span()?;
    let wall =
        (end.as_unix_micros() - start.as_unix_micros()) as f64 + m.dump_interval.unwrap_or(0.0);
    let mut busy: BTreeMap<usize, f64> = BTreeMap::new();
    for (key, sums) in m.census.cells.iter().filter(|(k, _)| k.timing == m.timing) {
        let (comm, member) = m.topology.place[key.endpoint as usize];
        let process = m.topology.comms[comm as usize].members[member as usize].1;
        *busy.entry(process.0 as usize).or_default() += sums.micros;
    }
    let mut by_stage: BTreeMap<(usize, u32), Vec<(usize, f64)>> = BTreeMap::new();
    for (&process, &stage) in &stages {
        by_stage
            .entry(stage)
            .or_default()
            .push((process, busy.get(&process).copied().unwrap_or(0.0)));
    }
    if by_stage.len() < 2 || by_stage.keys().map(|k| k.0).collect::<BTreeSet<_>>().len() != 1 {
        return None;
    }
    let level: BTreeMap<(usize, u32), f64> = by_stage
        .iter()
        .filter_map(|(&s, v)| {
            robust::median(&mut v.iter().map(|x| x.1).collect::<Vec<_>>()).map(|l| (s, l))
        })
        .collect();
    let (&stage, &least) = level.iter().min_by(|a, b| a.1.total_cmp(b.1))?;
    let mut others: Vec<f64> = level
        .iter()
        .filter(|(s, _)| **s != stage)
        .map(|(_, &l)| l)
        .collect();
    let typical = robust::median(&mut others)?;
    let (computing, computing_others) = (wall - least, wall - typical);
    if computing_others <= 0.0 || computing / computing_others - 1.0 < IMBALANCE {
        return None;
    }
    Some(Imbalance {
        stage: stage.1,
        processes: by_stage[&stage].iter().map(|x| x.0).collect(),
        excess: computing / computing_others - 1.0,
        communication: (least, typical),
        comms: (0..m.pairs.len())
            .filter(|&c| m.family_of[c] == stage.0)
            .collect(),
    })
}

/// Communicators that span stages, whose ranks end a step at different times by design.
pub(crate) fn spanning(m: &Measured) -> BTreeSet<usize> {
    let stages = stage_of(m);
    (0..m.topology.comms.len())
        .filter(|&c| {
            let mut by_chain: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
            for member in &m.topology.comms[c].members {
                if let Some(&(chain, stage)) = stages.get(&(member.1.0 as usize)) {
                    by_chain.entry(chain).or_default().insert(stage);
                }
            }
            by_chain.values().any(|s| s.len() > 1)
        })
        .collect()
}
