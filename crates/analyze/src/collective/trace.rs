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

use super::gather::Row;
use super::matching::{self, Collective};
use crate::communicator::Comm;
use crate::records::grid::TimeGrid;
use crate::statistics::robust;

/// Collectives of one function and size whose median is taken: long enough that one pause (or two) can't move it, short
/// enough that a fault that lasts for a tenth of a short run fills several.
const CHUNK: usize = 8;

/// Records a rank needs in a long chunk for its median to count.
const LONG_CHUNK_RECORDS: usize = 5;

/// In a long chunk, the transfer is this quantile of the times of the rank that waits least.
const QUICK: f64 = 0.2;

/// The first collectives of a function pay for connections and buffers.
const WARM_UP: i64 = 3;

/// An event sticks out of the chunk's median by this many interquartile ranges of the ordinary lateness. For the exponential
/// jitter of kernel launches that is a chance of about e⁻¹¹.
const EVENT_IQRS: f64 = 10.0;

/// Events kept one by one in a communicator; sums go on beyond.
const MAX_EVENTS: usize = 1 << 16;

/// Sums of one member over one stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Bin {
    /// Lateness (chunk medians), µs, summed over operations.
    pub(crate) lateness: f64,
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

/// Transfer times of one function and size over one stretch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Transfer {
    /// Sum of chunk medians, µs.
    pub(crate) micros: f64,
    /// Operations in the sum.
    pub(crate) operations: f64,
    /// Chunks in the sum.
    pub(crate) chunks: f64,
}

impl Transfer {
    /// Adds an operation whose chunk of `length` has this median.
    pub(crate) fn add(&mut self, median: f64, length: usize) {
        self.micros += median;
        self.operations += 1.0;
        self.chunks += 1.0 / length as f64;
    }

    /// Adds the sums of another stretch or part.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.micros += other.micros;
        self.operations += other.operations;
        self.chunks += other.chunks;
    }

    /// Mean of the medians, µs.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.operations > 0.0).then(|| self.micros / self.operations)
    }
}

/// One communicator over time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace {
    /// Stretches of the time grid.
    pub(crate) stretches: usize,
    /// Member by member, stretch by stretch.
    pub(crate) bins: Vec<Bin>,
    /// Per function and size, stretch by stretch.
    pub(crate) transfer: BTreeMap<(u32, u64), Vec<Transfer>>,
    /// Per member: its stamp minus the mean stamp of the collective, summed (µs), and how many.
    pub(crate) stamp_offset: Vec<(f64, f64)>,
    /// Events: member, stretch, µs beyond the chunk's median; the first [`MAX_EVENTS`].
    pub(crate) events: Vec<(u32, u32, f64)>,
    /// Whether ranks were compared by long chunks.
    pub(crate) sparse: bool,
    /// A collective to show: the one in which a member was latest beyond all others, by how much, and its records.
    pub(crate) worst: Option<(f64, Vec<Row>)>,
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
            a.operations += b.operations;
            a.chunks += b.chunks;
            a.wait += b.wait;
            a.micros += b.micros;
            a.event_micros += b.event_micros;
            a.events += b.events;
        }
        for (cell, theirs) in other.transfer {
            let mine = self
                .transfer
                .entry(cell)
                .or_insert_with(|| vec![Transfer::default(); theirs.len()]);
            for (a, b) in mine.iter_mut().zip(&theirs) {
                a.merge(b);
            }
        }
        for (a, b) in self.stamp_offset.iter_mut().zip(other.stamp_offset) {
            *a = (a.0 + b.0, a.1 + b.1);
        }
        self.sparse |= other.sparse;
        self.events.extend(other.events);
        self.events.truncate(MAX_EVENTS);
        if other.worst.as_ref().map(|w| w.0) > self.worst.as_ref().map(|w| w.0) {
            self.worst = other.worst;
        }
    }
}

/// Traces the rows of a communicator. `ends_together` tells functions whose ranks end at one moment.
pub(crate) fn trace(
    comm: &Comm,
    rows: &mut [Row],
    grid: &TimeGrid,
    dump_interval: f64,
    ends_together: &dyn Fn(u32) -> bool,
) -> Trace {
    let members = comm.members.len();
    let mut t = Trace {
        stretches: grid.len(),
        bins: vec![Bin::default(); members * grid.len()],
        stamp_offset: vec![(0.0, 0.0); members],
        ..Trace::default()
    };
    let mut cells: BTreeMap<(u32, u64), Vec<Moment>> = BTreeMap::new();
    matching::collectives(rows, |c| {
        // A line is written up to one interval after the operation; the mean over ranks is half an interval late.
        let stretch = grid.stretch((c.mean_stamp() - dump_interval / 2.0) as i64);
        let complete = c.rows.len() == comm.n_ranks as usize;
        let shortest = if complete { c.shortest() } else { f64::NAN };
        for r in c.rows {
            let bin = &mut t.bins[r.member as usize * grid.len() + stretch];
            bin.micros += r.micros;
            if complete {
                bin.wait += r.micros - shortest;
            }
        }
        if c.rows.len() > 1 {
            let mean = c.mean_stamp();
            for r in c.rows {
                let o = &mut t.stamp_offset[r.member as usize];
                *o = (o.0 + (r.dumped as f64 - mean), o.1 + 1.0);
            }
        }
        if ends_together(c.rows[0].function) && c.sequence_number() >= WARM_UP && members > 1 {
            note_worst(&mut t.worst, &c, complete);
            cells.entry(c.cell()).or_default().push(Moment {
                stretch,
                rows: c.rows.to_vec(),
            });
        }
    });
    for (cell, moments) in &cells {
        let records: usize = moments.iter().map(|m| m.rows.len()).sum();
        let complete = moments
            .iter()
            .filter(|m| m.rows.len() == comm.n_ranks as usize)
            .count();
        // Two ranks of a collective tell which of them was later, whoever else is missing.
        if records >= 2 * moments.len() {
            lateness(&mut t, members, moments);
        } else {
            t.sparse = true;
            lateness_of_medians(&mut t, members, moments, records);
        }
        // The transfer shows only where every rank is there.
        if complete >= CHUNK || complete == moments.len() {
            transfer(&mut t, comm, *cell, moments);
        } else {
            t.sparse = true;
            transfer_of_quickest(&mut t, comm, *cell, moments, records);
        }
    }
    t
}

/// A collective at its stretch of time.
struct Moment {
    stretch: usize,
    rows: Vec<Row>,
}

fn note_worst(worst: &mut Option<(f64, Vec<Row>)>, c: &Collective<'_>, complete: bool) {
    if !complete || c.rows.len() < 2 {
        return;
    }
    let mut two = [f64::INFINITY; 2];
    for r in c.rows {
        if r.micros < two[0] {
            two = [r.micros, two[0]];
        } else if r.micros < two[1] {
            two[1] = r.micros;
        }
    }
    let gap = two[1] - two[0];
    if worst.as_ref().is_none_or(|w| gap > w.0) {
        *worst = Some((gap, c.rows.to_vec()));
    }
}

/// Lateness of each record against the other ranks of its collective.
fn lateness(t: &mut Trace, members: usize, moments: &[Moment]) {
    let mut by_member: Vec<Vec<(usize, f64)>> = vec![Vec::new(); members];
    for m in moments {
        let mut sorted: Vec<(f64, u32)> = m.rows.iter().map(|r| (r.micros, r.member)).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let times: Vec<f64> = sorted.iter().map(|s| s.0).collect();
        let Some(others) = robust::medians_of_others(&times) else {
            continue;
        };
        for ((micros, member), other) in sorted.into_iter().zip(others) {
            by_member[member as usize].push((m.stretch, other - micros));
        }
    }
    let mut residuals: Vec<(usize, usize, f64)> = Vec::new();
    for (member, late) in by_member.iter().enumerate() {
        for chunk in chunks(late, CHUNK) {
            let mut values: Vec<f64> = chunk.iter().map(|c| c.1).collect();
            let Some(median) = robust::median(&mut values) else {
                continue;
            };
            for &(stretch, late) in chunk {
                let bin = &mut t.bins[member * t.stretches + stretch];
                bin.lateness += median;
                bin.operations += 1.0;
                bin.chunks += 1.0 / chunk.len() as f64;
                residuals.push((member, stretch, late - median));
            }
        }
    }
    note_events(t, &residuals);
}

/// Counts what sticks out of the chunk medians.
fn note_events(t: &mut Trace, residuals: &[(usize, usize, f64)]) {
    let mut values: Vec<f64> = residuals.iter().map(|r| r.2).collect();
    let iqr = robust::quantile(&mut values, 0.75).unwrap_or(0.0)
        - robust::quantile(&mut values, 0.25).unwrap_or(0.0);
    let limit = (EVENT_IQRS * iqr).max(1.0);
    for &(member, stretch, excess) in residuals.iter().filter(|r| r.2 > limit) {
        let bin = &mut t.bins[member * t.stretches + stretch];
        bin.event_micros += excess;
        bin.events += 1.0;
        if t.events.len() < MAX_EVENTS {
            t.events.push((
                u32::try_from(member).unwrap_or(u32::MAX),
                u32::try_from(stretch).unwrap_or(u32::MAX),
                excess,
            ));
        }
    }
}

/// Transfer times: the shortest time of each collective that every rank recorded.
fn transfer(t: &mut Trace, comm: &Comm, cell: (u32, u64), moments: &[Moment]) {
    let whole: Vec<(usize, f64)> = moments
        .iter()
        .filter(|m| m.rows.len() == comm.n_ranks as usize)
        .map(|m| (m.stretch, Collective { rows: &m.rows }.shortest()))
        .collect();
    let stretches = t.stretches;
    let transfer = t
        .transfer
        .entry(cell)
        .or_insert_with(|| vec![Transfer::default(); stretches]);
    for chunk in chunks(&whole, CHUNK) {
        let mut values: Vec<f64> = chunk.iter().map(|c| c.1).collect();
        let Some(median) = robust::median(&mut values) else {
            continue;
        };
        for &(stretch, _) in chunk {
            transfer[stretch].add(median, chunk.len());
        }
    }
}

/// Chunks so long that the average rank has several times the records that its median needs.
fn long_chunks(
    moments: &[Moment],
    members: usize,
    records: usize,
) -> std::slice::Chunks<'_, Moment> {
    let per_member = (records as f64 / members as f64).max(1.0);
    let pieces = (per_member / (4 * LONG_CHUNK_RECORDS) as f64)
        .floor()
        .max(1.0);
    moments.chunks(((moments.len() as f64 / pieces).ceil() as usize).max(1))
}

/// The times of each member in a long chunk.
fn times_by_member(chunk: &[Moment], members: usize) -> Vec<Vec<f64>> {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); members];
    for r in chunk.iter().flat_map(|m| &m.rows) {
        times[r.member as usize].push(r.micros);
    }
    times
}

/// Lateness where hardly two ranks of a collective were recorded: of each rank's median time in a long chunk.
fn lateness_of_medians(t: &mut Trace, members: usize, moments: &[Moment], records: usize) {
    for chunk in long_chunks(moments, members, records) {
        let mut times = times_by_member(chunk, members);
        let mut medians: Vec<(f64, usize)> = times
            .iter_mut()
            .enumerate()
            .filter(|(_, v)| v.len() >= LONG_CHUNK_RECORDS)
            .filter_map(|(m, v)| robust::median(v).map(|x| (x, m)))
            .collect();
        medians.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let sorted: Vec<f64> = medians.iter().map(|m| m.0).collect();
        let Some(others) = robust::medians_of_others(&sorted) else {
            continue;
        };
        let mut lateness = vec![None; members];
        for (&(own, member), other) in medians.iter().zip(others) {
            lateness[member] = Some(other - own);
        }
        for (m, r) in chunk
            .iter()
            .flat_map(|m| m.rows.iter().map(move |r| (m, r)))
        {
            if let Some(late) = lateness[r.member as usize] {
                let bin = &mut t.bins[r.member as usize * t.stretches + m.stretch];
                bin.lateness += late;
                bin.operations += 1.0;
                bin.chunks += 1.0 / times[r.member as usize].len() as f64;
            }
        }
    }
}

/// Transfer times where hardly a collective has all ranks: the rank that waits least comes closest to the transfer itself, in
/// its quickest collectives. All ranks must be in the chunk to know that it is the one.
fn transfer_of_quickest(
    t: &mut Trace,
    comm: &Comm,
    cell: (u32, u64),
    moments: &[Moment],
    records: usize,
) {
    let stretches = t.stretches;
    for chunk in long_chunks(moments, comm.members.len(), records) {
        let mut times = times_by_member(chunk, comm.members.len());
        if times.len() != comm.n_ranks as usize
            || times.iter().any(|v| v.len() < LONG_CHUNK_RECORDS)
        {
            continue;
        }
        let Some(quickest) = times
            .iter_mut()
            .filter_map(|v| robust::quantile(v, QUICK))
            .min_by(f64::total_cmp)
        else {
            continue;
        };
        let transfer = t
            .transfer
            .entry(cell)
            .or_insert_with(|| vec![Transfer::default(); stretches]);
        for m in chunk {
            transfer[m.stretch].add(quickest, chunk.len());
        }
    }
}

/// Pieces of about `length`; a short rest joins the piece before it.
fn chunks<T>(values: &[T], length: usize) -> impl Iterator<Item = &[T]> {
    let pieces = (values.len() / length).max(1);
    (0..pieces).filter_map(move |k| {
        let end = if k + 1 == pieces {
            values.len()
        } else {
            (k + 1) * length
        };
        values.get(k * length..end).filter(|c| !c.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ProcessId;

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
                    peer: -1,
                });
            }
        }
        rows
    }

    #[test]
    fn the_late_rank_is_the_one_with_the_shortest_time() {
        let grid = TimeGrid::over(vec![(0, 40_000)]);
        let t = trace(&comm(4), &mut rows(), &grid, 0.0, &|_| true);
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
                .filter_map(Transfer::mean)
                .all(|x| (x - 100.0).abs() < 1e-9)
        );
        assert_eq!(t.worst.expect("one is worst").0, 5050.0);
    }

    #[test]
    fn with_few_ranks_of_each_collective_their_medians_are_compared() {
        let grid = TimeGrid::over(vec![(0, 40_000)]);
        // Every rank keeps another quarter of the records.
        let mut some: Vec<Row> = rows()
            .into_iter()
            .filter(|r| r.sequence_number % 4 == i64::from(r.member))
            .collect();
        let t = trace(&comm(4), &mut some, &grid, 0.0, &|_| true);
        assert!(t.sparse);
        let late: f64 = t.member(2).iter().map(|b| b.lateness).sum();
        let ops: f64 = t.member(2).iter().map(|b| b.operations).sum();
        assert!((late / ops - 50.0).abs() < 1e-9);
    }
}
