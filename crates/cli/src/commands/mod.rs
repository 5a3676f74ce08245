//! One file per subcommand, and the phases that they share.

mod analyze;
mod compare;
mod completions;
mod dispatch;
mod ingest;
mod man;
mod merge;
mod phases;
mod report;
mod shard;
mod slurm_script;

pub use dispatch::run;
