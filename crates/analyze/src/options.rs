//! What a caller may choose.

use std::path::PathBuf;

use crate::facts::SlowLimit;

/// Choices of an analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// A name for the job, for the head of the report.
    pub title: String,
    /// Limits of the user's own.
    #[cfg(feature = "engine")]
    pub rules: Option<crate::Rules>,
    /// Records held in memory at a time while collectives are matched, 32 bytes each; those of a larger job wait in a temporary file.
    pub max_rows: u64,
    /// Which host an eBPF trace is of, by the end of its path, where its own word isn't to be taken.
    pub hosts_of_traces: Vec<(String, PathBuf)>,
    /// Which of the collectives in eBPF traces are slow.
    pub slow: SlowLimit,
}

impl Default for Options {
    /// Four million records: 134 MB, and 40 bytes more for each of a communicator while it is matched.
    fn default() -> Self {
        Self {
            title: String::new(),
            #[cfg(feature = "engine")]
            rules: None,
            max_rows: 4 << 20,
            hosts_of_traces: Vec::new(),
            slow: SlowLimit::default(),
        }
    }
}
