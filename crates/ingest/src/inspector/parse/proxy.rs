//! `proxy_trace`, flat and nested.

use super::object::{List, Slot, object};
use super::value::{Flag, Number, Text};

object! {
    /// `event_trace_ts` of a proxy operation or of a step: an unobserved moment has no key.
    RawProxyTimes {
        op_start: Number = "proxy_op_start_ts",
        op_in_progress: Number = "proxy_op_in_progress_ts",
        op_stop: Number = "proxy_op_stop_ts",
        step_start: Number = "proxy_step_start_ts",
        send_gpu_wait: Number = "send_gpu_wait_ts",
        send_peer_wait: Number = "send_peer_wait_ts",
        send_wait: Number = "send_wait_ts",
        recv_wait: Number = "recv_wait_ts",
        recv_flush_wait: Number = "recv_flush_wait_ts",
        recv_gpu_wait: Number = "recv_gpu_wait_ts",
        step_stop: Number = "proxy_step_stop_ts",
    }
}

object! {
    /// A step inside `steps`.
    RawStep {
        proxy_step_sn: Number = "proxy_step_sn",
        step: Number = "step",
        trans_size_bytes: Number = "trans_size_bytes",
        total_us: Number = "total_us",
        gpu_produce_us: Number = "gpu_produce_us",
        peer_credit_us: Number = "peer_credit_us",
        wire_us: Number = "wire_us",
        flush_us: Number = "flush_us",
        gpu_consume_us: Number = "gpu_consume_us",
        times: Slot<RawProxyTimes> = "event_trace_ts",
    }
}

object! {
    /// What the keys of a `proxy_trace` hold; a flat `proxy_step` has the keys of a step here.
    RawProxy<'a> {
        record_type: Text<'a> = "record_type",
        record_sn: Number = "record_sn",
        parent_type: Text<'a> = "parent_type",
        parent_sn: Number = "parent_sn",
        proxy_op_sn: Number = "proxy_op_sn",
        channel_id: Number = "channel_id",
        peer: Number = "peer",
        direction: Text<'a> = "direction",
        timing_source: Text<'a> = "timing_source",
        rank: Number = "rank",
        is_final: Flag = "is_final",
        n_steps: Number = "n_steps",
        n_steps_started: Number = "n_steps_started",
        n_steps_completed: Number = "n_steps_completed",
        n_steps_dropped: Number = "n_steps_dropped",
        chunk_size_bytes: Number = "chunk_size_bytes",
        op_bw_gbs: Number = "op_bw_gbs",
        trans_size_bytes: Number = "trans_size_bytes",
        total_us: Number = "total_us",
        proxy_step_sn: Number = "proxy_step_sn",
        step: Number = "step",
        gpu_produce_us: Number = "gpu_produce_us",
        peer_credit_us: Number = "peer_credit_us",
        wire_us: Number = "wire_us",
        flush_us: Number = "flush_us",
        gpu_consume_us: Number = "gpu_consume_us",
        times: Slot<RawProxyTimes> = "event_trace_ts",
        steps: List<RawStep> = "steps",
    }
}
