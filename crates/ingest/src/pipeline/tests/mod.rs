//! Whole runs over folders of dumps.

mod copies;
mod databases;
mod folders;
mod incremental;
mod interruption;
mod job;
mod shards;

/// Collectives and Sends of a process, so many of each.
pub(super) fn dump_and_sends(count: u32) -> String {
    job::sends(1, count) + &job::dump(1, count)
}
