//! One run, ready to be compared.

use std::collections::BTreeSet;

use super::block::CommBlocks;
use super::bucket::{self, Buckets};
use crate::facts::{GroupKey, Job};
use crate::measured::Measured;
use crate::records::algorithms::Algorithms;
use crate::rules::RankTails;

/// A run that was analysed, and what a comparison needs of it beyond the facts.
#[derive(Debug)]
pub struct Examined {
    /// The facts.
    pub job: Job,
    pub(crate) buckets: Buckets,
    pub(crate) algorithms: Algorithms,
    /// Kernel time of all records, µs.
    pub(crate) micros: f64,
    /// The slow end of each rank's times, where rules ask for it.
    pub(crate) tails: RankTails,
}

/// What is kept while the measurements are turned into facts.
pub(crate) struct Kept {
    buckets: Buckets,
    micros: f64,
}

impl Kept {
    /// Sorts the blocks of a run into buckets.
    pub(crate) fn of(m: &Measured, blocks: Vec<CommBlocks>) -> Self {
        // Whether latency rules is known with the groups only.
        Self {
            buckets: bucket::buckets(m, blocks),
            micros: m.total_micros(),
        }
    }

    /// Together with the facts.
    pub(crate) fn with(mut self, job: Job, algorithms: Algorithms, tails: RankTails) -> Examined {
        let slow: BTreeSet<&GroupKey> = job
            .groups
            .iter()
            .filter(|g| g.latency_bound)
            .map(|g| &g.key)
            .collect();
        for (key, bucket) in &mut self.buckets {
            bucket.latency_bound = bucket::operations(key)
                .any(|operation| slow.contains(&bucket::group_key(key, operation)));
        }
        Examined {
            buckets: self.buckets,
            algorithms,
            micros: self.micros,
            tails,
            job,
        }
    }
}
