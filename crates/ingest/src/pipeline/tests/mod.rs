//! Whole runs over folders of dumps.

mod copies;
mod databases;
mod folders;
mod incremental;
mod interruption;
mod job;
mod shards;
