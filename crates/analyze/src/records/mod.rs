//! From the dataset to numbers: the scan, the names it meets, and the census of everything countable record by record.

pub(crate) mod algorithms;
pub(crate) mod census;
pub(crate) mod clock;
pub(crate) mod grid;
pub(crate) mod operation;
pub(crate) mod registry;
pub(crate) mod scan;
pub(crate) mod swarm;
pub(crate) mod traces;
