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

/// Transfer times of one function and size over the stretches of time in which there were any: a communicator has many functions and
/// sizes, and of most of them only now and then an operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Transfers(Vec<(u32, Transfer)>);

impl Transfers {
    /// Adds an operation whose chunk of `length` has this median.
    pub(crate) fn add(&mut self, stretch: usize, median: f64, length: usize) {
        self.at(stretch).add(median, length);
    }

    /// What there was in a stretch.
    fn at(&mut self, stretch: usize) -> &mut Transfer {
        let stretch = u32::try_from(stretch).unwrap_or(u32::MAX);
        // Operations mostly come in the order of time.
        let place = match self.0.last() {
            Some(last) if last.0 == stretch => self.0.len() - 1,
            Some(last) if last.0 > stretch => self.0.partition_point(|t| t.0 < stretch),
            _ => self.0.len(),
        };
        if self.0.get(place).is_none_or(|t| t.0 != stretch) {
            self.0.insert(place, (stretch, Transfer::default()));
        }
        &mut self.0[place].1
    }

    /// Adds what another part of the same showed.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (stretch, transfer) in other.iter() {
            self.at(stretch).merge(transfer);
        }
    }

    /// Stretches that have any, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Transfer)> {
        self.0.iter().map(|(stretch, t)| (*stretch as usize, t))
    }

    /// All of it together.
    pub(crate) fn whole(&self) -> Transfer {
        let mut all = Transfer::default();
        self.iter().for_each(|(_, t)| all.merge(t));
        all
    }
}

/// Transfer times: the shortest time of each collective that every rank recorded.
pub(super) fn transfer(t: &mut Trace, cell: (u32, u64), moments: &[Moment<'_>]) {
    let whole: Vec<(usize, f64)> = moments
        .iter()
        .filter_map(|m| m.transfer.map(|x| (m.stretch, x)))
        .collect();
    let transfer = t.transfer.entry(cell).or_default();
    let mut values: Vec<f64> = Vec::new();
    let length = (whole.len() / LEAST_CHUNKS).clamp(SHORTEST_CHUNK, CHUNK);
    for chunk in chunks(&whole, length) {
        values.clear();
        values.extend(chunk.iter().map(|c| c.1));
        let Some(median) = robust::median(&mut values) else {
            continue;
        };
        for &(stretch, _) in chunk {
            transfer.add(stretch, median, chunk.len());
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
        let transfer = t.transfer.entry(cell).or_default();
        for m in chunk {
            transfer.add(m.stretch, quickest, chunk.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_in_order_however_they_come() {
        let mut a = Transfers::default();
        for (stretch, micros) in [(3, 10.0), (5, 20.0), (3, 30.0), (1, 7.0)] {
            a.add(stretch, micros, 2);
        }
        let mut b = Transfers::default();
        b.add(4, 1.0, 1);
        b.add(5, 2.0, 1);
        a.merge(&b);
        let seen: Vec<(usize, f64, f64)> =
            a.iter().map(|(s, t)| (s, t.micros, t.operations)).collect();
        assert_eq!(
            seen,
            [(1, 7.0, 1.0), (3, 40.0, 2.0), (4, 1.0, 1.0), (5, 22.0, 2.0)]
        );
        assert_eq!(a.whole().chunks, 2.0 + 2.0);
    }
}
