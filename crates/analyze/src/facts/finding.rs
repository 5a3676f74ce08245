//! What the analysis accuses, and of what.

use nccl_report_ingest::units::{ExecTime, Timestamp};
use serde::{Deserialize, Serialize};

/// Kinds of finding; the names are those of the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// A rank arrives late at its collectives and makes the others wait.
    LateRank,
    /// A rank is late now and then, far more often than its peers.
    IntermittentLateRank,
    /// All ranks of a host are late.
    LateHost,
    /// Transfers are slow though nobody is late.
    SlowLink,
    /// A pipeline stage as a whole takes longer.
    StageImbalance,
    /// Slow collectives coincide with TCP retransmits of a host far more than chance.
    TcpRetransmits,
    /// Records were overwritten before they were dumped.
    LostRecords,
    /// Ranks of a communicator left no file.
    MissingRanks,
    /// Input that could not be read.
    UnreadableInput,
    /// Clocks of the hosts disagree.
    ClockSkew,
    /// Dumps of several runs lie in one folder.
    MixedJobs,
    /// The plugin recorded only the latest collective of each dump.
    SampledDump,
    /// Written bandwidths disagree with size and time.
    BandwidthMismatch,
    /// The records aren't timed by the GPU.
    CpuTiming,
    /// Too few records to say anything.
    TooLittleData,
    /// A limit that the user set is exceeded.
    RuleBroken,
    /// A limit that the user set has nothing to look at.
    RuleUnmatched,
}

impl FindingKind {
    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LateRank => "late_rank",
            Self::IntermittentLateRank => "intermittent_late_rank",
            Self::LateHost => "late_host",
            Self::SlowLink => "slow_link",
            Self::StageImbalance => "stage_imbalance",
            Self::TcpRetransmits => "tcp_retransmits",
            Self::LostRecords => "lost_records",
            Self::MissingRanks => "missing_ranks",
            Self::UnreadableInput => "unreadable_input",
            Self::ClockSkew => "clock_skew",
            Self::MixedJobs => "mixed_jobs",
            Self::SampledDump => "sampled_dump",
            Self::BandwidthMismatch => "bandwidth_mismatch",
            Self::CpuTiming => "cpu_timing",
            Self::TooLittleData => "too_little_data",
            Self::RuleBroken => "rule_broken",
            Self::RuleUnmatched => "rule_unmatched",
        }
    }

    /// Whether it speaks of the job's speed, and not of the data's quality.
    #[must_use]
    pub const fn is_performance(self) -> bool {
        matches!(
            self,
            Self::LateRank
                | Self::IntermittentLateRank
                | Self::LateHost
                | Self::SlowLink
                | Self::StageImbalance
                | Self::TcpRetransmits
        )
    }
}

/// How much it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know; nobody is accused.
    Info,
    /// Costs the job time, or hides what does.
    Warning,
    /// Costs the job a large part of its communication time.
    Critical,
}

impl Severity {
    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// Which links a [`FindingKind::SlowLink`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Inside one node.
    Nvlink,
    /// One rank's network card.
    Nic,
    /// Every network transfer of a host.
    Host,
    /// Every network transfer.
    Fabric,
}

impl Scope {
    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nvlink => "nvlink",
            Self::Nic => "nic",
            Self::Host => "host",
            Self::Fabric => "fabric",
        }
    }
}

/// Who a finding names: a rank, or (with `pid` and ranks absent) a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Subject {
    /// Host name.
    pub host: String,
    /// Process id.
    pub pid: Option<i64>,
    /// Place among the ranks of its host.
    pub local_rank: Option<u32>,
    /// Rank in the communicator that holds every process.
    pub global_rank: Option<u32>,
}

/// A stretch of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// Where it begins.
    #[serde(rename = "start_us")]
    pub start: Timestamp,
    /// Where it ends.
    #[serde(rename = "end_us")]
    pub end: Timestamp,
}

/// What a cause costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Impact {
    /// Kernel time lost, summed over the ranks that lost it.
    #[serde(rename = "time_lost_us")]
    pub time_lost: ExecTime,
    /// The same as a share of all communication time, 0..1.
    pub share_of_collective_time: f64,
}

/// One cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The same in every run on the same data, e.g. `late_rank:gpu-002/4711/5`.
    pub id: String,
    /// Its kind.
    pub kind: FindingKind,
    /// How much it matters.
    pub severity: Severity,
    /// How sure it is, 0..1.
    pub confidence: f64,
    /// One sentence that a person understands, with the numbers.
    pub summary: String,
    /// What to do next.
    pub advice: String,
    /// Who it names.
    pub subjects: Vec<Subject>,
    /// It is one of the subjects, and the data can't say which.
    pub candidates_only: bool,
    /// Which links, for a slow link.
    pub scope: Option<Scope>,
    /// Ids of the communicators in which it shows.
    pub communicators: Vec<String>,
    /// When; `None` for the whole run.
    pub window: Option<Window>,
    /// What it costs.
    pub impact: Impact,
    /// The numbers behind it, by name.
    pub evidence: serde_json::Map<String, serde_json::Value>,
}
