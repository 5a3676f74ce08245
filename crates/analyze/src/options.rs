//! What a caller may choose.

use nccl_report_ingest::ebpf::HostTrace;

/// Choices of an analysis.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Traces of the hosts' networks, if there are any.
    pub traces: Vec<HostTrace>,
    /// A name for the job, for the head of the report.
    pub title: String,
    /// Limits of the user's own.
    #[cfg(feature = "engine")]
    pub rules: Option<crate::Rules>,
    /// Records held in memory at a time while collectives are matched, 48 bytes each.
    pub max_rows: u64,
}

impl Default for Options {
    /// Four million records: about 200 MB, twice that while they are sorted into place.
    fn default() -> Self {
        Self {
            traces: Vec::new(),
            title: String::new(),
            #[cfg(feature = "engine")]
            rules: None,
            max_rows: 4 << 20,
        }
    }
}
