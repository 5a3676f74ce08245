//! What one line of a dump says, borrowed from the line where it can be.

use std::borrow::Cow;

/// A record with the context it belongs to. Equal are records that say the same, however they were read.
#[derive(Debug, Clone)]
pub struct Record<'a> {
    /// Which communicator, which process, when written.
    pub context: Cow<'a, Context<'a>>,
    /// Contexts that one reading of a file gives the same number differ in nothing but the stamp; `None` says nothing.
    pub context_number: Option<u32>,
    /// What was recorded.
    pub body: Body<'a>,
}

impl PartialEq for Record<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.context == other.context && self.body == other.body
    }
}

/// `header` and `metadata` of a record, or of the marker that it belongs to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context<'a> {
    /// `header.id`.
    pub id: Cow<'a, str>,
    /// `header.comm_name`, "unknown" where the application gave none; `None` in writers that have no names.
    pub comm_name: Option<Cow<'a, str>>,
    /// Rank in the communicator.
    pub rank: u32,
    /// Size of the communicator.
    pub n_ranks: u32,
    /// Nodes that the communicator spans.
    pub nnodes: u32,
    /// `metadata.inspector_output_format_version`.
    pub format_version: Option<Cow<'a, str>>,
    /// `metadata.git_rev`; `None` where absent or empty.
    pub git_rev: Option<Cow<'a, str>>,
    /// `metadata.rec_mechanism`.
    pub rec_mechanism: Option<Cow<'a, str>>,
    /// `metadata.dump_timestamp_us`: when the line was written, by that host's clock.
    pub dump_timestamp_us: i64,
    /// `metadata.hostname`.
    pub hostname: Cow<'a, str>,
    /// `metadata.pid`.
    pub pid: i64,
    /// `metadata.gpu_uuid` (variants).
    pub gpu_uuid: Option<Cow<'a, str>>,
    /// `metadata.extra_tags` or `user_tag` (variants), as compact JSON or text.
    pub tags: Option<Cow<'a, str>>,
}

/// The payload of a line.
#[derive(Debug, Clone, PartialEq)]
pub enum Body<'a> {
    /// `coll_perf`, or `p2p_perf`.
    Operation(Operation<'a>),
    /// `dump_stats`.
    DumpStats(DumpStats<'a>),
    /// `proxy_trace`.
    Proxy(Box<Proxy<'a>>),
    /// A kind that nobody has heard of: counted by its key, no table.
    Other(Cow<'a, str>),
}

/// Whether an operation is a collective or a Send/Recv.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// `coll_perf`.
    Collective,
    /// `p2p_perf`.
    PointToPoint,
}

/// A collective, or a Send or Recv, on one rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation<'a> {
    /// Collective or point to point.
    pub kind: OperationKind,
    /// `coll` or `p2p`: `AllReduce`, `Send`, … or a name nobody has heard of.
    pub function: Cow<'a, str>,
    /// `coll_sn` (from 0, per communicator and function) or `p2p_sn` (from 1, local).
    pub sequence_number: i64,
    /// `p2p_peer`, rank in the communicator; `None` for collectives.
    pub peer: Option<i64>,
    /// `…_msg_size_bytes`.
    pub size_bytes: u64,
    /// `…_exec_time_us`, whole microseconds.
    pub exec_time_us: u64,
    /// What a float time has after the point, 0 ≤ x < 1; 0 for the usual whole numbers.
    pub exec_time_fraction_us: f64,
    /// `…_timing_source`; `None` in old writers.
    pub timing_source: Option<Cow<'a, str>>,
    /// `…_algobw_gbs` as written, computed where it can't be read.
    pub algobw_gbs: f64,
    /// `…_busbw_gbs` as written, computed where it can't be read.
    pub busbw_gbs: f64,
    /// `coll_algo`; `None` where absent or "unknown".
    pub algo: Option<Cow<'a, str>>,
    /// `coll_proto`; `None` where absent or "unknown".
    pub proto: Option<Cow<'a, str>>,
    /// `graphCaptured` (variants).
    pub graph_captured: Option<bool>,
    /// Verbose: enqueue and per-channel times; empty otherwise.
    pub trace: Option<Box<Trace>>,
}

/// `event_trace_sn` and `event_trace_ts` of a verbose record. Zero stamps ("not observed") are `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// `coll_start_ts` or `p2p_start_ts`: enqueue begins.
    pub start_ts_us: Option<i64>,
    /// `coll_stop_ts` or `p2p_stop_ts`: enqueue ends.
    pub stop_ts_us: Option<i64>,
    /// Order of the start callback.
    pub start_sn: Option<i64>,
    /// Order of the stop callback.
    pub stop_sn: Option<i64>,
    /// A row per channel.
    pub channels: Vec<ChannelTrace>,
}

/// One channel of a [`Trace`]: when a CPU thread noticed the kernel's start and stop, host clock, µs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChannelTrace {
    /// `channel_id`.
    pub channel_id: i32,
    /// `kernel_start_ts`.
    pub kernel_start_ts_us: Option<i64>,
    /// `kernel_stop_ts`.
    pub kernel_stop_ts_us: Option<i64>,
    /// `kernel_record_ts`.
    pub kernel_record_ts_us: Option<i64>,
    /// `kernel_start_sn`.
    pub kernel_start_sn: Option<i64>,
    /// `kernel_stop_sn`.
    pub kernel_stop_sn: Option<i64>,
    /// `kernel_record_sn`.
    pub kernel_record_sn: Option<i64>,
}

/// A `dump_stats` line: how many records follow, how many were dropped. Every number by the key it was written under.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DumpStats<'a> {
    /// `coll_records`.
    pub coll_records: Option<u64>,
    /// `coll_dropped_total`, cumulative per communicator and rank.
    pub coll_dropped_total: Option<u64>,
    /// `coll_dropped_since_last_dump`.
    pub coll_dropped_since_last_dump: Option<u64>,
    /// `p2p_records`.
    pub p2p_records: Option<u64>,
    /// `p2p_dropped_total`.
    pub p2p_dropped_total: Option<u64>,
    /// `p2p_dropped_since_last_dump`.
    pub p2p_dropped_since_last_dump: Option<u64>,
    /// `proxy_records`: top-level lines; absent means 0.
    pub proxy_records: Option<u64>,
    /// `proxy_dropped_total`.
    pub proxy_dropped_total: Option<u64>,
    /// `proxy_dropped_since_last_dump`.
    pub proxy_dropped_since_last_dump: Option<u64>,
    /// `proxy_steps_overwritten_total`, a part of `proxy_dropped_total`.
    pub proxy_steps_overwritten_total: Option<u64>,
    /// `proxy_steps_overwritten_since_last_dump`.
    pub proxy_steps_overwritten_since_last_dump: Option<u64>,
    /// `proxy_ops_dropped_total`.
    pub proxy_ops_dropped_total: Option<u64>,
    /// `proxy_ops_dropped_since_last_dump`.
    pub proxy_ops_dropped_since_last_dump: Option<u64>,
    /// `proxy_output_mode`.
    pub proxy_output_mode: Option<Cow<'a, str>>,
    /// `proxy_segment_step_capacity`.
    pub proxy_segment_step_capacity: Option<u64>,
    /// `proxy_steps_enabled`.
    pub proxy_steps_enabled: Option<bool>,
    /// `proxy_pxn_skipped_process_total`: per process; take the maximum.
    pub proxy_pxn_skipped_process_total: Option<u64>,
}

/// A `proxy_trace` line: what the CPU proxy of the network saw.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proxy<'a> {
    /// `record_type`: `proxy_op`, `proxy_op_start`, `proxy_op_segment`, `proxy_step`, …
    pub record_type: Cow<'a, str>,
    /// `record_sn`: order in this communicator; gaps don't mean loss.
    pub record_sn: Option<i64>,
    /// `parent_type`: `coll`, `p2p`, `unknown`.
    pub parent_type: Option<Cow<'a, str>>,
    /// `parent_sn`.
    pub parent_sn: Option<i64>,
    /// `proxy_op_sn`.
    pub proxy_op_sn: Option<i64>,
    /// `channel_id`.
    pub channel_id: Option<i32>,
    /// `peer`.
    pub peer: Option<i64>,
    /// `direction`: `send`, `recv`.
    pub direction: Option<Cow<'a, str>>,
    /// `timing_source`.
    pub timing_source: Option<Cow<'a, str>>,
    /// `rank` where the record has one of its own.
    pub rank: Option<u32>,
    /// `is_final`.
    pub is_final: Option<bool>,
    /// `n_steps`.
    pub n_steps: Option<i64>,
    /// `n_steps_started`.
    pub n_steps_started: Option<i64>,
    /// `n_steps_completed`.
    pub n_steps_completed: Option<i64>,
    /// `n_steps_dropped`.
    pub n_steps_dropped: Option<i64>,
    /// `chunk_size_bytes`.
    pub chunk_size_bytes: Option<u64>,
    /// `trans_size_bytes`.
    pub trans_size_bytes: Option<u64>,
    /// `total_us`.
    pub total_us: Option<f64>,
    /// `op_bw_gbs`: bytes seen ÷ CPU-seen lifetime; no bus bandwidth, not additive.
    pub op_bw_gbs: Option<f64>,
    /// `event_trace_ts.proxy_op_start_ts`.
    pub op_start_ts_us: Option<i64>,
    /// `event_trace_ts.proxy_op_in_progress_ts`.
    pub op_in_progress_ts_us: Option<i64>,
    /// `event_trace_ts.proxy_op_stop_ts`.
    pub op_stop_ts_us: Option<i64>,
    /// Steps: nested in `steps`, or the one that a flat `proxy_step` is.
    pub steps: Vec<ProxyStep>,
}

/// A step of a proxy operation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProxyStep {
    /// `proxy_step_sn`.
    pub proxy_step_sn: Option<i64>,
    /// `step`.
    pub step: Option<i64>,
    /// `trans_size_bytes`.
    pub trans_size_bytes: Option<u64>,
    /// `total_us`.
    pub total_us: Option<f64>,
    /// `gpu_produce_us`: send, waiting for the local GPU.
    pub gpu_produce_us: Option<f64>,
    /// `peer_credit_us`: send, waiting for the receiver's buffer.
    pub peer_credit_us: Option<f64>,
    /// `wire_us`: the network.
    pub wire_us: Option<f64>,
    /// `flush_us`: receive.
    pub flush_us: Option<f64>,
    /// `gpu_consume_us`: receive.
    pub gpu_consume_us: Option<f64>,
    /// `event_trace_ts.proxy_step_start_ts`.
    pub start_ts_us: Option<i64>,
    /// `event_trace_ts.send_gpu_wait_ts`.
    pub send_gpu_wait_ts_us: Option<i64>,
    /// `event_trace_ts.send_peer_wait_ts`.
    pub send_peer_wait_ts_us: Option<i64>,
    /// `event_trace_ts.send_wait_ts`.
    pub send_wait_ts_us: Option<i64>,
    /// `event_trace_ts.recv_wait_ts`.
    pub recv_wait_ts_us: Option<i64>,
    /// `event_trace_ts.recv_flush_wait_ts`.
    pub recv_flush_wait_ts_us: Option<i64>,
    /// `event_trace_ts.recv_gpu_wait_ts`.
    pub recv_gpu_wait_ts_us: Option<i64>,
    /// `event_trace_ts.proxy_step_stop_ts`.
    pub stop_ts_us: Option<i64>,
}
