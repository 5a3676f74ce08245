//! `coll_perf` and `p2p_perf`.

use super::bandwidth::bandwidths;
use super::number::{amount, signed, stamp, whole};
use super::rejection::Rejection;
use crate::inspector::parse::{Number, RawKernelEvent, RawOperation, RawTrace, Slot, Text};
use crate::inspector::record::{ChannelTrace, Operation, OperationKind, Trace};

/// Above 2^50 bytes a size is the negative of a count that a missing type size was multiplied with.
const MAX_SIZE: u64 = 1 << 50;

/// Thirty days in microseconds. A step back of the clock gives times near 2^64.
const MAX_TIME: u64 = 30 * 86_400 * 1_000_000;

/// An operation, and whether its bandwidth had to be computed.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::inspector) struct Checked<'a> {
    pub(in crate::inspector) operation: Operation<'a>,
    pub(in crate::inspector) bandwidth_computed: bool,
}

/// The keys of one kind, for messages.
struct Keys {
    function: &'static str,
    sequence_number: &'static str,
    size: &'static str,
    time: &'static str,
}

const COLLECTIVE: Keys = Keys {
    function: "coll_perf.coll",
    sequence_number: "coll_perf.coll_sn",
    size: "coll_perf.coll_msg_size_bytes",
    time: "coll_perf.coll_exec_time_us",
};

const P2P: Keys = Keys {
    function: "p2p_perf.p2p",
    sequence_number: "p2p_perf.p2p_sn",
    size: "p2p_perf.p2p_msg_size_bytes",
    time: "p2p_perf.p2p_exec_time_us",
};

/// Judges an operation of a communicator of `n_ranks`.
/// Takes the texts and traces out of `raw`.
pub(in crate::inspector) fn operation<'a, const P: bool>(
    raw: &mut RawOperation<'a, P>,
    n_ranks: u32,
) -> Result<Checked<'a>, Rejection> {
    let keys = if P { &P2P } else { &COLLECTIVE };
    let function = match std::mem::take(&mut raw.function) {
        Text::Value(name) if !name.is_empty() => name,
        Text::Value(_) | Text::Absent => return Err(Rejection::missing(keys.function)),
        Text::Wrong => return Err(Rejection::wrong_type(keys.function, "text")),
    };
    let sequence_number = whole(
        keys.sequence_number,
        raw.sequence_number,
        i64::MAX as u64,
        "beyond 63 bits",
    )?;
    let peer = if P {
        Some(peer(raw.peer, n_ranks)?)
    } else {
        None
    };
    let size_bytes = whole(
        keys.size,
        raw.size_bytes,
        MAX_SIZE,
        "more than 2^50 bytes; 8-bit types come out so in affected versions",
    )?;
    let (exec_time_us, exec_time_fraction_us) = time(keys.time, raw.exec_time_us)?;

    let written = (amount(raw.algobw_gbs), amount(raw.busbw_gbs));
    let bandwidth_computed = written.0.is_none() || written.1.is_none();
    let (algobw_gbs, busbw_gbs) = match written {
        (Some(algorithm), Some(bus)) => (algorithm, bus),
        (algorithm, bus) => {
            let micros = exec_time_us as f64 + exec_time_fraction_us;
            let computed = bandwidths(&function, n_ranks, size_bytes, micros);
            (algorithm.unwrap_or(computed.0), bus.unwrap_or(computed.1))
        }
    };
    Ok(Checked {
        operation: Operation {
            kind: if P {
                OperationKind::PointToPoint
            } else {
                OperationKind::Collective
            },
            function,
            sequence_number: sequence_number as i64,
            peer,
            size_bytes,
            exec_time_us,
            exec_time_fraction_us,
            timing_source: std::mem::take(&mut raw.timing_source).known(),
            algobw_gbs,
            busbw_gbs,
            algo: std::mem::take(&mut raw.algo).known(),
            proto: std::mem::take(&mut raw.proto).known(),
            graph_captured: raw.graph_captured.0,
            trace: raw.trace.take().or_else(|| {
                let (ts, sn) = (&mut raw.trace_ts, &mut raw.trace_sn);
                trace(std::mem::take(ts), std::mem::take(sn))
            }),
        },
        bandwidth_computed,
    })
}

fn peer(number: Number, n_ranks: u32) -> Result<i64, Rejection> {
    const KEY: &str = "p2p_perf.p2p_peer";
    let peer = whole(KEY, number, i64::MAX as u64, "beyond 63 bits")?;
    if peer >= u64::from(n_ranks) {
        return Err(Rejection::contradiction(
            KEY,
            peer,
            "header.n_ranks",
            u64::from(n_ranks),
        ));
    }
    Ok(peer as i64)
}

/// Whole microseconds, and what a float has after the point.
fn time(key: &'static str, number: Number) -> Result<(u64, f64), Rejection> {
    const ABOVE: &str = "more than 30 days";
    let (whole_us, fraction) = match number {
        Number::Float(value) if value.is_finite() && (0.0..=MAX_TIME as f64).contains(&value) => {
            (value as u64, value.fract())
        }
        _ => (whole(key, number, MAX_TIME, ABOVE)?, 0.0),
    };
    if whole_us == 0 {
        return Err(Rejection::implausible(
            key,
            number,
            "no kernel takes less than a microsecond",
        ));
    }
    Ok((whole_us, fraction))
}

/// Joins time stamps and sequence numbers, which the line has in two lists.
fn trace(ts: Slot<Box<RawTrace>>, sn: Slot<Box<RawTrace>>) -> Option<Box<Trace>> {
    let (ts, sn) = match (ts, sn) {
        (Slot::Object(ts), Slot::Object(sn)) => (*ts, *sn),
        (Slot::Object(ts), _) => (*ts, RawTrace::default()),
        (_, Slot::Object(sn)) => (RawTrace::default(), *sn),
        _ => return None,
    };
    let mut channels: Vec<ChannelTrace> =
        Vec::with_capacity(ts.kernel_events.0.len().max(sn.kernel_events.0.len()));
    for (index, event) in ts.kernel_events.0.iter().enumerate() {
        channels.push(ChannelTrace {
            channel_id: channel_id(event, index),
            kernel_start_ts_us: stamp(event.start),
            kernel_stop_ts_us: stamp(event.stop),
            kernel_record_ts_us: stamp(event.record),
            ..ChannelTrace::default()
        });
    }
    let with_stamps = channels.len();
    for (index, event) in sn.kernel_events.0.iter().enumerate() {
        let id = channel_id(event, index);
        // Both lists come in the same order; where they don't, the id decides.
        let place = match channels.get(index) {
            Some(channel) if channel.channel_id == id => Some(index),
            _ => channels[..with_stamps]
                .iter()
                .position(|channel| channel.channel_id == id),
        };
        let place = place.unwrap_or_else(|| {
            channels.push(ChannelTrace {
                channel_id: id,
                ..ChannelTrace::default()
            });
            channels.len() - 1
        });
        let channel = &mut channels[place];
        channel.kernel_start_sn = stamp(event.start);
        channel.kernel_stop_sn = stamp(event.stop);
        channel.kernel_record_sn = stamp(event.record);
    }
    Some(Box::new(Trace {
        start_ts_us: stamp(ts.start),
        stop_ts_us: stamp(ts.stop),
        start_sn: stamp(sn.start),
        stop_sn: stamp(sn.stop),
        channels,
    }))
}

/// The channel's number, its place in the list where it isn't told.
fn channel_id(event: &RawKernelEvent, index: usize) -> i32 {
    signed(event.channel_id)
        .and_then(|id| i32::try_from(id).ok())
        .or_else(|| i32::try_from(index).ok())
        .unwrap_or(i32::MAX)
}
