//! What the collectives of a family showed, whichever communicator they were of.
//!
//! A communicator's own times are kept only until all its records have been matched: what is kept then grows with the families and their
//! operations, and not with the communicators or the length of the job.

use std::collections::BTreeMap;

use super::facts::CommFacts;
use crate::communicator::Comm;
use crate::records::operation::{bandwidth_of, bus_work};
use crate::statistics::Sample;

/// Times of collectives that every rank recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Times {
    /// Shortest time of each, µs.
    pub(crate) shortest: Sample,
    /// Longest minus shortest time of each, µs.
    pub(crate) spread: Sample,
    /// Bus bandwidth from the mean time, GB/s.
    pub(crate) felt_busbw: Sample,
}

impl Times {
    /// Adds those of others.
    pub(crate) fn merge(&mut self, other: Self) {
        self.shortest.merge(other.shortest);
        self.spread.merge(other.spread);
        self.felt_busbw.merge(other.felt_busbw);
    }

    /// Bus bandwidth from the shortest time, GB/s, of operations with this [`bus_work`].
    pub(crate) fn link_busbw(&mut self, work: Option<f64>) -> Sample {
        self.shortest.map(|t| bandwidth_of(work?, t))
    }
}

/// Times by family, function and size.
#[derive(Debug, Default)]
pub(crate) struct Pools(BTreeMap<(usize, u32, u64), Times>);

impl Pools {
    /// Takes over the times of a communicator, of which no further records come. `function` tells the name of each function.
    pub(crate) fn settle<'f>(
        &mut self,
        family: usize,
        comm: &Comm,
        facts: &mut CommFacts,
        function: impl Fn(u32) -> &'f str,
    ) {
        for (&(f, size), cell) in &mut facts.cells {
            let mut times = std::mem::take(&mut cell.times);
            if times.shortest.count() == 0 {
                continue;
            }
            let work = bus_work(function(f), comm.n_ranks, size);
            cell.link_busbw = times.link_busbw(work).quantiles(&[0.5]).first().copied();
            self.0.entry((family, f, size)).or_default().merge(times);
        }
    }

    /// Those of a family's function and size.
    pub(crate) fn get_mut(
        &mut self,
        family: usize,
        function: u32,
        size: u64,
    ) -> Option<&mut Times> {
        self.0.get_mut(&(family, function, size))
    }

    /// All, by family, function and size.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&(usize, u32, u64), &Times)> {
        self.0.iter()
    }
}
