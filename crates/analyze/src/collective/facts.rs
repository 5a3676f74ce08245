//! Statistics over the collectives of one communicator.

use std::collections::BTreeMap;

use super::matching::{Collective, Matched};
use super::pool::Times;
use crate::communicator::Comm;
use crate::records::operation::{bandwidth_of, bus_work};

/// Statistics of one communicator.
#[derive(Debug, Default)]
pub(crate) struct CommFacts {
    /// By function and size.
    pub(crate) cells: BTreeMap<(u32, u64), CellFacts>,
    /// Records that ranks which appear at all lack of collectives seen.
    pub(crate) unmatched: u64,
    /// First and last number of each unbroken series, by function, ascending.
    numbers: BTreeMap<u32, Vec<(i64, i64)>>,
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
    /// The same by member, µs; empty without a complete collective.
    pub(crate) wait_of_members: Vec<f64>,
    /// Times of the complete collectives, until a [`Pools`](super::pool::Pools) takes them over.
    pub(crate) times: Times,
    /// Then their median bus bandwidth from the shortest time, GB/s, where there is one.
    pub(crate) link_busbw: Option<f64>,
}

impl Counting {
    fn add(&mut self, comm: &Comm, collective: &Collective<'_>) {
        let cell = &mut self.facts;
        let rows = collective.rows;
        let micros: f64 = rows.iter().map(|r| r.micros).sum();
        cell.collectives += 1;
        cell.records += rows.len() as u64;
        cell.micros += micros;
        if rows.len() != comm.n_ranks as usize {
            return;
        }
        let shortest = collective.shortest();
        cell.complete += 1;
        cell.micros_complete += micros;
        cell.times.shortest.push(shortest);
        cell.times.spread.push(collective.longest() - shortest);
        let felt = |work| bandwidth_of(work, micros / rows.len() as f64);
        if let Some(busbw) = self.work.and_then(felt) {
            cell.times.felt_busbw.push(busbw);
        }
        cell.wait_of_members.resize(comm.members.len(), 0.0);
        for r in rows {
            cell.wait += r.micros - shortest;
            cell.wait_of_members[r.member as usize] += r.micros - shortest;
        }
    }
}

/// What is counted of one cell.
struct Counting {
    facts: CellFacts,
    /// Bus bandwidth × time of one of its operations.
    work: Option<f64>,
}

impl CommFacts {
    /// Counts the collectives of a communicator. `function` tells the name of each function.
    pub(crate) fn of<'f>(
        comm: &Comm,
        matched: &Matched,
        function: impl Fn(u32) -> &'f str,
    ) -> Self {
        let mut facts = Self::default();
        let mut cells: Vec<Counting> = matched
            .cells()
            .iter()
            .map(|&(f, size)| Counting {
                facts: CellFacts::default(),
                work: bus_work(function(f), comm.n_ranks, size),
            })
            .collect();
        for (collective, cell) in matched.collectives() {
            facts.see(collective.cell().0, collective.sequence_number());
            let rows = collective.rows.len();
            facts.unmatched += (comm.members.len() - rows.min(comm.members.len())) as u64;
            cells[cell].add(comm, &collective);
        }
        let cells = cells.into_iter().map(|cell| cell.facts);
        facts.cells = matched.cells().iter().copied().zip(cells).collect();
        facts
    }

    /// Remembers a sequence number; those of one function come in order.
    fn see(&mut self, function: u32, number: i64) {
        let series = self.numbers.entry(function).or_default();
        match series.last_mut() {
            Some((_, end)) if *end >= number => {}
            Some((_, end)) if end.checked_add(1) == Some(number) => *end = number,
            _ => series.push((number, number)),
        }
    }

    /// Numbers between the first and the last seen of each function that no rank recorded.
    pub(crate) fn numbers_unseen(&self) -> u64 {
        let mut unseen = 0_u64;
        for series in self.numbers.values() {
            for pair in series.windows(2) {
                unseen = unseen.saturating_add(pair[1].0.abs_diff(pair[0].1).saturating_sub(1));
            }
        }
        unseen
    }

    /// Lengths of the gaps between numbers seen, over all functions.
    pub(crate) fn gap_lengths(&self) -> Vec<u64> {
        let mut out = Vec::new();
        for series in self.numbers.values() {
            out.extend(
                series
                    .windows(2)
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
            into.times.merge(cell.times);
            let members = into.wait_of_members.len().max(cell.wait_of_members.len());
            into.wait_of_members.resize(members, 0.0);
            for (a, b) in into.wait_of_members.iter_mut().zip(cell.wait_of_members) {
                *a += b;
            }
        }
        self.unmatched += other.unmatched;
        for (f, theirs) in other.numbers {
            let series = self.numbers.entry(f).or_default();
            series.extend(theirs);
            series.sort_unstable();
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
