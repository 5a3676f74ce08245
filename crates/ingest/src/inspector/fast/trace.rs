//! The event traces of a verbose operation in the plugin's own order and spelling.

use super::scan::Scan;
use crate::inspector::parse::{List, RawKernelEvent, RawOperation, RawTrace, Slot};

/// A channel takes about as many bytes in both lists together.
const CHANNEL_BYTES: usize = 190;

/// What the keys of one list are called.
struct Keys {
    begin: &'static [u8],
    start: &'static [u8],
    stop: &'static [u8],
    event_start: &'static [u8],
    event_stop: &'static [u8],
    event_record: &'static [u8],
}

const NUMBERS: Keys = Keys {
    begin: b",\"event_trace_sn\":{",
    start: b"_start_sn\":",
    stop: b"_stop_sn\":",
    event_start: b",\"kernel_start_sn\":",
    event_stop: b",\"kernel_stop_sn\":",
    event_record: b",\"kernel_record_sn\":",
};

const STAMPS: Keys = Keys {
    begin: b",\"event_trace_ts\":{",
    start: b"_start_ts\":",
    stop: b"_stop_ts\":",
    event_start: b",\"kernel_start_ts\":",
    event_stop: b",\"kernel_stop_ts\":",
    event_record: b",\"kernel_record_ts\":",
};

/// Reads both traces and the end of the line; whether they have the usual shape.
pub(super) fn traces<const P2P: bool>(mut scan: Scan<'_>, raw: &mut RawOperation<'_, P2P>) -> bool {
    let channels = scan.0.len() / CHANNEL_BYTES + 1;
    let Some(numbers) = trace::<P2P>(&mut scan, &NUMBERS, channels) else {
        return false;
    };
    let Some(stamps) = trace::<P2P>(&mut scan, &STAMPS, channels) else {
        return false;
    };
    raw.trace_sn = Slot::Object(Box::new(numbers));
    raw.trace_ts = Slot::Object(Box::new(stamps));
    scan.0 == b"}}"
}

fn trace<const P2P: bool>(scan: &mut Scan<'_>, keys: &Keys, channels: usize) -> Option<RawTrace> {
    let kind: &[u8] = if P2P { b"\"p2p" } else { b"\"coll" };
    let mut trace = RawTrace::default();
    scan.literal(keys.begin)?;
    scan.literal(kind)?;
    scan.literal(keys.start)?;
    trace.start = scan.whole()?;
    scan.literal(b",")?;
    scan.literal(kind)?;
    scan.literal(keys.stop)?;
    trace.stop = scan.whole()?;
    scan.literal(b",\"kernel_events\":[")?;
    let mut events = Vec::new();
    if !scan.optional(b"]") {
        events.reserve(channels);
        loop {
            events.push(event(scan, keys)?);
            if !scan.optional(b",") {
                break;
            }
        }
        scan.literal(b"]")?;
    }
    scan.literal(b"}")?;
    trace.kernel_events = List(events);
    Some(trace)
}

fn event(scan: &mut Scan<'_>, keys: &Keys) -> Option<RawKernelEvent> {
    let mut event = RawKernelEvent::default();
    scan.literal(b"{\"channel_id\":")?;
    event.channel_id = scan.whole()?;
    scan.literal(keys.event_start)?;
    event.start = scan.whole()?;
    scan.literal(keys.event_stop)?;
    event.stop = scan.whole()?;
    scan.literal(keys.event_record)?;
    event.record = scan.whole()?;
    scan.literal(b"}")?;
    Some(event)
}
