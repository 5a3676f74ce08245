//! Which tables there are.

use serde::{Deserialize, Serialize};

/// A table of the dataset: a folder of Parquet files of one schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Table {
    /// A row per collective record.
    Collectives,
    /// A row per Send/Recv record.
    P2p,
    /// A row per channel of a verbose record.
    Channels,
    /// A row per proxy record or step.
    Proxy,
    /// A row per `dump_stats` marker.
    DumpStats,
    /// A row per event that an eBPF agent kept.
    HostEvents,
    /// A row per minute, operation and process of events that an agent counted.
    HostEventAggregates,
    /// A row per call into NCCL that an agent saw.
    NcclCalls,
    /// A row per TCP retransmit that an agent saw.
    TcpRetransmits,
    /// A row per other TCP event.
    TcpOtherEvents,
    /// A row per run of an agent.
    Sessions,
    /// A row per process that an agent knows by name.
    ProcessNames,
    /// A row per look at a host's load and memory.
    SystemSnapshots,
    /// A row per cgroup.
    Cgroups,
    /// A row per cgroup and stretch of time: how long it was off the CPU.
    CgroupOffCpu,
    /// A row per verdict of an agent's own.
    CausalChains,
    /// A row per call stack.
    StackTraces,
}

impl Table {
    /// Every table.
    pub const ALL: [Self; 17] = [
        Self::Collectives,
        Self::P2p,
        Self::Channels,
        Self::Proxy,
        Self::DumpStats,
        Self::HostEvents,
        Self::HostEventAggregates,
        Self::NcclCalls,
        Self::TcpRetransmits,
        Self::TcpOtherEvents,
        Self::Sessions,
        Self::ProcessNames,
        Self::SystemSnapshots,
        Self::Cgroups,
        Self::CgroupOffCpu,
        Self::CausalChains,
        Self::StackTraces,
    ];

    /// The folder under `parquet/`.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Collectives => "collectives",
            Self::P2p => "p2p",
            Self::Channels => "channels",
            Self::Proxy => "proxy",
            Self::DumpStats => "dump_stats",
            Self::HostEvents => "host_events",
            Self::HostEventAggregates => "host_event_aggregates",
            Self::NcclCalls => "nccl_calls",
            Self::TcpRetransmits => "tcp_retransmits",
            Self::TcpOtherEvents => "tcp_other_events",
            Self::Sessions => "sessions",
            Self::ProcessNames => "process_names",
            Self::SystemSnapshots => "system_snapshots",
            Self::Cgroups => "cgroups",
            Self::CgroupOffCpu => "cgroup_off_cpu",
            Self::CausalChains => "causal_chains",
            Self::StackTraces => "stack_traces",
        }
    }
}
