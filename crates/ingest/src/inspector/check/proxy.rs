//! `proxy_trace`.

use super::number::{amount, signed, stamp, unsigned};
use super::rejection::Rejection;
use crate::inspector::parse::{RawProxy, RawProxyTimes, RawStep, Slot, Text};
use crate::inspector::record::{Proxy, ProxyStep};

const RECORD_TYPE: &str = "proxy_trace.record_type";

/// Judges a proxy record. Only its type is needed: an endpoint that wasn't observed has no key.
pub(in crate::inspector) fn proxy(raw: RawProxy<'_>) -> Result<Proxy<'_>, Rejection> {
    let record_type = match raw.record_type {
        Text::Value(name) if !name.is_empty() => name,
        Text::Value(_) | Text::Absent => return Err(Rejection::missing(RECORD_TYPE)),
        Text::Wrong => return Err(Rejection::wrong_type(RECORD_TYPE, "text")),
    };
    let times = match raw.times {
        Slot::Object(times) => times,
        Slot::Absent | Slot::Wrong => RawProxyTimes::default(),
    };
    let mut record = Proxy {
        record_type,
        record_sn: signed(raw.record_sn),
        parent_type: raw.parent_type.told(),
        parent_sn: signed(raw.parent_sn),
        proxy_op_sn: signed(raw.proxy_op_sn),
        channel_id: signed(raw.channel_id).and_then(|id| i32::try_from(id).ok()),
        peer: signed(raw.peer),
        direction: raw.direction.told(),
        timing_source: raw.timing_source.told(),
        rank: unsigned(raw.rank).and_then(|rank| u32::try_from(rank).ok()),
        is_final: raw.is_final.0,
        n_steps: signed(raw.n_steps),
        n_steps_started: signed(raw.n_steps_started),
        n_steps_completed: signed(raw.n_steps_completed),
        n_steps_dropped: signed(raw.n_steps_dropped),
        chunk_size_bytes: unsigned(raw.chunk_size_bytes),
        op_bw_gbs: amount(raw.op_bw_gbs),
        op_start_ts_us: stamp(times.op_start),
        op_in_progress_ts_us: stamp(times.op_in_progress),
        op_stop_ts_us: stamp(times.op_stop),
        ..Proxy::default()
    };
    if record.record_type == "proxy_step" {
        // Flat mode: the line is the step, and its bytes and time are the step's.
        record.steps = vec![step(&RawStep {
            proxy_step_sn: raw.proxy_step_sn,
            step: raw.step,
            trans_size_bytes: raw.trans_size_bytes,
            total_us: raw.total_us,
            gpu_produce_us: raw.gpu_produce_us,
            peer_credit_us: raw.peer_credit_us,
            wire_us: raw.wire_us,
            flush_us: raw.flush_us,
            gpu_consume_us: raw.gpu_consume_us,
            times: Slot::Object(times),
        })];
    } else {
        record.trans_size_bytes = unsigned(raw.trans_size_bytes);
        record.total_us = amount(raw.total_us);
        record.steps = raw.steps.0.iter().map(step).collect();
    }
    Ok(record)
}

fn step(raw: &RawStep) -> ProxyStep {
    let none = RawProxyTimes::default();
    let times = match &raw.times {
        Slot::Object(times) => times,
        Slot::Absent | Slot::Wrong => &none,
    };
    ProxyStep {
        proxy_step_sn: signed(raw.proxy_step_sn),
        step: signed(raw.step),
        trans_size_bytes: unsigned(raw.trans_size_bytes),
        total_us: amount(raw.total_us),
        gpu_produce_us: amount(raw.gpu_produce_us),
        peer_credit_us: amount(raw.peer_credit_us),
        wire_us: amount(raw.wire_us),
        flush_us: amount(raw.flush_us),
        gpu_consume_us: amount(raw.gpu_consume_us),
        start_ts_us: stamp(times.step_start),
        send_gpu_wait_ts_us: stamp(times.send_gpu_wait),
        send_peer_wait_ts_us: stamp(times.send_peer_wait),
        send_wait_ts_us: stamp(times.send_wait),
        recv_wait_ts_us: stamp(times.recv_wait),
        recv_flush_wait_ts_us: stamp(times.recv_flush_wait),
        recv_gpu_wait_ts_us: stamp(times.recv_gpu_wait),
        stop_ts_us: stamp(times.step_stop),
    }
}
