//! What a comparison keeps of a run: for each communicator, operation, size and stretch of time the times of the collectives.
//!
//! The times are thinned where they are many, so that a run of any length stays small; which ones stay depends on their order
//! alone.

use std::collections::BTreeMap;

use crate::collective::matching::Collective;
use crate::records::grid::TimeGrid;

/// Times kept of a block. Its median needs no more: its error is that of the run's noise over √64.
const KEPT: usize = 64;

/// Shortest and mean time of a collective over its ranks, µs. Single precision is exact to 16 s in whole microseconds.
pub(crate) type Times = (f32, f32);

/// Every `stride`-th of a series of collectives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Thinned {
    stride: u64,
    seen: u64,
    times: Vec<Times>,
}

impl Default for Thinned {
    fn default() -> Self {
        Self {
            stride: 1,
            seen: 0,
            times: Vec::new(),
        }
    }
}

impl Thinned {
    /// Adds the next collective.
    pub(crate) fn push(&mut self, times: Times) {
        if self.seen.is_multiple_of(self.stride) {
            self.times.push(times);
            self.halve_if_full();
        }
        self.seen += 1;
    }

    fn halve_if_full(&mut self) {
        while self.times.len() > KEPT {
            self.thin();
        }
    }

    fn thin(&mut self) {
        let mut i = 0;
        self.times.retain(|_| {
            i += 1;
            i % 2 == 1
        });
        self.stride *= 2;
    }

    /// Adds a later part of the same series.
    pub(crate) fn merge(&mut self, mut other: Self) {
        while self.stride < other.stride {
            self.thin();
        }
        while other.stride < self.stride {
            other.thin();
        }
        self.seen += other.seen;
        self.times.extend(other.times);
        self.halve_if_full();
    }

    /// Collectives in the series.
    pub(crate) const fn count(&self) -> u64 {
        self.seen
    }

    /// Those kept, and how many each stands for.
    pub(crate) fn times(&self) -> (&[Times], f64) {
        let weight = if self.times.is_empty() {
            0.0
        } else {
            self.seen as f64 / self.times.len() as f64
        };
        (&self.times, weight)
    }
}

/// One operation of one communicator in one stretch of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Block {
    /// Collectives of which every rank has a record.
    pub(crate) whole: Thinned,
    /// The others: the times are of the ranks that have one.
    pub(crate) part: Thinned,
}

/// The blocks of a communicator, by function, size and stretch.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommBlocks {
    pub(crate) blocks: BTreeMap<(u32, u64, usize), Block>,
}

impl CommBlocks {
    /// Adds a collective of a communicator of `n_ranks`.
    pub(crate) fn add(&mut self, collective: &Collective<'_>, n_ranks: u32, grid: &TimeGrid) {
        let (function, size) = collective.cell();
        let stretch = grid.stretch(collective.mean_stamp() as i64);
        let block = self.blocks.entry((function, size, stretch)).or_default();
        let times = (collective.shortest() as f32, collective.mean() as f32);
        if collective.rows.len() == n_ranks as usize {
            block.whole.push(times);
        } else {
            block.part.push(times);
        }
    }

    /// Adds what a later part of the same communicator showed.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, block) in other.blocks {
            let into = self.blocks.entry(key).or_default();
            into.whole.merge(block.whole);
            into.part.merge(block.part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_all_kept_and_many_evenly() {
        let mut t = Thinned::default();
        (0..64_u8).for_each(|i| t.push((f32::from(i), 0.0)));
        assert_eq!((t.times().0.len(), t.times().1, t.count()), (64, 1.0, 64));
        for i in 64..1_000_u16 {
            t.push((f32::from(i), 0.0));
        }
        // 1000 collectives, every 16th: 0, 16, …, 992.
        let kept: Vec<f32> = t.times().0.iter().map(|p| p.0).collect();
        assert_eq!(
            kept,
            (0..63_u16).map(|k| f32::from(16 * k)).collect::<Vec<_>>()
        );
        assert!((t.times().1 - 1_000.0 / 63.0).abs() < 1e-12);
    }

    #[test]
    fn parts_of_different_length_come_together() {
        let series = |range: std::ops::Range<u16>| {
            let mut t = Thinned::default();
            range.for_each(|i| t.push((f32::from(i), 0.0)));
            t
        };
        let mut a = series(0..200);
        a.merge(series(200..210));
        assert_eq!(a.count(), 210);
        assert_eq!(a.times().0.len(), 53);
        let mut b = series(0..10);
        b.merge(Thinned::default());
        assert_eq!(b, series(0..10));
    }
}
