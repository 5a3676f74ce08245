//! Send/Recv traffic by pair.
//!
//! `p2p_sn` counts locally, so a Send isn't matched to its Recv one by one; each side's times are taken as a distribution.
//! The side that arrives last waits least: the transfer is what the faster side shows.

pub(crate) mod exchange;
pub(crate) mod in_order;

use std::collections::{BTreeMap, BTreeSet};

use self::in_order::InOrder;
use crate::collective::transfer::Transfers;
use crate::communicator::Comm;
use crate::facts::TimingSource;
use crate::records::grid::TimeGrid;
use crate::records::hash::NumberMap;
use crate::records::held::Held;
use crate::statistics::{Sample, robust};

/// Records whose lower quartile stands for the transfer at their time.
const CHUNK: usize = 8;

/// Chunks that the records of a pair make at least, where they are shorter than usual: of a short run a tenth, in which the network was slow,
/// would fill none.
const LEAST_CHUNKS: usize = 16;

/// Of four the lower quartile is none that sticks out.
const SHORTEST_CHUNK: usize = 4;

/// Source and destination rank, and message size.
pub(crate) type PairKey = (u32, u32, u64);

/// One direction of one pair at one size.
#[derive(Debug, Default)]
pub(crate) struct PairFacts {
    /// Times of the sender's records, µs.
    pub(crate) sends: Sample,
    /// Times of the receiver's records, µs.
    pub(crate) recvs: Sample,
    /// Lower quartiles of the sender's times over the stretches.
    pub(crate) send_transfer: Transfers,
    /// The same of the receiver's.
    pub(crate) recv_transfer: Transfers,
}

impl PairFacts {
    /// Adds what another part of the same pair showed.
    pub(crate) fn merge(&mut self, other: Self) {
        self.sends.merge(other.sends);
        self.recvs.merge(other.recvs);
        self.send_transfer.merge(&other.send_transfer);
        self.recv_transfer.merge(&other.recv_transfer);
    }

    /// Transfer times over the stretches: of the side that waits less.
    pub(crate) fn transfer(&self) -> &Transfers {
        let (sent, received) = (self.send_transfer.whole(), self.recv_transfer.whole());
        let send_wins = match (sent.mean(), received.mean()) {
            (Some(s), Some(r)) => s <= r,
            (_, r) => r.is_none(),
        };
        if send_wins {
            &self.send_transfer
        } else {
            &self.recv_transfer
        }
    }

    /// Time of the transfer over the whole run, µs: the lower quartile of the side that waits less.
    pub(crate) fn transfer_micros(&mut self) -> Option<f64> {
        let s = self.sends.quantiles(&[0.25]).first().copied();
        let r = self.recvs.quantiles(&[0.25]).first().copied();
        match (s, r) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

/// The Send and Recv records of one communicator.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// By pair and side: stamp (by the mean of the hosts' clocks), number and time of each record.
    sides: Vec<((PairKey, bool), Vec<(i64, i64, f64)>)>,
    /// Time in Send and Recv, member by member, stretch by stretch, µs; empty without any.
    pub(crate) micros: Vec<f64>,
    /// The same under the numbers of the operations, member by member.
    pub(crate) in_order: Vec<InOrder>,
}

impl Traffic {
    /// Sorts the records of a communicator by pair and side. `ahead` tells how much the clock of each member's host is ahead, µs;
    /// `direction` tells Send (`Some(true)`) from Recv (`Some(false)`).
    pub(crate) fn of(
        comm: &Comm,
        held: &Held,
        timing: TimingSource,
        ahead: &[i64],
        (grid, dump_interval): (&TimeGrid, f64),
        direction: impl Fn(u32) -> Option<bool>,
    ) -> Self {
        let mut traffic = Self::default();
        let mut index: NumberMap<(PairKey, bool), usize> = NumberMap::default();
        let mut stretches = grid.cursor();
        for (member, &(own, _, endpoint)) in comm.members.iter().enumerate() {
            for (file, records) in held.of_endpoint(endpoint) {
                for r in records {
                    let (function, size, t) = file.cell(r);
                    if t != timing {
                        continue;
                    }
                    let dumped = r.dumped.saturating_sub(ahead[member]);
                    if traffic.micros.is_empty() {
                        traffic.micros.resize(comm.members.len() * grid.len(), 0.0);
                        traffic
                            .in_order
                            .resize(comm.members.len(), InOrder::default());
                    }
                    let stretch = stretches.stretch((dumped as f64 - dump_interval / 2.0) as i64);
                    traffic.micros[member * grid.len() + stretch] += r.micros;
                    traffic.in_order[member].add(r.sequence_number, r.micros, stretch);
                    let (Some(send), Ok(peer)) = (direction(function), u32::try_from(r.peer))
                    else {
                        continue;
                    };
                    let (source, destination) = if send { (own, peer) } else { (peer, own) };
                    let side = ((source, destination, size), send);
                    let at = *index.entry(side).or_insert_with(|| {
                        traffic.sides.push((side, Vec::new()));
                        traffic.sides.len() - 1
                    });
                    let record = (dumped, r.sequence_number, r.micros);
                    traffic.sides[at].1.push(record);
                }
            }
        }
        traffic.sides.sort_unstable_by_key(|s| s.0);
        traffic
    }

    /// The largest number of ranks that one rank sends to.
    fn most_destinations(&self) -> usize {
        let pairs: BTreeSet<(u32, u32)> = self.sides.iter().map(|((k, _), _)| (k.0, k.1)).collect();
        let mut sends: BTreeMap<u32, usize> = BTreeMap::new();
        for (source, _) in pairs {
            *sends.entry(source).or_default() += 1;
        }
        sends.into_values().max().unwrap_or(0)
    }
}

/// What each pair showed.
pub(crate) fn pairs(
    traffic: Traffic,
    grid: &TimeGrid,
    dump_interval: f64,
) -> BTreeMap<PairKey, PairFacts> {
    let mut out: BTreeMap<PairKey, PairFacts> = BTreeMap::new();
    let mut times: Vec<f64> = Vec::new();
    let mut stretches = grid.cursor();
    for ((key, send), mut records) in traffic.sides {
        records.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        let pair = out.entry(key).or_default();
        let mut transfer = Transfers::default();
        let length = (records.len() / LEAST_CHUNKS).clamp(SHORTEST_CHUNK, CHUNK);
        let pieces = (records.len() / length).max(1);
        for k in 0..pieces {
            let end = if k + 1 == pieces {
                records.len()
            } else {
                (k + 1) * length
            };
            let chunk = &records[k * length..end];
            times.clear();
            times.extend(chunk.iter().map(|c| c.2));
            let Some(low) = robust::quantile(&mut times, 0.25) else {
                continue;
            };
            for c in chunk {
                let stretch = stretches.stretch((c.0 as f64 - dump_interval / 2.0) as i64);
                transfer.add(stretch, low, chunk.len());
            }
        }
        let sample = if send {
            &mut pair.sends
        } else {
            &mut pair.recvs
        };
        records.iter().for_each(|r| sample.push(r.2));
        if send {
            pair.send_transfer = transfer;
        } else {
            pair.recv_transfer = transfer;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ProcessId;
    use crate::records::cell::CellKey;
    use crate::records::grid::STRETCHES;
    use crate::records::held::{HeldFile, Record};

    #[test]
    fn the_side_that_waits_less_shows_the_transfer() {
        let comm = Comm {
            id: "0x1".into(),
            name: None,
            n_ranks: 2,
            nnodes: 2,
            run: 0,
            members: vec![(0, ProcessId(0), 0), (1, ProcessId(1), 1)],
            seen: (0, 0),
        };
        let cells: Vec<CellKey> = (0..2)
            .map(|endpoint| CellKey {
                endpoint,
                function: endpoint,
                size: 8192,
                timing: TimingSource::KernelGpu,
                p2p: true,
            })
            .collect();
        // Rank 0 sends at once (10 µs), rank 1 has waited for it (500 µs).
        let records = (0..20)
            .flat_map(|k| [(0, 1, k, 10.0), (1, 0, k, 500.0)])
            .map(|(cell, peer, k, micros)| Record {
                sequence_number: k,
                dumped: k,
                micros,
                cell,
                peer,
            })
            .collect();
        let held = Held::new(vec![HeldFile::new(records, &cells)]);
        let grid = TimeGrid::over(vec![(0, 19)], STRETCHES);
        let timing = TimingSource::KernelGpu;
        let traffic = Traffic::of(&comm, &held, timing, &[0, 0], (&grid, 0.0), |f| {
            Some(f == 0)
        });
        assert_eq!(traffic.micros.iter().sum::<f64>(), 20.0 * 510.0);
        let mut pairs = pairs(traffic, &grid, 0.0);
        let pair = pairs.get_mut(&(0, 1, 8192)).expect("one pair");
        assert_eq!((pair.sends.count(), pair.recvs.count()), (20, 20));
        assert_eq!(pair.transfer_micros(), Some(10.0));
        assert!(
            pair.transfer()
                .iter()
                .filter_map(|(_, t)| t.mean())
                .all(|t| t == 10.0)
        );
    }
}
