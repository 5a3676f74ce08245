//! The program as its users meet it: arguments in; stdout, stderr, files and exit status out.

mod analyze;
mod completions;
mod dump;
mod help;
mod ingest;
mod interrupt;
mod man;
mod program;
mod report;
mod shards;
mod terminal;
mod usage;
