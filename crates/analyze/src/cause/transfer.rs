//! How long transfers take in every communicator and Send/Recv pair, against the best of their kind.

use std::collections::BTreeMap;

use super::lateness::Series;
use crate::collective::transfer::Transfers;
use crate::measured::Measured;
use crate::statistics::robust;

/// Operations in a unit before its median counts. Whether so few stand out from the noise is asked besides.
const LEAST_OPERATIONS: f64 = 8.0;

/// Smaller messages are mostly latency: their time neither accuses nor clears a link. At 50 GB/s a MiB takes 20 µs, as long as
/// the latency of a collective over a few hosts.
const LEAST_TRAFFIC: f64 = 1_048_576.0;

/// What shares its links among its members only: a communicator, or an ordered pair that sends.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// Communicator.
    pub(crate) comm: usize,
    /// Source and destination rank, for a pair.
    pub(crate) pair: Option<(u32, u32)>,
    /// Processes whose links it uses.
    pub(crate) processes: Vec<usize>,
    /// Whether it leaves the node.
    pub(crate) network: bool,
    /// Units of one kind are compared.
    pub(crate) kind: Kind,
    /// Time of its transfers over the reference, stretch by stretch: 1 is as fast as the fast ones of its kind, 2 takes twice as long.
    pub(crate) ratio: Series,
    /// Kernel time of transfers above the reference, all ranks, µs, stretch by stretch.
    pub(crate) excess: Vec<f64>,
    /// Kernel time of transfers, all ranks, µs, stretch by stretch.
    pub(crate) time: Vec<f64>,
    /// Independent measurements behind the ratios.
    pub(crate) chunks: Vec<f64>,
    /// Whether its transfers were estimated from dumps that lack most ranks of a collective.
    pub(crate) sparse: bool,
    /// Whether ranks are missing: its transfers are at most too long, so it can clear its members and accuses none.
    pub(crate) partial: bool,
    /// Operations in all.
    pub(crate) operations: f64,
}

/// Family, and for pairs whether they leave the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// Index of the family.
    pub(crate) family: usize,
    /// Send/Recv rather than collectives.
    pub(crate) p2p: bool,
    /// Whether it leaves the node.
    pub(crate) network: bool,
}

/// A function and size, or for pairs a size.
type Cell = (u32, u64);

/// A unit with its transfer times, before it has been compared.
struct Draft {
    unit: Unit,
    cells: BTreeMap<Cell, Transfers>,
    ranks: f64,
}

/// Every unit whose transfers are known, compared with its kind.
pub(crate) fn units(m: &Measured) -> Vec<Unit> {
    let mut drafts = communicator_drafts(m);
    drafts.extend(pair_drafts(m));
    let references = references(&drafts);
    drafts
        .into_iter()
        .filter_map(|d| {
            let mut unit = d.unit;
            // Of each stretch: time it took, time it should take, independent measurements.
            let mut stretches = vec![(0.0, 0.0, 0.0); m.grid.len()];
            for (cell, series) in &d.cells {
                let Some(&reference) = references.get(&(unit.kind, *cell)) else {
                    continue;
                };
                for (b, t) in series.iter() {
                    let (took, should, chunks) = &mut stretches[b];
                    *took += t.micros;
                    *should += reference * t.operations;
                    *chunks += t.chunks;
                    unit.operations += t.operations;
                }
            }
            for (took, should, chunks) in stretches {
                unit.chunks.push(chunks);
                unit.ratio.push((should > 0.0).then(|| took / should));
                unit.excess.push((took - should).max(0.0) * d.ranks);
                unit.time.push(took * d.ranks);
            }
            (unit.operations >= LEAST_OPERATIONS).then_some(unit)
        })
        .collect()
}

fn blank(comm: usize, pair: Option<(u32, u32)>, processes: Vec<usize>, kind: Kind) -> Unit {
    Unit {
        comm,
        pair,
        processes,
        network: kind.network,
        kind,
        ratio: Vec::new(),
        excess: Vec::new(),
        time: Vec::new(),
        chunks: Vec::new(),
        sparse: false,
        partial: false,
        operations: 0.0,
    }
}

fn communicator_drafts(m: &Measured) -> Vec<Draft> {
    let mut out = Vec::new();
    for (c, trace) in m.traces.iter().enumerate() {
        let comm = &m.topology.comms[c];
        if trace.transfer.is_empty() || comm.n_ranks < 2 {
            continue;
        }
        let network = comm.class().crosses_network();
        let kind = Kind {
            family: m.family_of[c],
            p2p: false,
            network,
        };
        let processes = comm.members.iter().map(|x| x.1.0 as usize).collect();
        let cells = trace
            .transfer
            .iter()
            .filter(|((f, size), _)| {
                m.semantics(*f, c).traffic_factor.unwrap_or(0.0) * *size as f64 >= LEAST_TRAFFIC
            })
            .map(|(k, v)| (*k, v.clone()))
            .collect();
        out.push(Draft {
            unit: Unit {
                sparse: trace.sparse,
                partial: trace.partial,
                ..blank(c, None, processes, kind)
            },
            cells,
            ranks: f64::from(comm.n_ranks),
        });
    }
    out
}

fn pair_drafts(m: &Measured) -> Vec<Draft> {
    let mut out = Vec::new();
    for (c, pairs) in m.pairs.iter().enumerate() {
        let comm = &m.topology.comms[c];
        let process = |rank: u32| {
            comm.members
                .iter()
                .find(|x| x.0 == rank)
                .map(|x| x.1.0 as usize)
        };
        // Sends to many at once (an all-to-all) are one group to NCCL and timed together: their pairs tell nothing apart.
        let mut partners: BTreeMap<u32, std::collections::BTreeSet<u32>> = BTreeMap::new();
        for &(source, destination, _) in pairs.keys() {
            partners.entry(source).or_default().insert(destination);
        }
        if partners.values().any(|p| p.len() > 2) {
            continue;
        }
        let mut by_pair: BTreeMap<(u32, u32), BTreeMap<Cell, Transfers>> = BTreeMap::new();
        for (&(source, destination, size), facts) in pairs {
            if size as f64 >= LEAST_TRAFFIC {
                by_pair
                    .entry((source, destination))
                    .or_default()
                    .insert((0, size), facts.transfer().clone());
            }
        }
        for (pair, cells) in by_pair {
            // Of a rank without a file nobody knows whether it was late: no verdict on the link.
            let (Some(a), Some(b)) = (process(pair.0), process(pair.1)) else {
                continue;
            };
            let network = m.topology.processes[a].host != m.topology.processes[b].host;
            let kind = Kind {
                family: m.family_of[c],
                p2p: true,
                network,
            };
            out.push(Draft {
                unit: blank(c, Some(pair), vec![a, b], kind),
                cells,
                ranks: 2.0,
            });
        }
    }
    out
}

/// The pace of the fast: for each kind and cell, the lower quartile over units of their own medians over time, so that it
/// holds as long as a quarter of the units is healthy most of the time.
fn references(drafts: &[Draft]) -> BTreeMap<(Kind, Cell), f64> {
    let mut medians: BTreeMap<(Kind, Cell), Vec<f64>> = BTreeMap::new();
    for d in drafts {
        for (cell, series) in &d.cells {
            let mut means: Vec<f64> = series.iter().filter_map(|(_, t)| t.mean()).collect();
            if let Some(median) = robust::median(&mut means) {
                medians
                    .entry((d.unit.kind, *cell))
                    .or_default()
                    .push(median);
            }
        }
    }
    medians
        .into_iter()
        .map(|(key, mut v)| {
            v.sort_unstable_by(f64::total_cmp);
            let at = (v.len() - 1) / 4;
            (key, v[at])
        })
        .filter(|(_, r)| *r > 0.0)
        .collect()
}
