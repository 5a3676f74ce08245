//! From what was measured to the vocabulary of facts.

mod communicators;
mod families;
mod groups;
mod overview;
mod pairs;
mod slices;

pub(crate) use communicators::communicators;
pub(crate) use families::families;
pub(crate) use groups::{groups, histograms, scatters};
pub(crate) use overview::{overview, sampled};
pub(crate) use pairs::{pair_matrices, pairs};
pub(crate) use slices::{cube, shares, slices, time_slices};
