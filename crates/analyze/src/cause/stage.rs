//! Stages of a pipeline, and whether one as a whole takes longer.

use std::collections::{BTreeMap, BTreeSet};

use crate::measured::Measured;
use crate::point_to_point::{PairFacts, PairKey};
use crate::statistics::robust;

/// Whoever sends to a slow stage waits until it is ready to receive. The waits of one replica's senders are worth telling from
/// this share of the run on.
const SHARE_OF_RUN: f64 = 0.01;

/// Senders to the slow stage wait so many times as long as those to any other: at a pipeline of equal stages, none waits.
const ABOVE_OTHERS: f64 = 3.0;

/// The longest sends are left out of the mean: pauses and the first microbatch are not the stage's doing.
const KEPT: f64 = 0.9;

/// The stage of each process: (family of the pipeline's communicators, place in the chain).
///
/// A pipeline's ranks send to their neighbours only; a communicator in which somebody talks to more than two others is
/// something else (all-to-all as Send/Recv, a parameter exchange).
pub(crate) fn stage_of(m: &Measured) -> BTreeMap<usize, (usize, u32)> {
    let mut out = BTreeMap::new();
    for c in chains(m) {
        for member in &m.topology.comms[c].members {
            out.insert(member.1.0 as usize, (m.family_of[c], member.0));
        }
    }
    out
}

/// Communicators whose ranks send to their neighbours only.
pub(crate) fn chains(m: &Measured) -> BTreeSet<usize> {
    let chain = |pairs: &BTreeMap<PairKey, PairFacts>| {
        let mut partners: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &(a, b, _) in pairs.keys() {
            partners.entry(a).or_default().insert(b);
            partners.entry(b).or_default().insert(a);
        }
        !partners.is_empty() && partners.values().all(|p| p.len() <= 2)
    };
    (0..m.pairs.len()).filter(|&c| chain(&m.pairs[c])).collect()
}

/// A stage that takes longer.
#[derive(Debug, Clone)]
pub(crate) struct Imbalance {
    /// Place in the pipeline, from 0.
    pub(crate) stage: u32,
    /// Its processes.
    pub(crate) processes: Vec<usize>,
    /// How long a Send to it waits for it, mean, µs.
    pub(crate) wait_of_a_send: f64,
    /// How long a Send to the stage that is second in this waits, mean, µs.
    pub(crate) elsewhere: f64,
    /// Waiting of all senders to it, µs.
    pub(crate) time_lost: f64,
    /// Communicators of the pipeline.
    pub(crate) comms: BTreeSet<usize>,
}

/// The stage that the others wait to send to, if by much.
///
/// Computing time can't be taken as the rest of the run: where stages meet in a message too small to be recorded, the one that
/// ends first waits unseen. But a Send ends when its receiver is ready, and a stage that is slower than its neighbours keeps
/// all their Sends waiting, in every replica of the pipeline; a slow rank does so in one.
pub(crate) fn imbalance(m: &mut Measured) -> Option<Imbalance> {
    let stages = stage_of(m);
    let chains: BTreeSet<usize> = stages.values().map(|s| s.0).collect();
    let (start, end) = m.topology.span()?;
    let run = (end.as_unix_micros() - start.as_unix_micros()) as f64;
    if chains.len() != 1 || m.topology.runs.len() != 1 {
        return None;
    }
    // Per receiving stage: of each replica and sender, the mean wait of a Send and the number of Sends.
    let mut into: BTreeMap<u32, BTreeMap<u32, Vec<(f64, f64)>>> = BTreeMap::new();
    let mut comms = BTreeSet::new();
    for (c, pairs) in m
        .pairs
        .iter_mut()
        .enumerate()
        .filter(|(c, _)| chains.contains(&m.family_of[*c]))
    {
        for (&(source, destination, _), pair) in pairs {
            let Some(transfer) = pair.transfer_micros() else {
                continue;
            };
            let Some(&limit) = pair.sends.quantiles(&[KEPT]).first() else {
                continue;
            };
            let (sum, n) = pair
                .sends
                .runs()
                .iter()
                .filter(|r| r.0 <= limit)
                .fold((0.0, 0.0), |a, &(v, n)| {
                    (a.0 + v * n as f64, a.1 + n as f64)
                });
            into.entry(destination)
                .or_default()
                .entry(source)
                .or_default()
                .push(((sum / n - transfer).max(0.0), pair.sends.count() as f64));
            comms.insert(c);
        }
    }
    // At the lower quartile over replicas, so that a slow rank in half of them isn't a slow stage.
    let mut waits: Vec<(u32, f64, f64, f64)> = into
        .into_iter()
        .map(|(stage, senders)| {
            let (mut total, mut longest, mut all) = (0.0, 0.0_f64, 0.0);
            for replicas in senders.into_values() {
                let wait =
                    robust::quantile(&mut replicas.iter().map(|r| r.0).collect::<Vec<_>>(), 0.25)
                        .unwrap_or(0.0);
                total += wait * replicas.iter().map(|r| r.1).sum::<f64>() / replicas.len() as f64;
                all += replicas.iter().map(|r| r.0 * r.1).sum::<f64>();
                longest = longest.max(wait);
            }
            (stage, total, longest, all)
        })
        .collect();
    waits.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (stage, total, wait_of_a_send, time_lost) = *waits.first()?;
    let (second, elsewhere) = waits.get(1).map_or((0.0, 0.0), |w| (w.1, w.2));
    if total < SHARE_OF_RUN * run || total < ABOVE_OTHERS * second {
        return None;
    }
    let processes = stages
        .iter()
        .filter(|(_, s)| s.1 == stage)
        .map(|(&p, _)| p)
        .collect();
    Some(Imbalance {
        stage,
        processes,
        wait_of_a_send,
        elsewhere,
        time_lost,
        comms,
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
