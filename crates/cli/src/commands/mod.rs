//! One file per subcommand, and the phases that they share.

mod analyze;
mod compare;
mod completions;
mod dispatch;
mod history;
mod ingest;
mod man;
mod merge;
mod phases;
mod report;
mod rules;
mod shard;
mod slurm_script;

pub use dispatch::run;
