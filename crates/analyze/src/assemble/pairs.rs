//! Send/Recv pairs in the vocabulary of facts.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{PairMatrix, PairSlice, ProcessId};
use crate::measured::Measured;
use crate::units::{BusBandwidth, ExecTime, MessageSize};

/// Processes that a matrix shows at most; with more its cells can't be told apart.
const MATRIX: usize = 160;

/// Every pair.
pub(crate) fn pairs(m: &mut Measured) -> Vec<PairSlice> {
    let mut out = Vec::new();
    for (i, pairs) in m.pairs.iter_mut().enumerate() {
        let comm = &m.topology.comms[i];
        let process = |rank: u32| comm.members.iter().find(|x| x.0 == rank).map(|x| x.1);
        let host = |p: ProcessId| &m.topology.processes[p.0 as usize].host;
        for (&(source_rank, destination_rank, size), pair) in pairs {
            let (source, destination) = (process(source_rank), process(destination_rank));
            let (sends, recvs) = (pair.sends.count(), pair.recvs.count());
            let Some(micros) = pair.transfer_micros() else {
                continue;
            };
            out.push(PairSlice {
                communicator: u32::try_from(i).unwrap_or(u32::MAX),
                source_rank,
                destination_rank,
                source,
                destination,
                crosses_network: source.zip(destination).map(|(a, b)| host(a) != host(b)),
                size: MessageSize::from_bytes(size),
                sends,
                recvs,
                bytes: size.saturating_mul(if sends > 0 { sends } else { recvs }),
                send_time: pair.sends.distribution(ExecTime::from_micros),
                recv_time: pair.recvs.distribution(ExecTime::from_micros),
                link_bandwidth: BusBandwidth::from_gb_per_s(if micros > 0.0 {
                    size as f64 / micros / 1e3
                } else {
                    0.0
                }),
            });
        }
    }
    out
}

/// A matrix for each size, of the processes that talk; the median over communicators where a pair shares several.
pub(crate) fn pair_matrices(pairs: &[PairSlice]) -> Vec<PairMatrix> {
    let mut sizes: BTreeMap<MessageSize, Vec<&PairSlice>> = BTreeMap::new();
    for p in pairs
        .iter()
        .filter(|p| p.source.is_some() && p.destination.is_some())
    {
        sizes.entry(p.size).or_default().push(p);
    }
    let mut out = Vec::new();
    for (size, pairs) in sizes {
        let processes: BTreeSet<ProcessId> = pairs
            .iter()
            .flat_map(|p| [p.source, p.destination])
            .flatten()
            .collect();
        if processes.len() > MATRIX {
            continue;
        }
        let processes: Vec<ProcessId> = processes.into_iter().collect();
        let place: BTreeMap<ProcessId, usize> =
            processes.iter().enumerate().map(|(i, &p)| (p, i)).collect();
        let mut cells: Vec<Vec<f64>> = vec![Vec::new(); processes.len() * processes.len()];
        for p in pairs {
            if let (Some(s), Some(d)) = (p.source, p.destination) {
                cells[place[&s] * processes.len() + place[&d]].push(p.link_bandwidth.as_gb_per_s());
            }
        }
        let bandwidth = cells
            .iter_mut()
            .map(|c| crate::statistics::robust::median(c).map(BusBandwidth::from_gb_per_s))
            .collect();
        out.push(PairMatrix {
            size,
            processes,
            bandwidth,
        });
    }
    out
}
