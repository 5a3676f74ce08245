//! Jobs made up for tests: every figure has something to draw, numbers follow a seeded generator.

mod job;
mod plots;
mod random;

pub(crate) use job::{START, hostile, job, plain};
