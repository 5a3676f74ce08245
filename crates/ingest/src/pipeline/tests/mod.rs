//! Whole runs over folders of dumps.

mod copies;
mod folders;
mod incremental;
mod interruption;
mod job;
mod shards;
