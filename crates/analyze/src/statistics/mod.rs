//! Estimates that a few wild values can't move, samples that merge, and how sure a difference is.

pub(crate) mod bootstrap;
pub(crate) mod change_point;
pub(crate) mod multiple;
pub(crate) mod random;
pub(crate) mod robust;
pub(crate) mod runs;
mod sample;
pub(crate) mod student;
pub(crate) mod weighted;
pub(crate) mod window;

pub(crate) use sample::Sample;
