//! Lateness and transfer of one communicator over time: what the search for causes works on.
//!
//! In a collective whose ranks end together, the rank that arrives last shows the shortest time. So without any clock:
//! *lateness* of a rank = median time of the other ranks − its own time (positive: later than its peers), and the *transfer*
//! takes the shortest time. Both are smoothed by medians over a few neighbouring collectives of one function and size
//! (a chunk), so that a single pause moves neither; what sticks out of the chunk's median is counted as an *event*.
//!
//! Where dumps lack so many records that few ranks of a collective are left, chunks are made long and ranks are compared by
//! the median of their own records in it.

use std::collections::BTreeMap;

use super::chunk::{CHUNK, Moment};
use super::example::{self, Example};
use super::lateness::{Lateness, MAX_EVENTS, lateness_of_medians};
use super::matching::Matched;
use super::transfer::{Transfers, transfer, transfer_of_quickest};
use crate::communicator::Comm;
use crate::records::grid::TimeGrid;

/// The first collectives of a function pay for connections and buffers.
const WARM_UP: i64 = 3;

/// Where ranks left no file, the others show the transfer if they are at least so many, and this part of all: each collective's last
/// rank is then seldom a missing one, and medians do the rest, unless it is a missing one that is always late.
const LEAST_SEEN: usize = 3;

/// Ranks are compared collective by collective if this many times the collectives with two ranks or more are all of them: with three
/// quarters, medians over a chunk of eight are still of six.
const MOSTLY: f64 = 4.0 / 3.0;

/// See [`LEAST_SEEN`].
const SEEN: f64 = 0.75;

/// Sums of one member over one stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Bin {
    /// Lateness (chunk medians), µs, summed over operations.
    pub(crate) lateness: f64,
    /// Lateness as it was, µs, summed over the same operations: where a burst of operations queues behind a late one, only
    /// the first shows the delay, which a median wouldn't.
    pub(crate) raw_lateness: f64,
    /// Operations in the sum.
    pub(crate) operations: f64,
    /// Chunks in the sum: so many independent values are behind it.
    pub(crate) chunks: f64,
    /// Time above the shortest of the same collective, µs.
    pub(crate) wait: f64,
    /// Kernel time, µs.
    pub(crate) micros: f64,
    /// Lateness of events beyond the chunk's median, µs.
    pub(crate) event_micros: f64,
    /// Events.
    pub(crate) events: f64,
}
/// A late arrival that sticks out of its chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Event {
    /// Who.
    pub(crate) member: u32,
    /// Stretch of time.
    pub(crate) stretch: u32,
    /// Lateness beyond the chunk's median, µs.
    pub(crate) micros: f64,
    /// Of the collective.
    pub(crate) function: u32,
    /// Of the collective.
    pub(crate) number: i64,
}

/// One communicator over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    /// Stretches of the time grid.
    pub(crate) stretches: usize,
    /// Member by member, stretch by stretch.
    pub(crate) bins: Vec<Bin>,
    /// Per function and size.
    pub(crate) transfer: BTreeMap<(u32, u64), Transfers>,
    /// Per member: its stamp minus the mean stamp of the collective, summed (µs), and how many.
    pub(crate) stamp_offset: Vec<(f64, f64)>,
    /// Events; the first [`MAX_EVENTS`].
    pub(crate) events: Vec<Event>,
    /// Whether ranks were compared by long chunks.
    pub(crate) sparse: bool,
    /// Whether some ranks left no file, so that transfers are those of the others: at most too long, where a missing rank came last.
    pub(crate) partial: bool,
    /// Collectives to show: of each member that is markedly late at some time, a few.
    pub(crate) examples: Vec<Example>,
}

impl Trace {
    /// The bins of a member.
    pub(crate) fn member(&self, m: usize) -> &[Bin] {
        &self.bins[m * self.stretches..(m + 1) * self.stretches]
    }

    /// Adds what another part of the same communicator showed.
    pub(crate) fn merge(&mut self, other: Self) {
        if self.bins.is_empty() {
            *self = other;
            return;
        }
        for (a, b) in self.bins.iter_mut().zip(&other.bins) {
            a.lateness += b.lateness;
            a.raw_lateness += b.raw_lateness;
            a.operations += b.operations;
            a.chunks += b.chunks;
            a.wait += b.wait;
            a.micros += b.micros;
            a.event_micros += b.event_micros;
            a.events += b.events;
        }
        for (cell, theirs) in other.transfer {
            self.transfer.entry(cell).or_default().merge(&theirs);
        }
        for (a, b) in self.stamp_offset.iter_mut().zip(other.stamp_offset) {
            *a = (a.0 + b.0, a.1 + b.1);
        }
        self.sparse |= other.sparse;
        self.partial |= other.partial;
        self.events.extend(other.events);
        self.events.truncate(MAX_EVENTS);
        self.examples.extend(other.examples);
        example::bound(&mut self.examples);
    }
}

/// Traces the collectives of a communicator. `ends_together` tells functions whose ranks end at one moment.
pub(crate) fn trace(
    comm: &Comm,
    matched: &Matched,
    grid: &TimeGrid,
    dump_interval: f64,
    ends_together: impl Fn(u32) -> bool,
) -> Trace {
    let members = comm.members.len();
    let mut t = Trace {
        stretches: grid.len(),
        bins: vec![Bin::default(); members * grid.len()],
        stamp_offset: vec![(0.0, 0.0); members],
        ..Trace::default()
    };
    let whole = comm.n_ranks as usize;
    let mut stretches = grid.cursor();
    let enough = |seen: usize| seen >= LEAST_SEEN && (seen as f64) >= SEEN * whole as f64;
    t.partial = members < whole && enough(members);
    let compared: Vec<bool> = matched
        .cells()
        .iter()
        .map(|c| members > 1 && ends_together(c.0))
        .collect();
    let mut moments: Vec<Vec<Moment<'_>>> = vec![Vec::new(); compared.len()];
    for (c, cell) in matched.collectives() {
        // A line is written up to one interval after the operation; the mean over ranks is half an interval late.
        let stamp = c.mean_stamp();
        let stretch = stretches.stretch((stamp - dump_interval / 2.0) as i64);
        let complete = c.rows.len() == whole;
        let all_there = complete || (t.partial && c.rows.len() == members);
        let transfer = all_there.then(|| c.shortest());
        for r in c.rows {
            let bin = &mut t.bins[r.member as usize * grid.len() + stretch];
            bin.micros += r.micros;
            if let Some(shortest) = transfer.filter(|_| complete) {
                bin.wait += r.micros - shortest;
            }
        }
        if c.rows.len() > 1 {
            for r in c.rows {
                let o = &mut t.stamp_offset[r.member as usize];
                *o = (o.0 + (r.dumped as f64 - stamp), o.1 + 1.0);
            }
        }
        if compared[cell] && c.sequence_number() >= WARM_UP {
            moments[cell].push(Moment {
                stretch,
                rows: c.rows,
                transfer,
            });
        }
    }
    let mut cells: Vec<_> = matched.cells().iter().zip(&moments).collect();
    cells.retain(|(_, moments)| !moments.is_empty());
    cells.sort_unstable_by_key(|c| c.0);
    let mut lateness = Lateness::new(members);
    for &(&cell, moments) in &cells {
        let records: usize = moments.iter().map(|m| m.rows.len()).sum();
        let complete = moments.iter().filter(|m| m.transfer.is_some()).count();
        // Two ranks of a collective tell which of them was later, whoever else is missing. Of two ranks in all, each loses some.
        let told = moments.iter().filter(|m| m.rows.len() > 1).count();
        if records >= 2 * moments.len() || MOSTLY * told as f64 >= moments.len() as f64 {
            lateness.add(&mut t, moments);
        } else {
            t.sparse = true;
            lateness_of_medians(&mut t, members, moments, records);
        }
        // The transfer shows only where every rank is there.
        if complete >= CHUNK || complete == moments.len() {
            transfer(&mut t, cell, moments);
        } else {
            t.sparse = true;
            transfer_of_quickest(&mut t, comm, cell, moments, records);
        }
    }
    t.examples = example::examples(&t, comm.n_ranks as usize, cells.iter().map(|c| c.1));
    t
}

#[cfg(test)]
mod tests {
    use super::super::row::Row;
    use super::*;
    use crate::facts::ProcessId;
    use crate::records::grid::STRETCHES;

    fn comm(n: u32) -> Comm {
        let members = (0..n).map(|r| (r, ProcessId(r), r)).collect();
        Comm {
            id: "0x1".into(),
            name: None,
            n_ranks: n,
            nnodes: 1,
            run: 0,
            members,
            seen: (0, 0),
        }
    }

    /// 40 collectives, the transfer takes 100 µs, rank 2 arrives 50 µs after the others and, at number 20, another 5000 µs later.
    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for sn in 0..40_i64 {
            let late = 50.0 + if sn == 20 { 5000.0 } else { 0.0 };
            for member in 0..4 {
                let micros = if member == 2 { 100.0 } else { 100.0 + late };
                rows.push(Row {
                    function: 0,
                    member,
                    sequence_number: sn,
                    size: 8192,
                    micros,
                    dumped: sn * 1000,
                });
            }
        }
        rows
    }

    #[test]
    fn the_late_rank_is_the_one_with_the_shortest_time() {
        let grid = TimeGrid::over(vec![(0, 40_000)], STRETCHES);
        let t = trace(&comm(4), &Matched::of(rows()), &grid, 0.0, |_| true);
        let mean = |m: usize| {
            let (sum, n) = t
                .member(m)
                .iter()
                .fold((0.0, 0.0), |a, b| (a.0 + b.lateness, a.1 + b.operations));
            sum / n
        };
        assert!((mean(2) - 50.0).abs() < 1e-9);
        assert!(mean(0).abs() < 1e-9);
        let events: f64 = t.member(2).iter().map(|b| b.event_micros).sum();
        assert!((events - 5000.0).abs() < 1e-9);
        assert_eq!(t.member(0).iter().map(|b| b.events).sum::<f64>(), 0.0);
        let transfer = &t.transfer[&(0, 8192)];
        assert!(
            transfer
                .iter()
                .filter_map(|(_, t)| t.mean())
                .all(|x| (x - 100.0).abs() < 1e-9)
        );
        // The habit is shown, not the one bad moment.
        assert!(!t.examples.is_empty());
        for e in &t.examples {
            assert_eq!(
                (e.member, e.late, e.last, e.times.len()),
                (2, 50.0, true, 4)
            );
        }
    }

    #[test]
    fn with_few_ranks_of_each_collective_their_medians_are_compared() {
        let grid = TimeGrid::over(vec![(0, 40_000)], STRETCHES);
        // Every rank keeps another quarter of the records.
        let some: Vec<Row> = rows()
            .into_iter()
            .filter(|r| r.sequence_number % 4 == i64::from(r.member))
            .collect();
        let t = trace(&comm(4), &Matched::of(some), &grid, 0.0, |_| true);
        assert!(t.sparse);
        let late: f64 = t.member(2).iter().map(|b| b.lateness).sum();
        let ops: f64 = t.member(2).iter().map(|b| b.operations).sum();
        assert!((late / ops - 50.0).abs() < 1e-9);
    }
}
