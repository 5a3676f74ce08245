//! Transfer: how long the data itself took, from the rank that waited least.

use super::chunk::{CHUNK, LONG_CHUNK_RECORDS, Moment, chunks, long_chunks, times_by_member};
use super::trace::Trace;
use crate::communicator::Comm;
use crate::statistics::robust;

/// In a long chunk, the transfer is this quantile of the times of the rank that waits least.
const QUICK: f64 = 0.2;

/// Chunks that the collectives of a function and size make at least, where they are shorter than usual: of a run of thirty steps a fifth, in
/// which the network was slow, would fill none.
const LEAST_CHUNKS: usize = 6;

/// Two transfers that take far too long, by retransmits or a pause of the network, are to stay the smaller part of a chunk.
const SHORTEST_CHUNK: usize = 5;

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
/// Transfer times: the shortest time of each collective that every rank recorded.
pub(super) fn transfer(t: &mut Trace, cell: (u32, u64), moments: &[Moment<'_>]) {
    let whole: Vec<(usize, f64)> = moments
        .iter()
        .filter_map(|m| m.transfer.map(|x| (m.stretch, x)))
        .collect();
    let stretches = t.stretches;
    let transfer = t
        .transfer
        .entry(cell)
        .or_insert_with(|| vec![Transfer::default(); stretches]);
    let mut values: Vec<f64> = Vec::new();
    let length = (whole.len() / LEAST_CHUNKS).clamp(SHORTEST_CHUNK, CHUNK);
    for chunk in chunks(&whole, length) {
        values.clear();
        values.extend(chunk.iter().map(|c| c.1));
        let Some(median) = robust::median(&mut values) else {
            continue;
        };
        for &(stretch, _) in chunk {
            transfer[stretch].add(median, chunk.len());
        }
    }
}
/// Transfer times where hardly a collective has all ranks: the rank that waits least comes closest to the transfer itself, in
/// its quickest collectives. All ranks must be in the chunk to know that it is the one.
pub(super) fn transfer_of_quickest(
    t: &mut Trace,
    comm: &Comm,
    cell: (u32, u64),
    moments: &[Moment<'_>],
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
