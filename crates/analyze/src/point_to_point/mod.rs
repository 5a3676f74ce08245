//! Send/Recv traffic by pair.
//!
//! `p2p_sn` counts locally, so a Send isn't matched to its Recv one by one; each side's times are taken as a distribution.
//! The side that arrives last waits least: the transfer is what the faster side shows.

pub(crate) mod exchange;

use std::collections::BTreeMap;

use crate::collective::gather::Row;
use crate::collective::transfer::Transfer;
use crate::communicator::Comm;
use crate::records::grid::TimeGrid;
use crate::statistics::{Sample, robust};

/// Records whose lower quartile stands for the transfer at their time.
const CHUNK: usize = 8;

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
    pub(crate) send_transfer: Vec<Transfer>,
    /// The same of the receiver's.
    pub(crate) recv_transfer: Vec<Transfer>,
}

impl PairFacts {
    /// Adds what another part of the same pair showed.
    pub(crate) fn merge(&mut self, other: Self) {
        self.sends.merge(other.sends);
        self.recvs.merge(other.recvs);
        for (into, from) in [
            (&mut self.send_transfer, other.send_transfer),
            (&mut self.recv_transfer, other.recv_transfer),
        ] {
            into.resize(into.len().max(from.len()), Transfer::default());
            for (a, b) in into.iter_mut().zip(&from) {
                a.merge(b);
            }
        }
    }

    /// Transfer times over the stretches: of the side that waits less.
    pub(crate) fn transfer(&self) -> Vec<Transfer> {
        let mean = |side: &[Transfer]| {
            let mut all = Transfer::default();
            side.iter().for_each(|t| all.merge(t));
            all.mean()
        };
        let send_wins = match (mean(&self.send_transfer), mean(&self.recv_transfer)) {
            (Some(s), Some(r)) => s <= r,
            (_, r) => r.is_none(),
        };
        if send_wins {
            self.send_transfer.clone()
        } else {
            self.recv_transfer.clone()
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

/// Sorts the Send and Recv records of a communicator into pairs. `direction` tells Send (`Some(true)`) from Recv (`Some(false)`).
pub(crate) fn pairs(
    comm: &Comm,
    rows: &[Row],
    grid: &TimeGrid,
    dump_interval: f64,
    direction: &dyn Fn(u32) -> Option<bool>,
) -> BTreeMap<PairKey, PairFacts> {
    // Stamp, number and time of each record, by pair and side.
    let mut sides: BTreeMap<(PairKey, bool), Vec<_>> = BTreeMap::new();
    for r in rows {
        let (Some(send), Ok(peer)) = (direction(r.function), u32::try_from(r.peer)) else {
            continue;
        };
        let own = comm.members[r.member as usize].0;
        let (source, destination) = if send { (own, peer) } else { (peer, own) };
        sides
            .entry(((source, destination, r.size), send))
            .or_default()
            .push((r.dumped, r.sequence_number, r.micros));
    }
    let mut out: BTreeMap<PairKey, PairFacts> = BTreeMap::new();
    for ((key, send), mut records) in sides {
        records.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        let pair = out.entry(key).or_default();
        let mut transfer = vec![Transfer::default(); grid.len()];
        let pieces = (records.len() / CHUNK).max(1);
        for k in 0..pieces {
            let end = if k + 1 == pieces {
                records.len()
            } else {
                (k + 1) * CHUNK
            };
            let chunk = &records[k * CHUNK..end];
            let mut times: Vec<f64> = chunk.iter().map(|c| c.2).collect();
            let Some(low) = robust::quantile(&mut times, 0.25) else {
                continue;
            };
            for c in chunk {
                transfer[grid.stretch((c.0 as f64 - dump_interval / 2.0) as i64)]
                    .add(low, chunk.len());
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
        let row = |function, member, peer, sn: i64, micros| Row {
            function,
            member,
            sequence_number: sn,
            size: 8192,
            micros,
            dumped: sn,
            peer,
        };
        // Rank 0 sends at once (10 µs), rank 1 has waited for it (500 µs).
        let rows: Vec<Row> = (0..20)
            .flat_map(|k| [row(0, 0, 1, k, 10.0), row(1, 1, 0, k, 500.0)])
            .collect();
        let grid = TimeGrid::over(vec![(0, 19)]);
        let mut pairs = pairs(&comm, &rows, &grid, 0.0, &|f| Some(f == 0));
        let pair = pairs.get_mut(&(0, 1, 8192)).expect("one pair");
        assert_eq!((pair.sends.count(), pair.recvs.count()), (20, 20));
        assert_eq!(pair.transfer_micros(), Some(10.0));
        assert!(
            pair.transfer()
                .iter()
                .filter_map(Transfer::mean)
                .all(|t| t == 10.0)
        );
    }
}
