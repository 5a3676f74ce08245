//! Turns a dataset of NCCL Inspector records into facts and findings.
//!
//! The door is [`analyze`]: a dataset that `nccl-report-ingest` wrote goes in, a [`facts::Job`] comes out.
//! [`examine`] keeps what [`compare`] needs beside it, to set two runs against each other.
//! Without the feature `engine` the crate is the vocabulary of [`facts`] alone, and builds without polars.

pub mod facts;

#[cfg(feature = "engine")]
mod assemble;
#[cfg(feature = "engine")]
mod cause;
#[cfg(feature = "engine")]
mod collective;
#[cfg(feature = "engine")]
mod communicator;
#[cfg(feature = "engine")]
mod comparison;
#[cfg(feature = "engine")]
mod engine;
mod error;
#[cfg(feature = "engine")]
mod host;
#[cfg(feature = "engine")]
mod kernels;
#[cfg(feature = "engine")]
mod measured;
mod options;
#[cfg(feature = "engine")]
mod point_to_point;
#[cfg(feature = "engine")]
mod records;
#[cfg(feature = "engine")]
mod roll_up;
#[cfg(feature = "engine")]
mod rules;
#[cfg(feature = "engine")]
mod statistics;

#[cfg(feature = "engine")]
pub use comparison::{CompareOptions, Examined, HistoryBuilder, compare};
#[cfg(feature = "engine")]
pub use engine::{analyze, examine};
pub use error::Error;
pub use nccl_report_ingest::units;
pub use options::Options;
#[cfg(feature = "engine")]
pub use rules::{RuleError, Rules};
