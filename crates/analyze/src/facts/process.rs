//! Who wrote the records.

use serde::{Deserialize, Serialize};

/// Index of a process in [`crate::Job::processes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessId(pub u32);

/// One rank of the job: a process, or one of the GPUs that a process drives.
///
/// A process that drives several GPUs is several entries with one `pid`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Host name as the dump gives it.
    pub host: String,
    /// Process id on that host.
    pub pid: i64,
    /// Place among the ranks of its host, in order of global rank where known.
    pub local_rank: u32,
    /// Rank in the communicator that holds every process; `None` when no communicator does.
    pub global_rank: Option<u32>,
    /// Index of the run in [`crate::Job::runs`] that it belongs to.
    pub run: u32,
}
