//! What eBPF traces of the hosts say.

use nccl_report_ingest::units::{ExecTime, Timestamp};
use serde::{Deserialize, Serialize};

/// Everything from the databases of eBPF agents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Traces {
    /// The databases, by path.
    pub files: Vec<TraceFile>,
    /// The hosts that they are of, by name.
    pub hosts: Vec<TraceHost>,
    /// Slow collectives and the retransmits in their window.
    pub slow: SlowCalls,
    /// What was looked at as the cause of each late rank or host, and whether it is one.
    pub causes: Vec<HostCause>,
    /// Retransmits of each host over time; `None` without any.
    pub over_time: Option<RetransmitsOverTime>,
    /// Slow collectives with what happened on the host at that time.
    pub timelines: Vec<HostTimeline>,
    /// What can't be said, and why: sentences.
    pub notes: Vec<String>,
}

/// A database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFile {
    /// As in the account of the input.
    pub path: String,
    /// The hosts that its rows belong to, by name.
    pub hosts: Vec<String>,
    /// How that is known.
    pub known_by: KnownBy,
    /// Earliest and latest stamp, by the clock of its host.
    pub span: Option<(Timestamp, Timestamp)>,
    /// Rows.
    pub rows: u64,
}

/// How it is known which host a database is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownBy {
    /// The user said so.
    Option,
    /// Its rows name it.
    Rows,
    /// The name of the file, or of a folder above it.
    Name,
    /// It isn't known which host of the dumps it is of.
    Unknown,
}

impl KnownBy {
    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Option => "option",
            Self::Rows => "rows",
            Self::Name => "name",
            Self::Unknown => "unknown",
        }
    }
}

/// A host that traces are of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceHost {
    /// Its name, as in the dumps where they have it.
    pub host: String,
    /// Whether dumps of it are there too.
    pub in_dumps: bool,
    /// Events that its agents kept.
    pub events: u64,
    /// Events that its agents counted in all; `None` where they don't say.
    pub events_counted: Option<u64>,
    /// Calls into NCCL.
    pub calls: u64,
    /// TCP retransmits.
    pub retransmits: u64,
    /// How much the clock of the traces is ahead of that of the dumps; `None` where nothing tells.
    pub clock_ahead: Option<ExecTime>,
}

/// What counts as slow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlowLimit {
    /// Longer than this many milliseconds.
    Milliseconds(f64),
    /// Longer than so many times the median of its kind: operation, communicator, count.
    TimesMedian(f64),
}

impl Default for SlowLimit {
    /// 50 ms: a TCP retransmission time-out is 200 ms at first and 40 ms at the least on a tuned kernel, so a collective that met one
    /// is seldom shorter.
    fn default() -> Self {
        Self::Milliseconds(50.0)
    }
}

/// Slow collectives among the calls into NCCL, and the retransmits in their window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SlowCalls {
    /// What counted as slow.
    pub limit: SlowLimit,
    /// Collective calls.
    pub calls: u64,
    /// Slow ones.
    pub slow: u64,
    /// Rows as SQL's `GROUP BY rank, duration, timestamp` makes them, longest first; of very many the longest.
    pub rows: Vec<SlowCall>,
    /// Rows left out.
    pub omitted: u64,
    /// By host.
    pub by_host: Vec<Coincidence>,
    /// By connection, `source → destination`.
    pub by_connection: Vec<Coincidence>,
    /// By the address of the card that sent.
    pub by_address: Vec<Coincidence>,
    /// Where the windows come from.
    pub windows: WindowSource,
}

/// Where the windows of slow collectives come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// There are none.
    #[default]
    None,
    /// Calls into NCCL, from entry to return.
    Calls,
    /// Kernels of verbose dumps, from start to stop.
    Kernels,
    /// Dumps that only tell when lines were written: a dump interval and more.
    Dumps,
}

impl WindowSource {
    /// The name that the outputs use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Calls => "calls",
            Self::Kernels => "kernels",
            Self::Dumps => "dumps",
        }
    }
}

/// One slow collective on one rank.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowCall {
    /// Host.
    pub host: String,
    /// The database.
    pub source_file: String,
    /// The operation as the trace names it.
    pub op: String,
    /// Rank in its communicator.
    pub rank: Option<i64>,
    /// Entry, nanoseconds since the epoch by its host's clock.
    pub timestamp_ns: Option<i64>,
    /// Entry to return, nanoseconds.
    pub duration_ns: i64,
    /// Retransmits of its host from entry to return.
    pub retransmits_in_window: u64,
}

/// Retransmits against slow collectives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coincidence {
    /// Host on which they were seen.
    pub host: String,
    /// The connection or the address; empty for a host.
    pub what: String,
    /// Retransmits.
    pub retransmits: u64,
    /// Retransmits inside slow collectives.
    pub inside: u64,
    /// Slow collectives with at least one of them.
    pub slow_calls: u64,
}

/// A thing on the host that was looked at as the cause of a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostCause {
    /// The finding ([`crate::facts::Finding::id`]).
    pub finding: String,
    /// What: `off_cpu`, `block_io`, …
    pub cause: String,
    /// Host.
    pub host: String,
    /// Process; `None` for the host as a whole.
    pub pid: Option<i64>,
    /// Length of the late windows that were looked at.
    pub windows: ExecTime,
    /// Whether the windows are only known to about a dump interval.
    pub coarse: bool,
    /// Time of it inside the windows; for what has no length, `None`.
    pub inside: Option<ExecTime>,
    /// Events inside the windows.
    pub events_inside: u64,
    /// Events in the time that was compared, in all.
    pub events: u64,
    /// Time (or events, where these have no length) per time, inside the windows.
    pub share_inside: f64,
    /// The same outside; `None` where there is no outside.
    pub share_outside: Option<f64>,
    /// The same of the median peer inside the same windows; `None` without peers.
    pub share_of_peers: Option<f64>,
    /// Of the lateness, the part that it explains, 0..1; `None` for what has no length.
    pub explains: Option<f64>,
    /// Chance of so much inside the windows if it fell anywhere.
    pub chance: Option<f64>,
    /// Whether it is named as the cause.
    pub named: bool,
}

/// Retransmits over time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RetransmitsOverTime {
    /// Edges of the stretches, one more than there are stretches.
    pub edges: Vec<Timestamp>,
    /// Hosts, by name.
    pub hosts: Vec<String>,
    /// Retransmits, host by host, stretch by stretch.
    pub counts: Vec<u64>,
    /// Slow collectives, stretch by stretch.
    pub slow: Vec<u64>,
}

/// A slow collective, and what happened on the host under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostTimeline {
    /// The finding that it illustrates; empty where it illustrates none.
    pub finding: String,
    /// What it shows, in a sentence.
    pub title: String,
    /// Host.
    pub host: String,
    /// Whether its window is only known to about a dump interval.
    pub coarse: bool,
    /// Time zero of everything below, by the host's clock.
    pub origin: Timestamp,
    /// How long the picture is.
    pub length: ExecTime,
    /// Lanes from top to bottom.
    pub lanes: Vec<Lane>,
}

/// A lane of a [`HostTimeline`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// What it is: "AllReduce", "off the CPU", "retransmits".
    pub name: String,
    /// What kind of thing: `collective`, `late`, or a cause's name.
    pub kind: String,
    /// Bars: start after the origin, and length (0: a tick).
    pub bars: Vec<(ExecTime, ExecTime)>,
    /// Bars left out.
    pub omitted: u64,
}
