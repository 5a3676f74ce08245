//! Communicators and families of them.

use std::fmt;

use nccl_report_ingest::units::{BusBandwidth, ExecTime, MessageSize, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Distribution, ProcessId};

/// What a communicator's traffic crosses, by its number of ranks and nodes.
///
/// `n_ranks == 1` single-rank; else `nnodes == 1` nvlink-only; else `n_ranks == nnodes` hca-only; else mixed.
/// The names are the field's: nvlink-only may in truth be PCIe, and on multi-node NVLink systems the others may be NVLink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommClass {
    /// One rank: nothing is communicated.
    SingleRank,
    /// Several ranks on one node.
    NvlinkOnly,
    /// One rank on each of several nodes.
    HcaOnly,
    /// Several nodes, several ranks on at least one of them.
    Mixed,
}

impl CommClass {
    /// The class of a communicator of `n_ranks` ranks on `nnodes` nodes.
    #[must_use]
    pub const fn of(n_ranks: u32, nnodes: u32) -> Self {
        match (n_ranks, nnodes) {
            (0 | 1, _) => Self::SingleRank,
            (_, 0 | 1) => Self::NvlinkOnly,
            (r, n) if r == n => Self::HcaOnly,
            _ => Self::Mixed,
        }
    }

    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SingleRank => "single-rank",
            Self::NvlinkOnly => "nvlink-only",
            Self::HcaOnly => "hca-only",
            Self::Mixed => "mixed",
        }
    }

    /// Whether its traffic leaves the node.
    #[must_use]
    pub const fn crosses_network(self) -> bool {
        matches!(self, Self::HcaOnly | Self::Mixed)
    }
}

impl fmt::Display for CommClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A rank of a communicator and the process behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Rank in this communicator.
    pub rank: u32,
    /// The process.
    pub process: ProcessId,
}

/// What is known of the records that a communicator lacks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Records that the plugin admits it dropped (`dump_stats` totals, summed over ranks); `None` when no dump says.
    pub dropped: Option<u64>,
    /// Sequence numbers between the first and the last seen of each function that no rank recorded.
    /// Not all of them are losses: small messages, CPU-timed records and CUDA-graph replays leave gaps by design.
    pub numbers_unseen: u64,
    /// Records missing from collectives that at least one rank recorded, over the ranks that appear at all.
    pub records_unmatched: u64,
}

/// A communicator as its records show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Communicator {
    /// The Inspector's id: a hash, cut to 14 digits, that differs between jobs.
    pub id: String,
    /// Name that the application gave it; `None` for an old plugin, or when unset.
    pub name: Option<String>,
    /// Class by ranks and nodes.
    pub class: CommClass,
    /// Its size in ranks.
    pub n_ranks: u32,
    /// How many nodes it spans.
    pub nnodes: u32,
    /// Ranks that appear, by rank.
    pub members: Vec<Member>,
    /// Index in [`crate::Job::families`].
    pub family: u32,
    /// Index in [`crate::Job::runs`].
    pub run: u32,
    /// Collectives of which at least one rank has a record.
    pub collectives: u64,
    /// Collectives of which every rank has a record.
    pub collectives_complete: u64,
    /// Send and Recv records.
    pub p2p_records: u64,
    /// What is missing.
    pub loss: Loss,
    /// Kernel time of all its records, summed over ranks.
    pub time: ExecTime,
    /// When its first record was written.
    pub first_dump: Timestamp,
    /// When its last record was written.
    pub last_dump: Timestamp,
}

/// Communicators of one shape and role: size, nodes, operations, and name with its index stripped ("DP Group 3" → "DP Group").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Family {
    /// A name for people: the stripped communicator name, or one made from the shape.
    pub label: String,
    /// Class by ranks and nodes.
    pub class: CommClass,
    /// Ranks of each member.
    pub n_ranks: u32,
    /// Nodes of each member.
    pub nnodes: u32,
    /// Indices in [`crate::Job::communicators`].
    pub communicators: Vec<u32>,
    /// What its members do, by operation and size.
    pub operations: Vec<FamilyOperation>,
    /// Share of the job's communication time, 0..1.
    pub share_of_time: f64,
}

/// One operation at one size in all communicators of a family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FamilyOperation {
    /// `AllReduce`, `Send`, …
    pub operation: String,
    /// Message size.
    pub size: MessageSize,
    /// How many operations (a collective counts once, a Send or Recv for each record).
    pub operations: u64,
    /// How many records.
    pub records: u64,
    /// Bus bandwidth that the link gives: from the shortest time of each collective.
    pub link_busbw: Option<Distribution<BusBandwidth>>,
    /// Bus bandwidth that the job felt: from the mean time of each collective.
    pub felt_busbw: Option<Distribution<BusBandwidth>>,
    /// Shortest time of each collective.
    pub shortest: Option<Distribution<ExecTime>>,
    /// Longest minus shortest time of each collective.
    pub spread: Option<Distribution<ExecTime>>,
    /// Kernel time of all records, summed over ranks.
    pub time: ExecTime,
    /// Share of the job's communication time, 0..1.
    pub share_of_time: f64,
    /// Median link bandwidth of each communicator, in the order of [`Family::communicators`]; `None` where it has no such operation.
    pub link_busbw_by_communicator: Vec<Option<BusBandwidth>>,
}
