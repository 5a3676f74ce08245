//! One file per subcommand, and the phases that they share.

mod analyze;
mod compare;
mod completions;
mod dispatch;
mod ingest;
mod man;
mod phases;
mod report;

pub use dispatch::run;
