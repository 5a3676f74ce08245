//! Statistics over the collectives of one communicator.

use std::collections::{BTreeMap, BTreeSet};

use super::matching::Collective;
use crate::communicator::Comm;
use crate::records::operation::bus_bandwidth;
use crate::statistics::Sample;

/// Statistics of one communicator.
#[derive(Debug, Default)]
pub(crate) struct CommFacts {
    /// By function and size.
    pub(crate) cells: BTreeMap<(u32, u64), CellFacts>,
    /// Time above the shortest of the same collective, by member, function and size, µs.
    pub(crate) wait: BTreeMap<(u32, u32, u64), f64>,
    /// Records that ranks which appear at all lack of collectives seen.
    pub(crate) unmatched: u64,
    numbers: BTreeMap<u32, BTreeSet<(i64, i64)>>,
}

/// Statistics of one function and size.
#[derive(Debug, Default)]
pub(crate) struct CellFacts {
    /// Collectives seen on at least one rank.
    pub(crate) collectives: u64,
    /// Collectives seen on every rank.
    pub(crate) complete: u64,
    /// Records.
    pub(crate) records: u64,
    /// Kernel time of the records, µs.
    pub(crate) micros: f64,
    /// Of it, time in collectives seen on every rank.
    pub(crate) micros_complete: f64,
    /// Of that, time above the shortest.
    pub(crate) wait: f64,
    /// Shortest time of each complete collective, µs.
    pub(crate) shortest: Sample,
    /// Longest minus shortest time of each complete collective, µs.
    pub(crate) spread: Sample,
    /// Bus bandwidth from the shortest time, GB/s.
    pub(crate) link_busbw: Sample,
    /// Bus bandwidth from the mean time, GB/s.
    pub(crate) felt_busbw: Sample,
}

impl CommFacts {
    /// Counts a collective.
    pub(crate) fn add(&mut self, comm: &Comm, function: &str, collective: &Collective<'_>) {
        let (f, size) = collective.cell();
        self.see(f, collective.sequence_number());
        let cell = self.cells.entry((f, size)).or_default();
        let rows = collective.rows;
        let micros: f64 = rows.iter().map(|r| r.micros).sum();
        cell.collectives += 1;
        cell.records += rows.len() as u64;
        cell.micros += micros;
        self.unmatched += (comm.members.len() - rows.len().min(comm.members.len())) as u64;
        if rows.len() != comm.n_ranks as usize {
            return;
        }
        let shortest = collective.shortest();
        cell.complete += 1;
        cell.micros_complete += micros;
        cell.shortest.push(shortest);
        cell.spread.push(collective.longest() - shortest);
        if let Some(b) = bus_bandwidth(function, comm.n_ranks, size, shortest) {
            cell.link_busbw.push(b);
        }
        if let Some(b) = bus_bandwidth(function, comm.n_ranks, size, collective.mean()) {
            cell.felt_busbw.push(b);
        }
        for r in rows {
            cell.wait += r.micros - shortest;
            *self.wait.entry((r.member, f, size)).or_default() += r.micros - shortest;
        }
    }

    /// Remembers a sequence number, as intervals: numbers come in order, so there are few.
    fn see(&mut self, function: u32, number: i64) {
        let intervals = self.numbers.entry(function).or_default();
        let before = intervals.range(..=(number, i64::MAX)).next_back().copied();
        match before {
            Some((_, end)) if end >= number => {}
            Some((start, end)) if end.checked_add(1) == Some(number) => {
                intervals.remove(&(start, end));
                intervals.insert((start, number));
            }
            _ => {
                intervals.insert((number, number));
            }
        }
    }

    /// Numbers between the first and the last seen of each function that no rank recorded.
    pub(crate) fn numbers_unseen(&self) -> u64 {
        let mut unseen = 0_u64;
        for intervals in self.numbers.values() {
            let v: Vec<_> = intervals.iter().collect();
            for pair in v.windows(2) {
                unseen = unseen.saturating_add(pair[1].0.abs_diff(pair[0].1).saturating_sub(1));
            }
        }
        unseen
    }

    /// Lengths of the gaps between numbers seen, over all functions.
    pub(crate) fn gap_lengths(&self) -> Vec<u64> {
        let mut out = Vec::new();
        for intervals in self.numbers.values() {
            let v: Vec<_> = intervals.iter().collect();
            out.extend(
                v.windows(2)
                    .map(|p| p[1].0.abs_diff(p[0].1).saturating_sub(1))
                    .filter(|&g| g > 0),
            );
        }
        out
    }

    /// Adds what another part of the same communicator showed.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, cell) in other.cells {
            let into = self.cells.entry(key).or_default();
            into.collectives += cell.collectives;
            into.complete += cell.complete;
            into.records += cell.records;
            into.micros += cell.micros;
            into.micros_complete += cell.micros_complete;
            into.wait += cell.wait;
            into.shortest.merge(cell.shortest);
            into.spread.merge(cell.spread);
            into.link_busbw.merge(cell.link_busbw);
            into.felt_busbw.merge(cell.felt_busbw);
        }
        for (key, wait) in other.wait {
            *self.wait.entry(key).or_default() += wait;
        }
        self.unmatched += other.unmatched;
        for (f, intervals) in other.numbers {
            self.numbers.entry(f).or_default().extend(intervals);
        }
    }

    /// Collectives seen.
    pub(crate) fn collectives(&self) -> u64 {
        self.cells.values().map(|c| c.collectives).sum()
    }

    /// Collectives seen on every rank.
    pub(crate) fn complete(&self) -> u64 {
        self.cells.values().map(|c| c.complete).sum()
    }
}
