//! The program as its users meet it: arguments in; stdout, stderr, files and exit status out.

mod analyze;
mod compare;
mod completions;
mod documented;
mod dump;
mod gate;
mod help;
mod history;
mod ingest;
mod interrupt;
mod man;
mod program;
mod report;
mod rules;
mod shards;
mod terminal;
mod traces;
mod usage;
mod verbose;
