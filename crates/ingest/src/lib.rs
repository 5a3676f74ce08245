//! Reads NCCL Inspector dumps into a Parquet dataset.

mod dataset;
pub mod ebpf;
mod error;
mod inputs;
pub mod inspector;
mod pipeline;
mod progress;
mod shard;
pub mod source;
mod table;
pub mod units;

pub use dataset::{Census, CommunicatorSeen, Dataset, ProcessSeen, SourceFile, TableFile};
pub use error::Error;
pub use inputs::{Inputs, LineCounts, LineExample, SkippedFile};
pub use pipeline::{Options, Share, ingest};
pub use progress::{NoProgress, Progress};
pub use shard::{MergeOptions, Shard, merge};
pub use source::Fingerprint;
pub use table::Table;
