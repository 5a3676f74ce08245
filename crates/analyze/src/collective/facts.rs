//! Statistics over the collectives of one communicator.

use std::collections::BTreeMap;

use super::matching::{Collective, Matched};
use crate::communicator::Comm;
use crate::records::operation::{bandwidth_of, bus_work};
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
    /// Shortest time of each complete collective, µs.
    pub(crate) shortest: Sample,
    /// Longest minus shortest time of each complete collective, µs.
    pub(crate) spread: Sample,
    /// Bus bandwidth from the shortest time, GB/s.
    pub(crate) link_busbw: Sample,
    /// Bus bandwidth from the mean time, GB/s.
    pub(crate) felt_busbw: Sample,
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
        cell.shortest.push(shortest);
        cell.spread.push(collective.longest() - shortest);
        if let Some(work) = self.work {
            for (sample, micros) in [
                (&mut cell.link_busbw, shortest),
                (&mut cell.felt_busbw, micros / rows.len() as f64),
            ] {
                if let Some(busbw) = bandwidth_of(work, micros) {
                    sample.push(busbw);
                }
            }
        }
        self.wait.resize(comm.members.len(), 0.0);
        for r in rows {
            cell.wait += r.micros - shortest;
            self.wait[r.member as usize] += r.micros - shortest;
        }
    }
}

/// What is counted of one cell.
struct Counting {
    facts: CellFacts,
    /// Bus bandwidth × time of one of its operations.
    work: Option<f64>,
    /// Time above the shortest of the same collective, by member, µs.
    wait: Vec<f64>,
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
                wait: Vec::new(),
            })
            .collect();
        for (collective, cell) in matched.collectives() {
            facts.see(collective.cell().0, collective.sequence_number());
            let rows = collective.rows.len();
            facts.unmatched += (comm.members.len() - rows.min(comm.members.len())) as u64;
            cells[cell].add(comm, &collective);
        }
        for (&(f, size), cell) in matched.cells().iter().zip(cells) {
            facts.cells.insert((f, size), cell.facts);
            for (member, wait) in (0_u32..).zip(cell.wait) {
                facts.wait.insert((member, f, size), wait);
            }
        }
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
            into.shortest.merge(cell.shortest);
            into.spread.merge(cell.spread);
            into.link_busbw.merge(cell.link_busbw);
            into.felt_busbw.merge(cell.felt_busbw);
        }
        for (key, wait) in other.wait {
            *self.wait.entry(key).or_default() += wait;
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
