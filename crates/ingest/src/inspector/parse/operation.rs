//! `coll_perf` and `p2p_perf`.

use serde::de::MapAccess;

use super::object::{List, Object, Slot, object};
use super::value::{Flag, Number, Text};
use crate::inspector::record::Trace;

object! {
    /// One entry of `kernel_events`, in `event_trace_ts` or `event_trace_sn`.
    RawKernelEvent {
        channel_id: Number = "channel_id",
        start: Number = "kernel_start_ts" | "kernel_start_sn",
        stop: Number = "kernel_stop_ts" | "kernel_stop_sn",
        record: Number = "kernel_record_ts" | "kernel_record_sn",
    }
}

object! {
    /// `event_trace_ts` or `event_trace_sn` of a collective or of a Send/Recv.
    RawTrace {
        start: Number = "coll_start_ts" | "p2p_start_ts" | "coll_start_sn" | "p2p_start_sn",
        stop: Number = "coll_stop_ts" | "p2p_stop_ts" | "coll_stop_sn" | "p2p_stop_sn",
        kernel_events: List<RawKernelEvent> = "kernel_events",
    }
}

/// What the keys of a collective (`P2P` is false) or of a Send/Recv hold.
#[derive(Debug, Clone, Default)]
pub(in crate::inspector) struct RawOperation<'a, const P2P: bool> {
    pub(in crate::inspector) function: Text<'a>,
    pub(in crate::inspector) sequence_number: Number,
    pub(in crate::inspector) peer: Number,
    pub(in crate::inspector) size_bytes: Number,
    pub(in crate::inspector) exec_time_us: Number,
    pub(in crate::inspector) timing_source: Text<'a>,
    pub(in crate::inspector) algobw_gbs: Number,
    pub(in crate::inspector) busbw_gbs: Number,
    pub(in crate::inspector) algo: Text<'a>,
    pub(in crate::inspector) proto: Text<'a>,
    pub(in crate::inspector) graph_captured: Flag,
    pub(in crate::inspector) trace_ts: Slot<Box<RawTrace>>,
    pub(in crate::inspector) trace_sn: Slot<Box<RawTrace>>,
    /// Both traces, where they were read as one.
    pub(in crate::inspector) trace: Option<Box<Trace>>,
}

impl<'de, const P2P: bool> Object<'de> for RawOperation<'de, P2P> {
    #[inline]
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        if let Some(rest) = key.strip_prefix(if P2P { "p2p" } else { "coll" }) {
            match rest {
                "" => self.function = map.next_value()?,
                "_sn" => self.sequence_number = map.next_value()?,
                "_peer" => self.peer = map.next_value()?,
                "_msg_size_bytes" => self.size_bytes = map.next_value()?,
                "_exec_time_us" => self.exec_time_us = map.next_value()?,
                "_timing_source" => self.timing_source = map.next_value()?,
                "_algobw_gbs" => self.algobw_gbs = map.next_value()?,
                "_busbw_gbs" => self.busbw_gbs = map.next_value()?,
                "_algo" => self.algo = map.next_value()?,
                "_proto" => self.proto = map.next_value()?,
                _ => return Ok(false),
            }
        } else {
            match key {
                "event_trace_ts" => self.trace_ts = map.next_value()?,
                "event_trace_sn" => self.trace_sn = map.next_value()?,
                "graphCaptured" | "graph_captured" => self.graph_captured = map.next_value()?,
                _ => return Ok(false),
            }
        }
        Ok(true)
    }
}

impl<'de, T: Object<'de>> Object<'de> for Box<T> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        (**self).field(key, map)
    }
}
