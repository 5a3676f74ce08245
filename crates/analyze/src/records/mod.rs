//! From the dataset to numbers: the scan, the names it meets, and the census of everything countable record by record.

pub(crate) mod algorithms;
pub(crate) mod cell;
pub(crate) mod census;
pub(crate) mod clock;
mod file_census;
pub(crate) mod gaps;
pub(crate) mod grid;
pub(crate) mod group_samples;
pub(crate) mod hash;
pub(crate) mod held;
pub(crate) mod operation;
pub(crate) mod registry;
pub(crate) mod scan;
pub(crate) mod spill;
pub(crate) mod swarm;
pub(crate) mod traces;
