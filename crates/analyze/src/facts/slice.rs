//! The same records cut along other axes: from the whole to the one rank.

use nccl_report_ingest::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Distribution, ProcessId};

/// What a slice is a slice of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum SliceOf {
    /// All records of one communicator (index in [`crate::Job::communicators`]).
    Communicator {
        /// Index in [`crate::Job::communicators`].
        communicator: u32,
    },
    /// All records of one host.
    Host {
        /// Host name.
        host: String,
    },
    /// All records of one process.
    Rank {
        /// The process.
        process: ProcessId,
    },
    /// All records of one stretch of the run.
    Time {
        /// Start of the stretch.
        start: Timestamp,
        /// End of the stretch, exclusive.
        end: Timestamp,
    },
}

/// Statistics of one slice and one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// What the slice is of.
    #[serde(flatten)]
    pub of: SliceOf,
    /// `AllReduce`, `Send`, …
    pub operation: String,
    /// How many records.
    pub records: u64,
    /// Sum of the message sizes.
    pub bytes: u64,
    /// Kernel time, summed.
    pub time: ExecTime,
    /// Time above the shortest of the same collective, summed: waiting for late ranks. `None` for Send and Recv.
    pub wait: Option<ExecTime>,
    /// Bus bandwidth over the slice, weighed by time: Σ(busbw × time) / Σ time.
    pub busbw: BusBandwidth,
    /// Share of the job's communication time, 0..1.
    pub share_of_time: f64,
}

/// Send/Recv traffic of one ordered pair of processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairSlice {
    /// Index in [`crate::Job::communicators`].
    pub communicator: u32,
    /// Rank of the sender in the communicator.
    pub source_rank: u32,
    /// Rank of the receiver in the communicator.
    pub destination_rank: u32,
    /// The sender; `None` when it left no records.
    pub source: Option<ProcessId>,
    /// The receiver; `None` when it left no records.
    pub destination: Option<ProcessId>,
    /// Whether the two sit on different hosts; `None` when one of them is unknown.
    pub crosses_network: Option<bool>,
    /// Message size.
    pub size: MessageSize,
    /// Send records.
    pub sends: u64,
    /// Receive records.
    pub recvs: u64,
    /// Bytes sent (or, where the sender's records lack, received).
    pub bytes: u64,
    /// Time of the sender's records.
    pub send_time: Option<Distribution<ExecTime>>,
    /// Time of the receiver's records.
    pub recv_time: Option<Distribution<ExecTime>>,
    /// Bandwidth of the transfer itself: from the side that waits least.
    pub link_bandwidth: BusBandwidth,
}

/// Where the time goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Index in [`crate::Job::families`].
    pub family: u32,
    /// `AllReduce`, `Send`, …
    pub operation: String,
    /// Message size.
    pub size: MessageSize,
    /// How many records.
    pub records: u64,
    /// Sum of the message sizes.
    pub bytes: u64,
    /// Kernel time, summed.
    pub time: ExecTime,
    /// Share of the job's communication time, 0..1.
    pub share_of_time: f64,
}
