//! Estimates that a few wild values can't move, and samples that merge.

pub(crate) mod robust;
mod sample;
pub(crate) mod window;

pub(crate) use sample::Sample;
