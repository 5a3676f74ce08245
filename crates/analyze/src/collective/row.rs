//! What matching needs of a record.

/// A record: 40 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Row {
    /// Function, a number of the census.
    pub(crate) function: u32,
    /// Index in the communicator's members.
    pub(crate) member: u32,
    /// Sequence number.
    pub(crate) sequence_number: i64,
    /// Message size, bytes.
    pub(crate) size: u64,
    /// Kernel time, µs.
    pub(crate) micros: f64,
    /// When its line was written, by the mean of the hosts' clocks.
    pub(crate) dumped: i64,
}
