//! The groups of the report: like with like, over all communicators.

use nccl_report_ingest::units::{BusBandwidth, ExecTime, MessageSize};
use serde::{Deserialize, Serialize};

use super::{CommClass, Distribution};

/// What makes two records comparable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupKey {
    /// Class of the communicator.
    pub class: CommClass,
    /// `AllReduce`, `Send`, …
    pub operation: String,
    /// Message size.
    pub size: MessageSize,
    /// Ranks of the communicator.
    pub n_ranks: u32,
    /// Nodes of the communicator.
    pub nnodes: u32,
}

/// Statistics over all records of one key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What the records have in common.
    pub key: GroupKey,
    /// `true` for Send and Recv, whose records aren't matched over ranks.
    pub p2p: bool,
    /// How many communicators.
    pub communicators: u64,
    /// How many collectives (for `p2p`, records).
    pub collectives: u64,
    /// How many records.
    pub records: u64,
    /// Bus bandwidth of the records, as written.
    pub busbw: Distribution<BusBandwidth>,
    /// Kernel time of the records.
    pub exec_time: Distribution<ExecTime>,
    /// Bus bandwidth that the link gives: from the shortest time of each collective. `None` for Send and Recv.
    pub link_busbw: Option<Distribution<BusBandwidth>>,
    /// Bus bandwidth that the job felt: from the mean time of each collective. `None` for Send and Recv.
    pub felt_busbw: Option<Distribution<BusBandwidth>>,
    /// Kernel time of all records, summed over ranks.
    pub time: ExecTime,
    /// Share of the job's communication time, 0..1.
    pub share_of_time: f64,
    /// The latency-bound regime: at this size time hardly depends on the size, so bandwidth says little.
    pub latency_bound: bool,
}
